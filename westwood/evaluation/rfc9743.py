# SPDX-License-Identifier: BSD-3-Clause
"""Declares the criteria of RFC 9743 that the five lines leave, and lists all of its clauses.

RFC 9743 gives no numbers. Most thresholds here compare with the reference, as its section 5.2 does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from westwood.evaluation import measures, misbehaving
from westwood.evaluation.basics import SAFE, alone, harm_lossy, harm_to, over_queues, path, scenario
from westwood.evaluation.benchmark.targets import fairness, of_role
from westwood.evaluation.criterion import Clause, Criterion, Making, Part, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import Environment, given
from westwood.search import bounds

_OURS = "ours; RFC 9743 gives no number"
_QUEUES_BDP = (0.05, 0.5, 1, 4, 16)
_KEEPS_UP = Threshold(0.9, _OURS)
_OF_COLLAPSE = Threshold(bounds.COLLAPSE, f"the reference's own loss, {_OURS}", at_most=True)

CLAUSES = (
    Clause("5.1.1", "Congestion collapse", ("collapse", "backoff")),
    Clause("5.1.2", "Bufferbloat", ("queue",)),
    Clause("5.1.3", "High packet loss", ("loss-caused",)),
    Clause("5.1.4", "Fairness within the algorithm", ("among",)),
    Clause("5.1.5", "Short flows", ("short-own", "harm-short")),
    Clause(
        "5.2.1",
        "Existing general-purpose congestion control",
        ("harm-cubic", "harm-sack", "harm-bbr", "harm-bbr3", "harm-delay", "harm-lossy"),
    ),
    Clause("5.2.2", "Real-time congestion control", ("harm-real-time",)),
    Clause("5.2.3", "Short and long flows", ("harm-short",)),
    Clause("5.3.1", "Differences with principles", (), "a text must explain them; no run can"),
    Clause("5.3.2", "Incremental deployment", (), "it depends on equipment that nobody simulates"),
    Clause("6.1", "Tail-drop queues", ("fills", "queue", "harm-cubic")),
    Clause(
        "6.2",
        "Tunnels",
        (),
        "it concerns controls that rely on explicit signals of the path. No flow here asks for "
        "ECN, and no tunnel hides a flow",
    ),
    Clause("6.3", "Wired paths", ("fills",)),
    Clause("6.4", "Wireless paths", ("loss", "harm-lossy", "wifi", "fading")),
    Clause("7.1", "Active queue management", ("aqm", "aqm-harm")),
    Clause("7.1.1", "Circuit breakers", ("loss-caused", "backoff")),
    Clause("7.2", "Varying delay", ("wifi", "reroute")),
    Clause("7.3", "Internet of Things", ("thin",), "power and code size are not simulated"),
    Clause("7.4", "High delay", ("high-delay",)),
    Clause(
        "7.5",
        "Misbehaving nodes",
        ("ack-division", "optimistic-acks", "harm-optimistic"),
        "senders that ignore their control, routers and outside attackers are not run here; "
        "`westwood control stress` looks for attacks",
    ),
    Clause("7.6", "Extreme reordering", ("reordering",)),
    Clause("7.7", "Transient events", ("burst", "outage")),
    Clause("7.7.1", "Sudden changes in the path", ("reroute",)),
    Clause(
        "7.8",
        "Multipath transport",
        (),
        "it concerns controls of several paths at once; a connection here has one, which "
        "`reroute` changes",
    ),
    Clause("7.9", "Data centres", ("data-centre",), "incast of many hosts is not run"),
)


def _changed(environment: Environment, **settings: Any) -> Making:
    """Returns a function that gives the run alone with other settings of the link."""
    keys = {f"path.{key}": value for key, value in settings.items()}
    return lambda control: {ALONE: scenario(environment, control).with_settings(keys)}


def _with_flows(environment: Environment, control: Control, *flows: Mapping[str, Any]) -> Scenario:
    """Returns the scenario of an environment with more flows over its link."""
    of_path = given(environment, control.cc, control.settings)
    more = [{"from": "source", "to": "sink", **flow} for flow in flows]
    return Scenario(**{**of_path, "flow": [*of_path["flow"], *more]})


def keeps_up(
    name: str, says: str, source: str, points: Sequence[Point], axis: str, **more: Any
) -> Criterion:
    """Returns a criterion of goodput alone over the reference's."""
    return Criterion(
        name,
        f"{says}: goodput of a flow alone, over the reference's",
        f"RFC 9743, {source}",
        points,
        measures.own_mbps,
        _KEEPS_UP,
        "Mb/s",
        compare="ratio",
        axis=axis,
        **more,
    )


