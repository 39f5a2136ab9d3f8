# SPDX-License-Identifier: BSD-3-Clause
"""Declares RFC 7928's characterisation of a queue discipline, with drop-tail as the reference.

The RFC asks for graphs and comparisons and gives no thresholds, so all of them are ours. We had its
first page only: sections, loss rates (8.2.1) and the cases of figure 2 are from memory; the numbers
of flows agree with ns-3's suite of the RFC. Unless a point says otherwise, the path has 20 Mb/s,
100 ms and a buffer of a BDP of the longest round trip (3.2), the discipline stands in both
directions, and the senders are Reno with SACK. Deviations: Vegas, which RFC 6297 counts among the
senders that yield, takes the place of LEDBAT; a run takes a minute and starts empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from westwood.evaluation import measures
from westwood.evaluation.answer import Answer
from westwood.evaluation.basics import path
from westwood.evaluation.benchmark.targets import goodput, of_role, ratio
from westwood.evaluation.criterion import Clause, Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.discipline import ECN, SENDER, Discipline
from westwood.evaluation.measures import ALONE, SOLO
from westwood.experiments.control import Control
from westwood.results.intervals import Estimate
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment, given

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SOURCE = "RFC 7928"
_MBPS, _RTT_MS = 20, 100
_BASE = path(_MBPS, _RTT_MS, 1)
_NOBODY = replace(_BASE, flows=0)
# Flows per packet of the BDP, sqrt(p / 0.76): a share p of the packets is lost (8.2.1).
_LEVELS = {"mild": 0.036, "medium": 0.081, "heavy": 0.114}
Flow = Mapping[str, Any]


def _flow(name: str, **keys: Any) -> Flow:
    cc = {} if keys.get("app", {}).get("kind") == "udp" else {"cc": SENDER}
    return {"name": name, "from": "source", "to": "sink", **cc, **keys}


def _datagrams(name: str, share: float, packet_bytes: int = 1500, **app: Any) -> Flow:
    """Returns datagrams of a share of the link's rate."""
    app = {"kind": "udp", "rate": f"{share * _MBPS * 1000:g}kbps", **app}
    return _flow(name, app=app, packet=f"{packet_bytes}B")


def _runs(environment: Environment, *flows: Flow, link: Flow | None = None, **keys: Any) -> Making:
    """Returns a function that gives a run with further flows; the environment's have `keys`."""

    def runs(discipline: Control) -> Mapping[str, Scenario]:
        assert isinstance(discipline, Discipline)
        data = given(environment, SENDER, {})
        data["link"][0] |= {"queue": discipline.table(environment), **(link or {})}
        every = [flow | keys for flow in data["flow"]] + [*flows]
        asks = {ECN: True} if discipline.settings.get(ECN) else {}
        data["flow"] = [flow | asks if "cc" in flow else flow for flow in every]
        return {ALONE: Scenario(**data)}

    return runs


def _several(level: str, environment: Environment = _BASE) -> Environment:
    flows = max(1, round(_LEVELS[level] * environment.bdp_packets))
    return replace(environment, flows=flows)


def _marked(level: str) -> Making:
    """Returns a function that gives a run with marks, and the same without."""
    run = _runs(_several(level))

    def runs(discipline: Control) -> Mapping[str, Scenario]:
        plain = {key: value for key, value in discipline.settings.items() if key != ECN}
        (without,) = run(replace(discipline, settings=plain)).values()
        return {SOLO: without, **run(discipline)}

    return runs


def _waiting(runs: Runs, name: str = ALONE) -> float:
    """Returns the mean queue in packets, and a tenth, so that an empty one has a ratio."""
    return float(runs[name][0]["mean_queue"]) + 0.1


def _mbps(role: str) -> Callable[[Runs], float]:
    return lambda runs: goodput(of_role(runs[ALONE], role)) / 1e6


def _dropped(role: str) -> Callable[[Runs], float]:
    """Returns a function that gives the percentage of a role's packets that are dropped."""
    return lambda runs: 100 * measures.lost_share(of_role(runs[ALONE], role))


def _all_dropped(runs: Runs) -> float:
    return 100 * measures.lost_share(runs[ALONE])


def _time(role: str, column: str = "completion_s") -> Callable[[Runs], float]:
    return lambda runs: float(of_role(runs[ALONE], role)[0][column])


def _share(runs: Runs) -> float:
    return ratio(_mbps("beside")(runs), _mbps("tcp")(runs))


