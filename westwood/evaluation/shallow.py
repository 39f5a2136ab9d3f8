# SPDX-License-Identifier: BSD-3-Clause
"""Declares ten criteria of short queues: 2 to 25 % of a path of 100 Mb/s and 40 ms.

Switches have such queues, and most losses there say nothing about the link's share. A window that
does not follow its losses harms others first where the queue is short.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.basics import SAFE, alone, path, with_victim
from westwood.evaluation.benchmark.targets import fairness
from westwood.evaluation.criterion import Compare, Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE
from westwood.results.columns import Row
from westwood.scenario.paths.environment import Environment
from westwood.search import bounds

QUEUES_BDP = (0.02, 0.05, 0.1, 0.25)
_SECONDS = 30
_SOURCE = "RFC 9743, 5.1.2, 5.2.1 and 6.1, where queues are short"
_FILLS = Threshold(bounds.ALONE_TENTH, "the benchmark's row alone-tenth")
_RESENT = Threshold(bounds.RESENT, "the benchmark's row resent-tenth", at_most=True)


def _points(runs: Callable[[Environment], Making], **more: Any) -> Sequence[Point]:
    """Returns a point for each queue; `more` are properties of the path."""
    return [
        Point(f"{queue:g} BDP", runs(path(100, 40, queue, _SECONDS, **more)), queue == 0.05)
        for queue in QUEUES_BDP
    ]


def _beside(victim: str, **more: Any) -> Sequence[Point]:
    return _points(lambda environment: with_victim(environment, victim), **more)


def _criterion(
    name: str,
    says: str,
    points: Sequence[Point],
    measure: Callable[[Runs], float],
    threshold: Threshold,
    compare: Compare,
) -> Criterion:
    axis = "queue at 100 Mb/s and 40 ms"
    return Criterion(
        f"shallow-{name}", says, _SOURCE, points, measure, threshold, compare=compare, axis=axis
    )


def _resent(rows: Sequence[Row]) -> float:
    """Returns the share that the control sends again, and RESENT_LEAST more, as a divisor."""
    return measures.resent_share(rows) + bounds.RESENT_LEAST


_HARM = measures.harm(measures.others_goodput)
PART = Part(
    "shallow",
    "Short queues",
    _SOURCE,
    (
        _criterion(
            "fills",
            "Goodput alone over the reference's",
            _points(alone),
            measures.own_mbps,
            _FILLS,
            "ratio",
        ),
        _criterion(
            "fills-lossy",
            "The same where the link loses 0.1 % of the packets",
            _points(alone, loss="uniform", loss_rate=0.001),
            measures.own_mbps,
            _FILLS,
            "ratio",
        ),
        *(
            _criterion(
                f"harm-{name}",
                f"What a flow of {label} keeps beside it, over what it keeps beside the reference",
                _beside(cc),
                _HARM,
                SAFE,
                "kept",
            )
            for name, cc, label in (
                ("cubic", "cubic", "CUBIC"),
                ("reno", "sack", "Reno with SACK"),
                ("bbr3", "bbr3", "BBRv3"),
            )
        ),
        _criterion(
            "harm-many",
            "What a flow of CUBIC keeps beside four flows of it, over beside four of the reference",
            _beside("cubic", flows=4),
            _HARM,
            SAFE,
            "kept",
        ),
        _criterion(
            "own",
            "Its goodput beside a flow of CUBIC, over the reference's there",
            _beside("cubic"),
            lambda runs: measures.own_goodput(runs[BESIDE]),
            Threshold(bounds.KEEPS_TENTH, "ours: it shall not give way"),
            "ratio",
        ),
        _criterion(
            "resent",
            "Share of its packets that it sends again alone, over the reference's",
            _points(alone),
            lambda runs: _resent(runs[ALONE]),
            _RESENT,
            "ratio",
        ),
        _criterion(
            "resent-beside",
            "The same beside a flow of CUBIC",
            _beside("cubic"),
            lambda runs: _resent(runs[BESIDE]),
            _RESENT,
            "ratio",
        ),
        _criterion(
            "among",
            "Jain's index of eight flows of it, less that of the reference's",
            _points(alone, flows=8),
            lambda runs: fairness(runs[ALONE]),
            Threshold(bounds.CROWD, "the benchmark's row crowd"),
            "difference",
        ),
    ),
    only_asked=True,
)