def _collapse() -> Criterion:
    environment = path(30, 40, 1, 30, flows=100)
    return Criterion(
        "collapse",
        "Share of the packets that a queue drops with 100 flows and 100 packets a round trip, over "
        "the reference's",
        "RFC 9743, 5.1.1",
        [Point("100 flows", alone(environment))],
        lambda runs: measures.lost_share(runs[ALONE]),
        replace(_OF_COLLAPSE, bound=1.25),
        compare="ratio",
        axis="30 Mb/s, 40 ms, 1 BDP",
    )


def _backoff() -> Criterion:
    blackout = {"kind": "blackout", "good": "10s", "bad": "30s", "on": "both"}
    return Criterion(
        "backoff",
        "Timeouts of a flow alone in an outage of 30 s: with full backoff each takes twice as long",
        "RFC 9743, 5.1.1 and 5.2 (a loss of all feedback)",
        [Point("outage", _changed(path(20, 40, 1, 40), loss=blackout))],
        lambda runs: float(runs[ALONE][0]["timeouts"]),
        Threshold(12, "RFC 8961, section 4: exponential backoff; 12 is ours", at_most=True),
        "timeouts",
        axis="20 Mb/s, 40 ms, 1 BDP",
    )


def _loss_caused() -> Criterion:
    def point(queue: float) -> Point:
        environment = path(20, 40, queue, 30, flows=8)
        return Point(f"{queue:g} BDP", alone(environment), queue in (0.1, 1))

    return Criterion(
        "loss-caused",
        "Share of their packets that eight flows of it lose in the queue",
        "RFC 9743, 5.1.3, which names BBRv1's loss below 1.5 BDP",
        [point(queue) for queue in (0.1, 0.25, 0.5, 1, 1.5)],
        lambda runs: measures.lost_share(runs[ALONE]),
        Threshold(0.05, _OURS, at_most=True),
        "lost",
        axis="queue at 20 Mb/s and 40 ms",
    )


def _among() -> Criterion:
    def point(flows: int) -> Point:
        return Point(f"{flows} flows", alone(path(20, 40, 1, 60, flows=flows)), flows == 4)

    return Criterion(
        "among",
        "Jain's index of equal flows of it, less that of the reference's",
        "RFC 9743, 5.1.4",
        [point(flows) for flows in (2, 4, 10)],
        lambda runs: fairness(runs[ALONE]),
        Threshold(bounds.CROWD, "the benchmark's row crowd"),
        compare="difference",
        axis="20 Mb/s, 40 ms, 1 BDP",
    )


def _short_own() -> Criterion:
    def runs(queue: float) -> Making:
        return alone(path(20, 40, queue, short_bytes=100_000, short_every_us=500_000))

    return Criterion(
        "short-own",
        "Completion time of its own transfers of 100 kB beside its own long flow, over the "
        "reference's",
        "RFC 9743, 5.1.5",
        over_queues(runs, (0.05, 0.5, 1, 4)),
        lambda runs: float(of_role(runs[ALONE], "short")[0]["completion_s"]),
        Threshold(1.1, _OURS, at_most=True),
        "s",
        compare="ratio",
        axis="queue at 20 Mb/s and 40 ms",
    )


