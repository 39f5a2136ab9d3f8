# SPDX-License-Identifier: BSD-3-Clause
"""Lists the studies that can be reproduced, with their scenarios, claims and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import polars as pl

from westwood.catalogue import label
from westwood.draw.bars import grouped_bars
from westwood.draw.curves import THROUGHPUT, Axis, curves, numeric, panels, side_by_side
from westwood.draw.over_time import Line, TimePanel, courses, styled
from westwood.engines.result import Result
from westwood.engines.simulator import simulate
from westwood.papers import observers
from westwood.papers.checks.common import Measured, quantity
from westwood.papers.observers import Observer
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

All = Mapping[str, Measured]


@dataclass(frozen=True)
class PaperStudy:
    """An experiment of a paper."""

    title: str
    scenarios: Mapping[str, str]  # name, and the swept key on the figure's x axis ("": none)
    claims: tuple[str, ...]
    draw: Callable[[All, str], Figure]
    observer: Observer | None = None
    shown: tuple[str, ...] = field(default=("throughput_bps",))  # columns of the data tables


_PER = "bottleneck.loss.rate"
_PER_AXIS = Axis(_PER, "Packet error rate of the bottleneck", log=True)


def _curves(scenario: str, x: Axis, *, words: bool = False) -> Callable[[All, str], Figure]:
    """Draws the throughput of each protocol over x; with `words`, x is text with a unit."""

    def draw(all_: All, title: str) -> Figure:
        points = all_[scenario].points
        points = numeric(points, x.column, quantity) if words else points
        return curves(points, x, THROUGHPUT, title)

    return draw


def _panels(scenario: str, by: str, name: str) -> Callable[[All, str], Figure]:
    def draw(all_: All, title: str) -> Figure:
        points = all_[scenario].points
        return panels(points, _PER_AXIS, THROUGHPUT, title, by, name)

    return draw


def _traced(scenario: str, **settings: object) -> Result:
    return simulate(Scenario.preset(scenario).with_settings(settings), 1, trace=True)


def _line(result: Result, column: str, unit: float, flow: str, name: str = "") -> Line:
    cc = next(one.cc.name for one in result.scenario.flows if one.name == flow)
    rows = result.trace.filter(pl.col("flow") == flow, pl.col(column).is_not_nan())
    if column == "cwnd":  # duplicate ACKs inflate it in fast recovery
        rows = rows.filter(pl.col("state") != "recovery")
    return styled(name or label(cc), cc, rows["time_s"], rows[column] / unit)


def _cwnd_over_time(all_: All, title: str) -> Figure:
    lines = []
    for cc in ("westwood-ns3", "westwood+-ns3", "reno"):
        samples = _traced("fig10", **{"tcp.cc": cc}).sampled(3.0)
        lines.append(styled(label(cc), cc, samples["time_s"], samples["cwnd"]))
    return courses([TimePanel("Congestion window (segments)", lines)], f"{title}, seed 1")


def _ack_compression(all_: All, title: str) -> Figure:
    rows = []
    for cc in ("westwood-ns3", "westwood+-ns3"):
        result = _traced("ack-compression", **{"upload.cc": cc})
        line = _line(result, "estimate_bps", 1e6, "upload")
        rows.append(TimePanel("Estimate (Mb/s)", [line], {"bottleneck, 500 kb/s": 0.5}))
    return courses(rows, title)


def _udp_share(all_: All, title: str) -> Figure:
    line = _line(_traced("udp-share"), "estimate_bps", 1e6, "tcp", "Westwood's estimate")
    levels = {"payload rate of 5 Mb/s": 4.5, "the same less 2 Mb/s of UDP": 2.7}
    return courses([TimePanel("Estimate (Mb/s)", [line], levels)], title)


def _ssthresh(all_: All, title: str) -> Figure:
    rows = []
    for cc in ("westwood", "reno"):
        result = _traced("traces", **{"tcp.cc": cc, "duration": "100s"})
        lines = [
            _line(result, column, 1.0, "tcp", f"{label(cc)}: {column}")
            for column in ("cwnd", "ssthresh")
        ]
        lines[1] = Line(lines[1].name, lines[1].time_s, lines[1].value)
        rows.append(TimePanel("Window (segments)", lines, {"pipe": 57.6}))
    return courses(rows, f"{title}, seed 1")


def _rate_halving(all_: All, title: str) -> Figure:
    result = _traced("rate-halving", duration="60s")
    lines = [
        _line(result, "cwnd", 1.0, "upload", "cwnd"),
        Line("ssthresh", *_series(result, "ssthresh")),
    ]
    return courses([TimePanel("Window (segments)", lines)], f"{title}, seed 1")


def _series(result: Result, column: str) -> tuple[pl.Series, pl.Series]:
    rows = result.trace.filter(pl.col(column).is_not_nan())
    return rows["time_s"], rows[column]


def _fairness(all_: All, title: str) -> Figure:
    groups = []
    for name, text in (("fairness", "equal RTT"), ("fairness-rtt", "RTT 100 to 300 ms")):
        for queue, called in (("droptail", "drop-tail"), ("red", "RED")):
            points = all_[name].points.filter(pl.col("bottleneck.queue") == queue)
            runs = points.group_by("cc", maintain_order=True).first()
            bars = list(zip(runs["cc"], runs["jain"], runs["jain_half"], strict=True))
            groups.append((f"{text}, {called}", bars))
    return grouped_bars(groups, "Jain's fairness index", title)


def _friendliness(all_: All, title: str) -> Figure:
    points = all_["friendliness"].points
    groups = []
    for one, two, text in (
        ("reno", "reno", "20 Reno"),
        ("westwood", "westwood", "20 Westwood"),
        ("reno", "westwood", "10 of each"),
    ):
        here = points.filter((pl.col("reno.cc") == one) & (pl.col("westwood.cc") == two))
        bars = [
            (row["cc"], row["throughput_bps"] / 1e6, row["throughput_bps_half"] / 1e6)
            for row in here.iter_rows(named=True)
        ]
        groups.append((text, bars))
    return grouped_bars(groups, "Mean throughput of a flow (Mb/s)", title)


def _wired(all_: All, title: str) -> Figure:
    rows = all_["plateau-wired"].points.iter_rows(named=True)
    bars = [(row["cc"], row["throughput_bps"] / 1e6, 0.0) for row in rows]
    return grouped_bars([("", bars)], "Throughput (Mb/s)", title)


def _cte(all_: All, title: str) -> Figure:
    frames = [
        all_[f"plateau-cte-{kind}"].points.with_columns(pl.lit(kind).alias("path"))
        for kind in ("wired", "wireless")
    ]
    x = Axis("tcp.cc.cte", "Plateau divisor cte")
    figure = curves(pl.concat(frames), x, THROUGHPUT, title, by="path")
    figure.axes[0].set_ylim(4.0, 5.0)
    return figure


def _plateau_friendly(all_: All, title: str) -> Figure:
    groups = []
    points = all_["plateau-friendly"].points
    for other in ("newreno", "westwoodnr"):
        here = points.filter(pl.col("S2-tcp.cc") == other)
        bars = [
            (row["cc"], row["throughput_bps"] / 1e6, row["throughput_bps_half"] / 1e6)
            for row in here.iter_rows(named=True)
        ]
        groups.append((f"with {label(other)}", bars))
    return grouped_bars(groups, "Throughput (Mb/s)", title)


def _three(all_: All, title: str) -> Figure:
    parts = [(all_["loss"].points, _PER_AXIS)]
    for scenario, axis in (("delay", _DELAY), ("capacity", _RATE)):
        parts.append((numeric(all_[scenario].points, axis.column, quantity), axis))
    return side_by_side(parts, THROUGHPUT, title)


_DELAY = Axis("bottleneck.delay", "One-way delay of the bottleneck (ms)")
_RATE = Axis("bottleneck.rate", "Rate of the bottleneck (Mb/s)")
_BAD_RATE = Axis("bottleneck.loss.bad_rate", "Loss rate of the bad state")
_BLACKOUT = Axis("bottleneck.loss.bad", "Mean length of a blackout (s)")
_NS3, _MOBICOM, _PLATEAU = "2013 ns-3 paper", "MOBICOM 2001", "WestwoodNR+"

STUDIES: dict[str, PaperStudy] = {
    "fig5": PaperStudy(
        f"Figure 5, {_NS3}: throughput over error rate",
        {"fig5": _PER},
        (
            "ns3.fig5.order",
            "ns3.fig5.reno_equals_newreno",
            "ns3.fig5.westwoodplus_knee",
            "ns3.fig5.monotone",
        ),
        _curves("fig5", _PER_AXIS),
    ),
    "fig6": PaperStudy(
        f"Figure 6, {_NS3}: throughput over delay",
        {"fig6": "bottleneck.delay"},
        ("ns3.fig6.delay",),
        _curves("fig6", _DELAY, words=True),
    ),
    "fig7": PaperStudy(
        f"Figure 7, {_NS3}: throughput over bandwidth",
        {"fig7": "bottleneck.rate"},
        ("ns3.fig7.bandwidth",),
        _curves("fig7", _RATE, words=True),
    ),
    "fig8": PaperStudy(
        f"Figure 8, {_NS3}: delayed ACKs",
        {"fig8": _PER},
        ("ns3.fig8.delack",),
        _panels("fig8", "tcp.delayed_ack", "segments an ACK"),
    ),
    "fig9": PaperStudy(
        f"Figure 9, {_NS3}: packet sizes",
        {"fig9": _PER},
        ("ns3.fig9.mtu",),
        _panels("fig9", "tcp.packet", "packet"),
    ),
    "fig10": PaperStudy(
        f"Figure 10, {_NS3}: cwnd over time",
        {"fig10": ""},
        ("ns3.fig10.cwnd",),
        _cwnd_over_time,
        observers.SAMPLED_CWND,
        ("throughput_bps", "sampled_cwnd"),
    ),
    "fig11": PaperStudy(
        f"Figure 11, {_NS3}: estimates under ACK compression",
        {"ack-compression": ""},
        ("ns3.fig11.ack_compression",),
        _ack_compression,
        observers.ESTIMATE_RANGE,
    ),
    "udp-share": PaperStudy(
        f"{_MOBICOM}: the estimate with competing UDP",
        {"udp-share": ""},
        ("mobicom.udp_share",),
        _udp_share,
        observers.ESTIMATE_BESIDE_UDP,
    ),
    "fairness": PaperStudy(
        f"{_MOBICOM}: fairness, without and with RED",
        {"fairness": "bottleneck.queue", "fairness-rtt": "bottleneck.queue"},
        ("mobicom.fairness",),
        _fairness,
        shown=("throughput_bps", "jain", "utilisation"),
    ),
    "friendliness": PaperStudy(
        f"{_MOBICOM}: friendliness of 20 flows",
        {"friendliness": ""},
        ("mobicom.friendliness",),
        _friendliness,
        shown=("throughput_bps", "friendliness", "jain"),
    ),
    "loss-delay-capacity": PaperStudy(
        f"{_MOBICOM}: throughput over error rate, delay and capacity",
        {"loss": _PER, "delay": "bottleneck.delay", "capacity": "bottleneck.rate"},
        ("mobicom.loss_delay_capacity",),
        _three,
    ),
    "fading": PaperStudy(
        f"{_MOBICOM}: fading",
        {"fading": _BAD_RATE.column},
        ("mobicom.fading",),
        _curves("fading", _BAD_RATE),
    ),
    "blackout": PaperStudy(
        f"{_MOBICOM}: blackout",
        {"blackout": _BLACKOUT.column},
        ("mobicom.blackout",),
        _curves("blackout", _BLACKOUT, words=True),
    ),
    "satellite": PaperStudy(
        f"{_MOBICOM}: satellite link",
        {"satellite": "satellite.rate"},
        ("mobicom.satellite",),
        _curves(
            "satellite", Axis("satellite.rate", "Rate of the satellite link (Mb/s)"), words=True
        ),
    ),
    "traces": PaperStudy(
        f"{_MOBICOM}: cwnd and ssthresh",
        {"traces": ""},
        ("mobicom.traces",),
        _ssthresh,
        observers.SSTHRESH_OVER_PIPE,
        ("throughput_bps", "ssthresh_over_pipe"),
    ),
    "plateau-wired": PaperStudy(
        f"{_PLATEAU}: the wired path",
        {"plateau-wired": ""},
        ("plateau.wired",),
        _wired,
        shown=("throughput_bps", "loss_ratio"),
    ),
    "plateau-wireless": PaperStudy(
        f"{_PLATEAU}: the wireless path",
        {"plateau-wireless": _PER},
        ("plateau.wireless",),
        _curves("plateau-wireless", _PER_AXIS),
    ),
    "plateau-cte": PaperStudy(
        f"{_PLATEAU}: the height of the plateau",
        {
            "plateau-cte-wired": "tcp.cc.cte",
            "plateau-cte-wireless": "tcp.cc.cte",
            "plateau-wired": "",
        },
        ("plateau.cte", "plateau.wired_numbers"),
        _cte,
    ),
    "plateau-friendly": PaperStudy(
        f"{_PLATEAU}: competition with other protocols",
        {"plateau-friendly": ""},
        ("plateau.friendly_newreno", "plateau.friendly_westwood"),
        _plateau_friendly,
        shown=("throughput_bps", "friendliness"),
    ),
    "rate-halving": PaperStudy(
        "Linux 2.4: fast recovery with rate halving",
        {"rate-halving": ""},
        ("linux.rate_halving",),
        _rate_halving,
        observers.RECOVERIES,
        ("throughput_bps", "recoveries_seen", "longest_silence_rtts"),
    ),
}
