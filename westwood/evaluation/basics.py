# SPDX-License-Identifier: BSD-3-Clause
"""Declares the criteria of the five lines that come first.

Paths are those of the population's environments, with fixed numbers: one bottleneck, the profile
of Linux. Queues go from 0.05 to 16 bandwidth-delay products (BDP).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from westwood.evaluation import measures
from westwood.evaluation.benchmark.targets import of_role, ratio
from westwood.evaluation.criterion import Criterion, Making, Part, Point, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment
from westwood.scenario.paths.environment import scenario as scenario_of
from westwood.search import bounds

QUEUES_BDP = (0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16)
_JITTER_US = 1000  # most
_IN_QUICK = (0.05, 0.5, 4, 16)
_BBR = "bbr"  # the run of what a control over lossy links is compared with
_BURSTS: Mapping[str, Any] = {
    "loss": "two-state",
    "loss_rate": 0.2,
    "good_us": 1_900_000,
    "bad_us": 100_000,
}
WARE = "Ware et al. 2019, section 4: no more harm than the incumbent does to itself"
# The population's threshold for the worst tenth of its paths.
SAFE = Threshold(bounds.KEEPS_TENTH, f"{WARE}; {bounds.KEEPS_TENTH:g} of that is our allowance")

NAMES = {"sack": "Reno with SACK"}  # of victims, where the control's name does not say it


def path(
    mbps: float, rtt_ms: float, queue_bdp: float, seconds: float = 60, **more: Any
) -> Environment:
    """Returns a path whose queue is a number of bandwidth-delay products.

    Jitter of up to one packet's time prevents phase effects (Floyd and Jacobson 1992).
    """
    environment = Environment(round(mbps * 1e6), round(rtt_ms * 1e3), 1, round(seconds * 1e6), 0)
    environment = replace(environment, jitter_us=min(_JITTER_US, round(12e3 / mbps)))
    return replace(
        environment, queue_packets=max(1, round(queue_bdp * environment.bdp_packets)), **more
    )


def scenario(environment: Environment, control: Control) -> Scenario:
    """Returns the scenario of an environment with a control."""
    return scenario_of(environment, control.cc, control.settings)


def alone(environment: Environment) -> Making:
    """Returns a function that gives the run of the control by itself."""
    return lambda control: {ALONE: scenario(environment, control)}


def with_victim(environment: Environment, victim: str) -> Making:
    """Returns a function that gives a victim's solo run, and its run beside the control."""
    together = replace(environment, beside=victim, beside_flows=1)

    def runs(control: Control) -> Mapping[str, Scenario]:
        return {
            SOLO: scenario(replace(together, flows=0), control),
            BESIDE: scenario(together, control),
        }

    return runs


def over_queues(
    runs: Callable[[float], Making], queues_bdp: tuple[float, ...] = QUEUES_BDP
) -> list[Point]:
    """Returns a point for each queue."""
    return [Point(f"{queue:g} BDP", runs(queue), queue in _IN_QUICK) for queue in queues_bdp]


def _seconds(queue_bdp: float) -> float:
    """Returns a minute, or 375 round trips with a full queue, if that is more."""
    return max(60.0, 375 * 0.040 * (1 + queue_bdp))


def harm_to(
    victim: str, *, question: str = "", queues_bdp: tuple[float, ...] = QUEUES_BDP
) -> Criterion:
    """Returns the criterion of a victim's lost throughput."""
    name = NAMES.get(victim, victim)
    return Criterion(
        f"harm-{victim}",
        f"Throughput that a flow of {name} keeps beside it, over what it keeps beside "
        "the reference",
        "RFC 9743, 5.2.1; harm by Ware et al. 2019",
        over_queues(
            lambda queue: with_victim(path(20, 40, queue, _seconds(queue)), victim), queues_bdp
        ),
        measures.harm(measures.others_goodput),
        SAFE,
        "harm",
        question=question,
        compare="kept",
        axis="queue at 20 Mb/s and 40 ms",
    )