def _harm_delay() -> Criterion:
    def runs(queue: float) -> Making:
        return _constant(queue, {"kind": "rate", "rate": "1Mbps"})

    return replace(
        _harm_real_time(),
        name="harm-delay",
        says="What a flow of 1 Mb/s keeps beside it of its goodput or its short round trip, the "
        "lesser, over what it keeps beside the reference",
        source="RFC 9743, 5.2 (introduced latency); harm by Ware et al. 2019",
        points=over_queues(runs, _QUEUES_BDP),
    )


def _constant(queue_bdp: float, app: Mapping[str, Any]) -> Making:
    """Returns a function that gives a source's run by itself, and beside the control."""
    environment = path(20, 40, queue_bdp)
    flow = {"name": "beside", "cc": "cubic", "app": dict(app)}

    def scenarios(control: Control) -> Mapping[str, Scenario]:
        return {
            SOLO: _with_flows(replace(environment, flows=0), control, flow),
            BESIDE: _with_flows(environment, control, flow),
        }

    return scenarios


def _harm_to_real_time(runs: Runs) -> float:
    """Returns the larger harm: lost packets have no round trip, and a starved flow a short one."""
    goodput = measures.harm(measures.others_goodput)(runs)
    rtt = measures.harm(measures.others_rtt, more_is_better=False)(runs)
    return 1.0 if goodput >= 1 else max(goodput, rtt)


def _harm_real_time() -> Criterion:
    """RFC 8867, 5.1 and 5.2, have sources of constant and of varying rate."""
    sources = {
        "constant": {"kind": "rate", "rate": "1500kbps"},
        "varying": {"kind": "rate", "rate": "2Mbps", "on": "1s", "off": "0.5s"},
    }
    return Criterion(
        "harm-real-time",
        "What a source of constant or varying rate keeps beside it of its goodput or its short "
        "round trip, the lesser, over what it keeps beside the reference",
        "RFC 9743, 5.2.2, with the sources of RFC 8867; harm by Ware et al. 2019",
        [
            Point(f"{name}, {queue:g} BDP", _constant(queue, app), queue == 1)
            for name, app in sources.items()
            for queue in (0.25, 1, 4)
        ],
        _harm_to_real_time,
        SAFE,
        "harm",
        compare="kept",
        axis="source and queue at 20 Mb/s and 40 ms",
    )


_AQMS: Mapping[str, Mapping[str, Any]] = {
    "RED": {"kind": "red", "min": 5, "max": 15},
    "CoDel": {"kind": "codel"},
    "FQ-CoDel": {"kind": "fq_codel"},
    "PIE": {"kind": "pie"},
    "DualPI2": {"kind": "dualpi2"},
}


def _aqm() -> Criterion:
    def point(name: str, queue: Mapping[str, Any]) -> Point:
        table = {**queue, "limit": "4bdp"}
        environment = path(20, 40, 4, 30)
        return Point(name, _changed(environment, queue=table), name in ("CoDel", "PIE"))

    return keeps_up(
        "aqm",
        "Behind an AQM",
        "7.1",
        [point(name, queue) for name, queue in _AQMS.items()],
        "AQM at 20 Mb/s, 40 ms",
        note="DualPI2 serves it in its classic queue, since no flow here sends ECT(1).",
    )


def _aqm_harm() -> Criterion:
    def runs(queue: Mapping[str, Any]) -> Making:
        environment = path(20, 40, 4, 60, beside="cubic", beside_flows=1)
        setting = {"path.queue": {**queue, "limit": "4bdp"}}
        return lambda control: {
            SOLO: scenario(replace(environment, flows=0), control).with_settings(setting),
            BESIDE: scenario(environment, control).with_settings(setting),
        }

    return replace(
        harm_to("cubic"),
        name="aqm-harm",
        source="RFC 9743, 7.1 and 5.2.1; harm by Ware et al. 2019",
        points=[Point(name, runs(queue), name == "PIE") for name, queue in _AQMS.items()],
        axis="AQM at 20 Mb/s, 40 ms",
    )