_criterion = partial(Criterion, most_runs=8)  # of a minute
_over = partial(_criterion, compare="ratio")
_ON_BASE = "on 20 Mb/s, 100 ms"


def _ours(bound: float, why: str, at_most: bool = True) -> Threshold:
    return Threshold(bound, f"ours: {why}", at_most)


def _trade_off(
    name: str, section: str, where: str, points: Sequence[Point], axis: str
) -> list[Criterion]:
    """Returns the criteria of delay and of use, whose trade-off section 2.7 asks for."""
    source = f"{_SOURCE}, 2.7 and {section}"
    return [
        _over(
            f"{name}-queue",
            f"Mean queue {where}, over the reference's",
            source,
            points=points,
            measure=_waiting,
            threshold=_ours(0.5, "half of the reference's"),
            unit="packets",
            axis=axis,
        ),
        _over(
            f"{name}-use",
            f"Use of the link {where}, over the reference's",
            source,
            points=points,
            measure=lambda runs: 100 * float(runs[ALONE][0]["utilisation"]),
            threshold=_ours(0.9, "nine tenths of the reference's", at_most=False),
            unit="%",
            axis=axis,
        ),
    ]


def _falling(period_s: float) -> Making:
    """Returns runs on a link that is full for a period and has a tenth for the next (8.2.6)."""
    period_ms = round(1000 * period_s)
    times: list[int] = []
    for start_ms, mbps in ((0, _MBPS), (period_ms, _MBPS / 10)):
        count = round(period_ms * mbps * 125 / 1504)
        times += [start_ms + 1 + n * period_ms // count for n in range(count)]
    link = {"rate": None, "trace": {"forward": times, "backward": times}}
    return _runs(_several("mild"), link=link)


def _rate(mbps: int) -> Making:
    return _runs(_several("mild", path(mbps, _RTT_MS, 1)))


def _beside_vegas(queue_bdp: float) -> Making:
    return _runs(replace(path(_MBPS, _RTT_MS, queue_bdp), beside="vegas", beside_flows=1))


def _short(window: int) -> Making:
    short = replace(_BASE, short_bytes=100_000, short_every_us=1_000_000)
    return _runs(short, initial_cwnd=f"{window}p")


def _other_rtt(rtt_ms: int) -> Making:
    there = path(_MBPS, _RTT_MS, max(1, rtt_ms / _RTT_MS), 180)
    return _runs(replace(there, beside=SENDER, beside_flows=1, beside_delay_us=1000 * rtt_ms))


def _points(name: str, runs: Callable[[Any], Making], *values: Any) -> Sequence[Point]:
    """Returns a point for each value; --quick has the second."""
    return [Point(name.format(value), runs(value), value == values[1]) for value in values]


_SENDERS = [
    Point("Reno (5.1.1)", _runs(_BASE, initial_cwnd="3p")),
    Point(
        "Reno, windows of 3 and 10 (5.1.2)",
        _runs(_BASE, _flow("wide", initial_cwnd="10p", start="0.5s"), initial_cwnd="3p"),
        False,
    ),
    Point("CUBIC (5.2)", _runs(replace(_NOBODY, beside="cubic", beside_flows=1)), False),
    Point("mild congestion (8.2.2)", _runs(_several("mild"))),
    Point("medium congestion (8.2.3)", _runs(_several("medium")), False),
    Point("heavy congestion (8.2.4)", _runs(_several("heavy"))),
    Point("mild, buffer of 4 BDP (3.2)", _runs(_several("mild", path(_MBPS, _RTT_MS, 4))), False),
    Point("mild, both ways (9.2)", _runs(replace(_BASE, flows=3, reverse_flows=3)), False),
]
_MILD = _several("mild")
_MORE = _flow("more", count=_several("heavy").flows - _MILD.flows, start="20s", stop="40s")
_CHANGES = [
    Point("mild, heavy, mild again", _runs(_MILD, _MORE)),
    Point(
        "datagrams come and go", _runs(_MILD, _datagrams("udp", 0.9, on="10s", off="10s")), False
    ),
]
_CAPACITIES = _points("a tenth every {} s", _falling, 20, 0.1)
_RATES = _points("{} Mb/s", _rate, 1, 10, 100)


def _cases(*names: str) -> Sequence[Point]:
    """Returns the cases of figure 2 in section 7.2, whose traffic is the tester's choice."""
    objects = {"kind": "request", "size": "30kB", "sizes": "exponential", "think": "200ms"}
    frames = {"kind": "media", "interval": "40ms", "frame": "7500B", "key": "75000B"}
    flows = [_flow("web", count=6, initial_cwnd="10p", app=objects), _datagrams("cbr", 0.025, 500)]
    bulk, video = _flow("bulk"), _flow("video", app=frames)
    more = {"I": [], "II": [bulk], "III": [video], "IV": [video, bulk]}
    return [Point(name, _runs(_NOBODY, *flows, *more[name]), name in "IV") for name in names]


_burst = partial(
    _criterion,
    source=f"{_SOURCE}, 7.2",
    axis="case of figure 2",
    note="I: Web and a constant bit rate; II: and a bulk flow; III: I and video; IV: all. Web: six "
    "connections fetch objects of 30 kB. Video: 7.5 kB every 40 ms, and 75 kB once in 30 frames.",
)
_ECN_POINTS = [
    Point(level, _marked(level), level == "mild", {ECN: True}) for level in ("mild", "heavy")
]
_SIZES = [
    _datagrams(name, 0.6, packet_bytes, spacing="exponential")
    for name, packet_bytes in (("small", 300), ("large", 1500))
]
_no_slower = partial(_burst, compare="ratio", unit="s", threshold=_ours(1.1, "about as long"))


def _frontier(answers: Mapping[Control, Mapping[str, Answer]]) -> Figure | None:
    """Draws delay against use of the link at each discipline's worst point: section 2.7."""
    from westwood.draw.frontier import FrontierAxis, Mark, frontier

    marks = []
    for discipline, replies in answers.items():
        queue, use = (
            replies[name].worst if name in replies else None for name in ("aqm-queue", "aqm-use")
        )
        if queue and use:
            saved = Estimate(1 - queue.judged, 1 - queue.high, 1 - queue.low)
            used = Estimate(use.judged, use.low, use.high)
            marks.append(Mark(discipline.text, discipline.styled, used, saved))
    axes = (
        FrontierAxis("Use of the link over the reference's, worst point", 0.9),
        FrontierAxis("Share of the reference's queue that is saved, worst point", 0.5),
    )
    return frontier(marks, *axes, "Delay and use of the link (RFC 7928, 2.7)") if marks else None


PART = Part(
    "rfc7928",
    "Characterisation of queue disciplines",
    _SOURCE,
    (
        *_trade_off("aqm", "5 and 8.2", _ON_BASE, _SENDERS, f"senders {_ON_BASE}"),
        _criterion(
            "aqm-loss",
            "Percentage of the packets that are dropped, less the reference's",
            f"{_SOURCE}, 2.3",
            points=_SENDERS,
            measure=_all_dropped,
            threshold=_ours(1, "what heavy congestion loses, 8.2.1"),
            unit="%",
            compare="difference",
            axis=f"senders {_ON_BASE}",
        ),
        _over(
            "aqm-unresponsive",
            "Mean queue when datagrams exceed the link, over the reference's",
            f"{_SOURCE}, 5.3",
            points=_points(
                "{} of the link", lambda n: _runs(_NOBODY, _datagrams("udp", n)), 1.2, 2, 10
            ),
            measure=_waiting,
            threshold=_ours(0.5, "half of the reference's"),
            unit="packets",
            axis="datagrams",
        ),
        _criterion(
            "aqm-beside-datagrams",
            "Goodput of a flow beside datagrams of 0.8 of the link",
            f"{_SOURCE}, 5.3",
            points=[Point("0.8 of the link", _runs(_BASE, _datagrams("udp", 0.8)))],
            measure=_mbps("tcp"),
            threshold=_ours(_MBPS / 10, "half of what they leave", at_most=False),
            unit="Mb/s",
        ),
        _criterion(
            "aqm-yielding",
            "Goodput of a flow of Vegas, in the place of LEDBAT, over that of one of Reno",
            f"{_SOURCE}, 5.4",
            points=_points("{} BDP", _beside_vegas, 0.5, 1, 4),
            measure=_share,
            threshold=_ours(0.5, "a sender that yields has less than half"),
            unit="of Reno's",
            axis="buffer",
        ),
        _over(
            "aqm-short",
            "Mean time of transfers of 100 kB beside a flow, over the reference's",
            f"{_SOURCE}, 2.1 and 5.1.2",
            points=_points("initial windows of {}", _short, 3, 10),
            measure=_time("short"),
            threshold=_ours(1, "no longer"),
            unit="s",
        ),
        _over(
            "aqm-rtt",
            "Larger goodput of a flow of 100 ms and another over the smaller, over the reference's",
            f"{_SOURCE}, 6.2",
            points=_points("{} ms", _other_rtt, 5, 20, 50, 200, 560),
            measure=lambda runs: max(_share(runs), ratio(1, _share(runs))),
            threshold=_ours(1.1, "about as fair"),
            unit="times",
            axis="round trip of the other",
        ),
        _no_slower(
            "aqm-web",
            "Mean time of a Web object, over the reference's",
            points=_cases("I", "II", "III", "IV"),
            measure=_time("web"),
        ),
        _no_slower(
            "aqm-video",
            "95th percentile of the frames' delays, over the reference's",
            points=_cases("III", "IV"),
            measure=_time("video", "completion_p95_s"),
        ),
        _burst(
            "aqm-constant-rate",
            "Percentage of the packets of a constant bit rate that are dropped",
            points=_cases("I", "II", "III", "IV"),
            measure=_dropped("cbr"),
            threshold=_ours(1, "one packet in a hundred"),
            unit="%",
        ),
        *_trade_off("aqm-load", "8.2.5", "while the load changes", _CHANGES, f"load {_ON_BASE}"),
        *_trade_off("aqm-capacity", "8.2.6", "while the rate changes", _CAPACITIES, "rate"),
        _criterion(
            "aqm-ecn-loss",
            "Percentage of the packets that are dropped with ECN",
            f"{_SOURCE}, 4.5",
            points=_ECN_POINTS,
            measure=_all_dropped,
            threshold=_ours(0.1, "what mild congestion loses, 8.2.1"),
            unit="%",
            axis="congestion",
        ),
        _criterion(
            "aqm-ecn-delay",
            "Mean queue with ECN, over that without",
            f"{_SOURCE}, 4.5",
            points=_ECN_POINTS,
            measure=lambda runs: _waiting(runs) / _waiting(runs, SOLO),
            threshold=_ours(1.5, "marks keep the queue about as short"),
            unit="times",
            axis="congestion",
        ),
        _criterion(
            "aqm-packet-sizes",
            "Share of dropped packets of 300 bytes over that of 1500 bytes, or the inverse",
            f"{_SOURCE}, 4.4",
            points=[Point("0.6 of the link by each", _runs(_NOBODY, *_SIZES))],
            measure=lambda runs: ratio(_dropped("small")(runs), _dropped("large")(runs)),
            threshold=_ours(1.5, "RFC 7141 wants no bias by size"),
            compare="either way",
            unit="times",
        ),
        *_trade_off("aqm-rates", "12", "with the same settings", _RATES, "rate, mild congestion"),
    ),
    clauses=(
        Clause("2.7", "Delay against goodput", ("aqm-queue", "aqm-use")),
        Clause("4.4", "Packet sizes", ("aqm-packet-sizes",)),
        Clause("4.5", "Interaction with ECN", ("aqm-ecn-loss", "aqm-ecn-delay")),
        Clause("4.6", "Interaction with scheduling", (), "fq_codel is judged with its scheduler"),
        Clause("5.1, 5.2", "TCP-friendly and aggressive senders", ("aqm-queue", "aqm-short")),
        Clause("5.3", "Unresponsive senders", ("aqm-unresponsive", "aqm-beside-datagrams")),
        Clause("5.4", "Less-than-best-effort senders", ("aqm-yielding",)),
        Clause("6", "Round-trip time fairness", ("aqm-rtt",)),
        Clause("7", "Burst absorption", ("aqm-web", "aqm-video", "aqm-constant-rate")),
        Clause("8.2.2 to 8.2.4", "Levels of congestion", ("aqm-queue", "aqm-use", "aqm-loss")),
        Clause("8.2.5", "Varying congestion", ("aqm-load-queue", "aqm-load-use")),
        Clause("8.2.6", "Varying capacity", ("aqm-capacity-queue", "aqm-capacity-use")),
        Clause("8.3", "Sensitivity to parameters", (), "name a queue twice, with other settings"),
        Clause("9", "Traffic mix, and both ways", ("aqm-queue", "aqm-web", "aqm-video")),
        Clause("10", "Several disciplines in a row", (), "the path has one bottleneck"),
        Clause("11", "Implementation cost", (), "a simulator has no router's costs"),
        Clause("12", "Operator control and tuning", ("aqm-rates-queue", "aqm-rates-use")),
    ),
    of_queues=True,
    picture=_frontier,
)