def harm_lossy() -> Criterion:
    """Links that lose packets themselves, or delay them unequally."""
    lossy: Mapping[str, Any] = {"loss": "uniform", "loss_rate": 0.01}
    paths = {
        "CUBIC, 0.2%": (path(20, 40, 1, loss="uniform", loss_rate=0.002), "cubic"),
        "CUBIC, 1%": (path(20, 40, 1, **lossy), "cubic"),
        "CUBIC, 1%, 0.1 BDP": (path(20, 40, 0.1, **lossy), "cubic"),
        "CUBIC, 1%, 400 packets": (path(50, 96, 1, **lossy), "cubic"),
        "Reno, 1%": (path(20, 40, 1, **lossy), "sack"),
        "BBRv3, 1%": (path(20, 40, 1, **lossy), "bbr3"),
        "CUBIC, jitter of 2 ms": (path(20, 40, 1, jitter_us=2000), "cubic"),
        "CUBIC, 1%, jitter of 2 ms": (path(20, 40, 1, jitter_us=2000, **lossy), "cubic"),
    }
    return replace(
        harm_to("cubic"),
        name="harm-lossy",
        says="Throughput that a flow keeps beside it on a link that loses or delays packets at "
        "random, over what it keeps beside the reference",
        source="RFC 9743, 5.2.1 and 6.4; harm by Ware et al. 2019",
        points=[
            Point(name, with_victim(environment, victim), name == "CUBIC, 0.2%")
            for name, (environment, victim) in paths.items()
        ],
        axis="victim and link, 20 Mb/s, 40 ms and 1 BDP if nothing else is said",
    )


def _fills() -> Criterion:
    paths = {
        "10 Mb/s, 20 ms": path(10, 20, 1),
        "20 Mb/s, 40 ms, 0.25 BDP": path(20, 40, 0.25),
        "20 Mb/s, 40 ms": path(20, 40, 1),
        "20 Mb/s, 200 ms": path(20, 200, 1),
        "100 Mb/s, 100 ms": path(100, 100, 1),
    }
    return Criterion(
        "fills",
        "Goodput of a flow alone in its first minute, over the reference's",
        "RFC 9743, 6.1 and 6.3 (drop-tail queues, wired paths)",
        [Point(name, alone(path), "100" not in name) for name, path in paths.items()],
        measures.own_mbps,
        Threshold(bounds.ALONE_TENTH, "ours; RFC 9743 gives no number"),
        "Mb/s",
        "fills",
        "ratio",
        axis="path, with a queue of 1 BDP if nothing else is said",
    )


def _keeps_short() -> Criterion:
    def point(queue: float) -> Point:
        environment = path(20, 40, queue)
        return Point(f"{queue:g} BDP", alone(environment), queue in _IN_QUICK)

    return Criterion(
        "queue",
        "Mean wait in the queue of a flow alone, in round trips of the empty path",
        "RFC 9743, 5.1.2 (protection against bufferbloat)",
        [point(queue) for queue in QUEUES_BDP if queue > 1],
        measures.waiting_rtts(40_000, 20_000_000),
        Threshold(
            1.0,
            "ours: the wait at most doubles the round trip; RFC 9743 gives no number",
            at_most=True,
        ),
        "round trips",
        "queues",
        axis="queue at 20 Mb/s and 40 ms",
    )