def _wireless() -> list[Criterion]:
    wifi = [
        Point(f"{mean} ms", _changed(path(20, 20, 2), wifi_jitter={"mean": f"{mean}ms"}), mean == 7)
        for mean in (1, 7, 12)
    ]
    swing = [
        Point(f"by {by}", alone(path(20, 40, 2, rate_swing=float(by))), by == 4)
        for by in (2, 4, 10)
    ]
    return [
        keeps_up("wifi", "Jitter of Wi-Fi", "6.4 and 7.2", wifi, "jitter at 20 Mb/s, 20 ms"),
        keeps_up("fading", "A rate that wanders", "6.4", swing, "factor below 20 Mb/s"),
    ]


def _reordered(rate: float, delay: str) -> Point:
    table = {"rate": rate, "delay": delay}
    return Point(
        f"{rate:.1%} by {delay}", _changed(path(20, 40, 1, 30), reorder=table), rate > 0.01
    )


def _special() -> list[Criterion]:
    delays = {"at": ["20s", "40s"], "delay": ["80ms", "20ms"]}
    outage = {"kind": "blackout", "good": "10s", "bad": "2s", "on": "both"}
    burst = {"name": "udp", "app": {"kind": "udp", "rate": "16Mbps"}, "start": "10s", "stop": "20s"}
    crossed = path(20, 40, 1, 40)
    return [
        keeps_up(
            "reroute",
            "A delay of 40 ms that becomes 160 ms for 20 s",
            "7.2 and 7.7.1",
            [Point("reroute", _changed(path(20, 40, 1), reroute=delays))],
            "20 Mb/s, 1 BDP",
        ),
        keeps_up(
            "thin",
            "A link of 64 kb/s",
            "7.3",
            [Point("64 kb/s, 200 ms", alone(path(0.064, 200, 4, 300)))],
            "4 BDP",
        ),
        keeps_up(
            "high-delay",
            "A satellite's delay of 600 ms",
            "7.4",
            [Point("20 Mb/s, 600 ms", alone(path(20, 600, 1, 120)))],
            "1 BDP",
        ),
        keeps_up(
            "reordering",
            "Packets that others overtake",
            "7.6",
            [_reordered(0.01, "5ms"), _reordered(0.02, "20ms"), _reordered(0.1, "40ms")],
            "share and delay at 20 Mb/s, 40 ms",
        ),
        keeps_up(
            "burst",
            "Datagrams that take four fifths of the link for 10 s",
            "7.7",
            [Point("burst", lambda control: {ALONE: _with_flows(crossed, control, burst)})],
            "20 Mb/s, 40 ms, 1 BDP",
        ),
        keeps_up(
            "outage",
            "Outages of 2 s, 10 s apart",
            "7.7",
            [Point("outages", _changed(path(20, 40, 1), loss=outage))],
            "20 Mb/s, 40 ms, 1 BDP",
        ),
        keeps_up(
            "data-centre",
            "A path of 0.2 ms",
            "7.9",
            [Point("1 Gb/s, 0.2 ms", alone(path(1000, 0.2, 4, 2)))],
            "4 BDP",
        ),
    ]


PART = Part(
    "rfc9743",
    "All criteria of the IETF",
    "RFC 9743, BCP 133, March 2025",
    (
        _collapse(),
        _backoff(),
        _loss_caused(),
        _among(),
        _short_own(),
        harm_to("sack", queues_bdp=_QUEUES_BDP),
        harm_to("bbr", queues_bdp=_QUEUES_BDP),
        harm_to("bbr3", queues_bdp=_QUEUES_BDP),
        _harm_delay(),
        harm_lossy(),
        _harm_real_time(),
        _aqm(),
        _aqm_harm(),
        *_wireless(),
        *_special(),
        *misbehaving.CRITERIA,
    ),
    clauses=CLAUSES,
)
