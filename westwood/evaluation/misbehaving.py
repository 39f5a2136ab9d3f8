# SPDX-License-Identifier: BSD-3-Clause
"""Declares the criteria of RFC 9743, 7.5: receivers that misbehave to get data sooner.

The attacks are those of Savage, Cardwell, Wetherall and Anderson (1999): dividing ACKs, and
acknowledging what has yet to arrive. Their third, spoofing duplicate ACKs, needs a sender without
SACK.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from westwood.evaluation import measures
from westwood.evaluation.basics import harm_to, over_queues, path, scenario, with_victim
from westwood.evaluation.criterion import Criterion, Making, Point, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.experiments.control import Control
from westwood.scenario import Scenario

_SOURCE = "RFC 9743, 7.5; Savage et al. 1999"
_PARTS_OF_A_SEGMENT = 20
_SEGMENTS_EARLY = 40


def _divided() -> Criterion:
    """Compares with an honest receiver that acknowledges every segment, which any receiver may."""
    finished = measures.completion("tcp", "completed_s")

    def runs(control: Control) -> Mapping[str, Scenario]:
        settings = {"tcp.size": "300kB", "tcp.delayed_ack": 1, "tcp.quick_acks": 0}
        honest = scenario(path(20, 200, 1, 60), control).with_settings(settings)
        divided = honest.with_settings({"tcp.ack_division": _PARTS_OF_A_SEGMENT})
        return {SOLO: honest, ALONE: divided}

    return Criterion(
        "ack-division",
        f"How many times faster 300 kB arrive if the receiver acknowledges each segment in "
        f"{_PARTS_OF_A_SEGMENT} parts",
        _SOURCE,
        [Point("20 Mb/s, 200 ms", runs)],
        lambda run_rows: finished(run_rows[SOLO]) / finished(run_rows[ALONE]),
        Threshold(
            1.1,
            "RFC 5681, 3.1, counts bytes, so that nothing is gained; 10 % is ours",
            at_most=True,
        ),
        "times",
        axis="1 BDP",
        note="Hosts count segments or bytes, and so does the engine. Controls of ns-2 count ACKs "
        "(byte_counting = false).",
    )


def _early(honest: Scenario) -> Scenario:
    return honest.with_settings({"tcp.optimistic_acks": _SEGMENTS_EARLY})


_EARLY_NOTE = (
    "The receiver conceals every loss. RFC 9293, 3.10.7.4, protects from ACKs of data that was "
    "never sent. RFC 9000, 21.4, skips packet numbers, which no TCP can. The question is how far "
    "a control goes."
)


def _optimistic() -> list[Criterion]:
    def alone_early(queue: float) -> Making:
        return lambda control: {ALONE: _early(scenario(path(20, 40, queue, 30), control))}

    def beside_early(queue: float) -> Making:
        both = with_victim(path(20, 40, queue, 60), "cubic")

        def runs(control: Control) -> Mapping[str, Scenario]:
            scenarios = both(control)
            return {SOLO: scenarios[SOLO], BESIDE: _early(scenarios[BESIDE])}

        return runs

    says = f"a receiver that acknowledges up to {_SEGMENTS_EARLY} segments early"
    return [
        Criterion(
            "optimistic-acks",
            f"Share of its packets that a flow with {says} loses in the queue",
            _SOURCE,
            over_queues(alone_early, (0.5, 1, 4)),
            lambda runs: measures.lost_share(runs[ALONE]),
            Threshold(0.05, "that of loss-caused, which is ours", at_most=True),
            "lost",
            axis="queue at 20 Mb/s and 40 ms",
            note=_EARLY_NOTE,
        ),
        replace(
            harm_to("cubic"),
            name="harm-optimistic",
            says=f"Throughput that a flow of CUBIC keeps beside it with {says}, over what it keeps "
            "beside the reference with such a receiver",
            source=f"{_SOURCE}; harm by Ware et al. 2019",
            question="",
            points=over_queues(beside_early, (0.5, 1, 4)),
        ),
    ]


CRITERIA = (_divided(), *_optimistic())