def _survives() -> Criterion:
    paths = {
        **{
            f"{rate:.2%}".replace(".00", ""): path(20, 40, 1, loss="uniform", loss_rate=rate)
            for rate in (0.0001, 0.001, 0.005, 0.01, 0.02)
        },
        "4% of 67 packets": path(20, 40, 1, loss="uniform", loss_rate=0.04),
        "2% of 400 packets": path(50, 96, 1, 30, loss="uniform", loss_rate=0.02),
        "4% of 400 packets": path(50, 96, 1, 30, loss="uniform", loss_rate=0.04),
        "0.5% of 2000 packets": path(200, 120, 1, 30, loss="uniform", loss_rate=0.005),
        "2% of 2000 packets": path(200, 120, 1, 30, loss="uniform", loss_rate=0.02),
        "bursts, 67 packets": path(20, 40, 1, **_BURSTS),
        "bursts, 400 packets": path(50, 96, 1, 30, **_BURSTS),
    }
    quick = ("0.10%", "1%", "2% of 400 packets")

    def runs(environment: Environment) -> Making:
        def with_bbr(control: Control) -> Mapping[str, Scenario]:
            return {
                _BBR: scenario(environment, Control("bbr")),
                **alone(environment)(control),
            }  # the control last

        return with_bbr

    return Criterion(
        "loss",
        "Goodput of a flow alone over random loss, over that of BBRv1",
        "RFC 9743, 6.4 (losses due to radio effects)",
        [Point(name, runs(path), name in quick) for name, path in paths.items()],
        lambda runs: ratio(measures.own_goodput(runs[ALONE]), measures.own_goodput(runs[_BBR])),
        Threshold(bounds.LOSS_BINDS, "the benchmark's row loss-binds; RFC 9743 gives no number"),
        "of BBRv1's",
        "loss",
        axis="random loss, with a queue of 1 BDP; 67 packets a round trip if nothing else is said",
        note="Bursts last 0.1 s in each 2 s, and lose 20 % of the packets.",
    )


def _short_beside() -> Criterion:
    def runs(queue: float) -> Making:
        environment = path(
            20, 40, queue, short_bytes=100_000, short_every_us=500_000, short_cc="cubic"
        )
        flow = replace(environment, flows=1)

        def scenarios(control: Control) -> Mapping[str, Scenario]:
            return {
                SOLO: scenario(replace(flow, flows=0), control),
                BESIDE: scenario(flow, control),
            }

        return scenarios

    return Criterion(
        "harm-short",
        "Speed that CUBIC's transfers of 100 kB keep beside a long flow of it, over what they keep "
        "beside the reference",
        "RFC 9743, 5.1.5 and 5.2.3; harm by Ware et al. 2019",
        over_queues(runs),
        measures.harm(_finished, more_is_better=False),
        SAFE,
        "harm",
        question="short",
        compare="kept",
        axis="queue at 20 Mb/s and 40 ms",
    )


def _bursts() -> list[Criterion]:
    """How many segments leave back to back: over runs of `fills`, `queue` and `loss`."""
    paths = {f"{queue:g} BDP": path(20, 40, queue) for queue in (0.25, 1, 4)}
    paths["1 BDP, 1% lost"] = path(20, 40, 1, loss="uniform", loss_rate=0.01)

    def criterion(name: str, says: str, column: str) -> Criterion:
        return Criterion(
            name,
            says,
            "RFC 9002, 7.7",
            [Point(place, alone(path)) for place, path in paths.items()],
            lambda runs: float(of_role(runs[ALONE], "tcp")[0][column]),
            Threshold(10, "RFC 9002, 7.7: a burst should not exceed the initial window", True),
            "segments",
            axis="queue at 20 Mb/s and 40 ms",
            note="A burst is what leaves in one slot of half a segment's time at the link's rate.",
            more_columns=measures.bursts,
        )

    return [
        criterion(
            "bursts",
            "Size of the bursts within which a flow alone sends 95 % of its segments",
            measures.BURST,
        ),
        criterion("largest-burst", "Largest burst of a flow alone", measures.LARGEST_BURST),
    ]


def _finished(rows: Any) -> float:
    """Returns the mean time of the transfers that finished; those of the last moment may not.

    Transfers of which none finished took forever.
    """
    (row,) = of_role(rows, "short")
    return float(row["completion_s"]) if row["completed"] else math.inf


PART = Part(
    "basics",
    "The five lines",
    "RFC 9743 and Ware et al. 2019",
    (
        harm_to("cubic", question="safe"),
        _fills(),
        _keeps_short(),
        _survives(),
        _short_beside(),
        *_bursts(),
    ),
)
