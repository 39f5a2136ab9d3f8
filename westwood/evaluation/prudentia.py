# SPDX-License-Identifier: BSD-3-Clause
"""Declares Prudentia's two settings: 8 and 50 Mb/s, 50 ms, a queue of 4 BDP.

Prudentia (SIGCOMM 2024) measures what a service gets of its max-min fair share beside another. Two
flows without limits have equal shares.
"""

from __future__ import annotations

from westwood.evaluation import measures
from westwood.evaluation.basics import path, with_victim
from westwood.evaluation.criterion import Criterion, Part, Point, Runs, Threshold
from westwood.evaluation.measures import BESIDE

_SECONDS = 300  # Prudentia's trials last 10 minutes
_LEAST = 0.8
_SOURCE = "Prudentia, SIGCOMM 2024"


def _share(runs: Runs) -> float:
    both = runs[BESIDE]
    others = measures.others_goodput(both)
    return 2 * others / (others + measures.own_goodput(both))


PART = Part(
    "prudentia",
    "Prudentia's settings",
    _SOURCE,
    (
        Criterion(
            "prudentia-share",
            "What a flow of CUBIC gets of its max-min fair share beside it",
            _SOURCE,
            [
                Point(f"{mbps} Mb/s", with_victim(path(mbps, 50, 4, _SECONDS), "cubic"), mbps == 8)
                for mbps in (8, 50)
            ],
            _share,
            Threshold(_LEAST, "ours; Prudentia counts pairs below several shares"),
            "of the fair share",
            axis="50 ms, 4 BDP",
        ),
    ),
)
