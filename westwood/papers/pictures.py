# SPDX-License-Identifier: BSD-3-Clause
"""Draws the figures of the papers' studies."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl
from matplotlib.figure import Figure

from westwood.control.catalogue import PlotStyle, label
from westwood.draw.bars import grouped_bars
from westwood.draw.curves import THROUGHPUT, Axis, curves, numeric, panels, side_by_side
from westwood.draw.grids import Grid, grids
from westwood.draw.over_time import Line, TimePanel, courses, styled
from westwood.draw.style import PALETTE
from westwood.engines.result import Result
from westwood.engines.simulator import simulate
from westwood.papers import observers
from westwood.papers.checks.common import Measured
from westwood.papers.checks.linux_2003 import REGIONS
from westwood.papers.checks.plateau import LENGTHS, like_published
from westwood.papers.checks.regions import Region
from westwood.scenario import Scenario

All = Mapping[str, Measured]


PER = "bottleneck.loss.rate"
_SSTHRESH = PlotStyle(PALETTE[1], "o", "-")
PER_AXIS = Axis(PER, "Packet error rate of the bottleneck", log=True)


def throughput_curves(
    scenario: str, x: Axis, *, words: bool = False
) -> Callable[[All, str], Figure]:
    """Draws the throughput of each protocol over x; with `words`, x is text with a unit."""

    def draw(all_: All, title: str) -> Figure:
        points = all_[scenario].points
        points = numeric(points, x.column, _as_written) if words else points
        return curves(points, x, THROUGHPUT, title)

    return draw


def throughput_panels(scenario: str, by: str, name: str) -> Callable[[All, str], Figure]:
    """Draws the throughput of each protocol over the error rate, a panel for each value of `by`."""

    def draw(all_: All, title: str) -> Figure:
        points = all_[scenario].points
        return panels(points, PER_AXIS, THROUGHPUT, title, by, name)

    return draw


def _traced(scenario: str, **settings: object) -> Result:
    return simulate(Scenario.preset(scenario).with_settings(settings), 1, trace=True)


def _control_of(result: Result, flow: str) -> str:
    return next(each.cc.name for each in result.scenario.flows if each.name == flow)


def _windows(result: Result, flow: str, cwnd: str, ssthresh: str = "ssthresh") -> list[Line]:
    """Returns a flow's window and threshold in segments, with these names."""
    rows = result.trace.filter(pl.col("flow") == flow, pl.col("ssthresh").is_not_nan())
    threshold = Line(ssthresh, rows["time_s"], rows["ssthresh"], _SSTHRESH)
    return [_line(result, "cwnd", 1.0, flow, cwnd), threshold]


def _line(result: Result, column: str, unit: float, flow: str, name: str = "") -> Line:
    cc = _control_of(result, flow)
    rows = result.trace.filter(pl.col("flow") == flow, pl.col(column).is_not_nan())
    if column == "cwnd":  # duplicate ACKs inflate it in fast recovery
        rows = rows.filter(pl.col("state") != "recovery")
    return styled(name or label(cc), cc, rows["time_s"], rows[column] / unit)


def cwnd_over_time(all_: All, title: str) -> Figure:
    """Draws the windows of Figure 10 of the 2013 paper."""
    lines = []
    for cc in ("westwood-ns3", "westwood+-ns3", "reno"):
        samples = _traced("fig10", **{"tcp.cc": cc}).sampled(3.0)
        lines.append(styled(label(cc), cc, samples["time_s"], samples["cwnd"]))
    return courses([TimePanel("Congestion window (segments)", lines)], f"{title}, seed 1")


def ack_compression(all_: All, title: str) -> Figure:
    """Draws the estimates of Figure 11 of the 2013 paper."""
    rows = []
    for cc in ("westwood-ns3", "westwood+-ns3"):
        result = _traced("ack-compression", **{"upload.cc": cc})
        line = _line(result, "estimate_bps", 1e6, "upload")
        rows.append(TimePanel("Estimate (Mb/s)", [line], {"bottleneck, 500 kb/s": 0.5}))
    return courses(rows, title)


def udp_share(all_: All, title: str) -> Figure:
    """Draws Westwood's estimate while UDP comes and goes."""
    line = _line(_traced("udp-share"), "estimate_bps", 1e6, "tcp", "Westwood's estimate")
    levels = {"payload rate of 5 Mb/s": 4.5, "the same less 2 Mb/s of UDP": 2.7}
    return courses([TimePanel("Estimate (Mb/s)", [line], levels)], title)


def ssthresh(all_: All, title: str) -> Figure:
    """Draws cwnd and ssthresh of Westwood and of Reno."""
    rows = []
    for cc in ("westwood", "reno"):
        result = _traced("traces", **{"tcp.cc": cc, "duration": "100s"})
        lines = _windows(result, "tcp", f"{label(cc)}: cwnd", f"{label(cc)}: ssthresh")
        rows.append(TimePanel("Window (segments)", lines, {"pipe": 57.6}))
    return courses(rows, f"{title}, seed 1")


def rate_halving(all_: All, title: str) -> Figure:
    """Draws the windows of a sender with rate halving."""
    result = _traced("rate-halving", duration="60s")
    panel = TimePanel("Window (segments)", _windows(result, "upload", "cwnd"))
    return courses([panel], f"{title}, seed 1")


# What the axes of grids over open settings are called.
_OPEN = {
    "rate": "Rate of the link",
    "loss.rate": "Share of packets lost",
    "queue.limit": "Queue limit",
    "duration": "Duration of a run",
}


def regions(shown_regions: Sequence[Region]) -> Callable[[All, str], Figure]:
    """Draws which cells of grids over open settings agree with the paper."""

    def draw(all_: All, title: str) -> Figure:
        parts = []
        for region in shown_regions:
            cells = region.of(all_)
            x, y = (list(dict.fromkeys(cell[n] for cell in cells.values)) for n in (0, 1))
            counts = [[sum(cells.holds((left, up))) for left in x] for up in y]
            x_name, y_name = (_OPEN[axis.partition(".")[2] or axis] for axis in region.axes)
            names = [str(value) for value in x], [str(value) for value in y]
            most = len(region.conditions)
            parts.append(Grid(region.title, x_name, y_name, *names, counts, most))
        return grids(parts, title)

    return draw


def lengths(all_: All, title: str) -> Figure:
    """Draws the grid over duration and queue, and says what makes its numbers."""
    why = "the overshoot of the start makes the numbers of short runs; long ones dilute it"
    return regions([LENGTHS])(all_, f"{title}:\n{why}")


_DRAWN = {"ucla": "3 to 6", "parma": "11 to 14"}  # figures of the report


def uploads(all_: All, title: str) -> Figure:
    """Draws windows, estimate and round trip as Figures 3 to 6 and 11 to 14 of the Linux report."""
    rows = []
    for city, figures in _DRAWN.items():
        path = _path_of(all_, city)
        for cc in ("westwood+-linux24", "newreno"):
            result = _traced("uploads", **{**path, "upload.cc": cc, "duration": "100s"})
            name = f"{label(cc)}, figures {figures}"
            lines = _windows(result, "upload", f"{name}: cwnd")
            rows.append(TimePanel(f"{REGIONS[city].title}\n(segments)", lines))
            if cc != "newreno":
                estimate = _line(result, "estimate_bps", 1e3, "upload", "bandwidth estimate")
                rtt = _line(result, "rtt_s", 1e-3, "upload", "round trip")
                more = [TimePanel("(kb/s)", [estimate]), TimePanel("(ms)", [rtt])]
        rows += more
    return courses(rows, f"{title}, seed 1")


_SERIES = 40  # uploads of each control


def series(all_: All, title: str) -> Figure:
    """Draws the goodput of alternating uploads, as Figures 15 to 35 of the Linux report."""
    panels_ = []
    for city in REGIONS:
        lines = []
        for place, cc in enumerate(("newreno", "westwood+-linux24")):
            settings = {**_path_of(all_, city), "upload.cc": cc, "upload.size": "3.2MB"}
            base = Scenario.preset("uploads").with_settings(settings)
            numbers = [2 * n + place + 1 for n in range(_SERIES)]
            goodput = [simulate(base, seed).flow_rows[0]["goodput_bps"] / 1e3 for seed in numbers]
            lines.append(styled(label(cc), cc, pl.Series(map(float, numbers)), pl.Series(goodput)))
        panels_.append(TimePanel(f"{REGIONS[city].title} (kb/s)", lines))
    figure = courses(panels_, title)
    figure.axes[-1].set_xlabel(
        "Upload, alternately by New Reno and by Westwood+; each has its seed"
    )
    return figure


def _path_of(all_: All, city: str) -> dict[str, object]:
    """Returns the settings of the path on which most of what the report says holds."""
    region = REGIONS[city]
    return {**dict(zip(region.axes, region.of(all_).best(), strict=True)), **region.at}


def original_work(all_: All, title: str) -> Figure:
    """Draws Figures 5 to 7 with the profiles of 2013 and of 2001."""
    parts = []
    for name, original, axis in (
        ("fig5", "loss", PER_AXIS),
        ("fig6", "delay", DELAY),
        ("fig7", "capacity", RATE),
    ):
        ours = all_[name].points.filter(pl.col("cc").is_in(["westwood-ns3", "reno"]))
        both = ((ours, "2013"), (all_[original].points, "2001"))
        points = pl.concat(
            [
                frame.with_columns(curve=pl.col("cc").str.replace("-ns3", "") + f", {year}")
                for frame, year in both
            ],
            how="diagonal",
        )
        parts.append(
            (points if axis is PER_AXIS else numeric(points, axis.column, _as_written), axis)
        )
    return side_by_side(parts, THROUGHPUT, title, by="curve")


def plus_fairness(all_: All, title: str) -> Figure:
    """Draws what another flow gets beside Westwood and beside Westwood+."""
    points = all_["plus-fairness"].points
    groups = []
    for other in ("reno", "newreno"):
        for cc in ("westwood-ns3", "westwood+-ns3"):
            here = points.filter(pl.col("westwood.cc") == cc, pl.col("other.cc") == other)
            groups.append((f"{label(cc)} with {label(other)}", _throughputs(here)))
    return grouped_bars(groups, "Throughput (Mb/s)", title)


def _throughputs(points: pl.DataFrame) -> list[tuple[str, float, float]]:
    """Returns a bar for each point: the protocol, and its throughput with half of its interval."""
    return [
        (row["cc"], row["throughput_bps"] / 1e6, row["throughput_bps_ci95"] / 1e6)
        for row in points.iter_rows(named=True)
    ]


def fairness(all_: All, title: str) -> Figure:
    """Draws Jain's index for each protocol and queue."""
    groups = []
    for name, text in (("fairness", "equal RTT"), ("fairness-rtt", "RTT 100 to 300 ms")):
        for queue, called in (("droptail", "drop-tail"), ("red", "RED")):
            points = all_[name].points.filter(pl.col("bottleneck.queue") == queue)
            runs = points.group_by("cc", maintain_order=True).first()
            bars = list(zip(runs["cc"], runs["jain"], runs["jain_ci95"], strict=True))
            groups.append((f"{text}, {called}", bars))
    return grouped_bars(groups, "Jain's fairness index", title)


def friendliness(all_: All, title: str) -> Figure:
    """Draws the mean throughput of a flow in each mix of 20 flows."""
    points = all_["friendliness"].points
    groups = []
    for reno, westwood, text in (
        ("reno", "reno", "20 Reno"),
        ("westwood", "westwood", "20 Westwood"),
        ("reno", "westwood", "10 of each"),
    ):
        here = points.filter((pl.col("reno.cc") == reno) & (pl.col("westwood.cc") == westwood))
        groups.append((text, _throughputs(here)))
    return grouped_bars(groups, "Mean throughput of a flow (Mb/s)", title)


def wired(all_: All, title: str) -> Figure:
    """Draws the throughput with and without the plateau on the wired path."""
    rows = all_["plateau-wired"].points.iter_rows(named=True)
    bars = [(row["cc"], row["throughput_bps"] / 1e6, 0.0) for row in rows]
    return grouped_bars([("", bars)], "Throughput (Mb/s)", title)


def cte(all_: All, title: str) -> Figure:
    """Draws the throughput over the plateau's divisor on both paths."""
    frames = [
        all_[f"plateau-cte-{kind}"].points.with_columns(pl.lit(kind).alias("path"))
        for kind in ("wired", "wireless")
    ]
    x = Axis("tcp.cc.cte", "Plateau divisor cte")
    figure = curves(pl.concat(frames), x, THROUGHPUT, title, by="path")
    figure.axes[0].set_ylim(4.0, 5.0)
    return figure


def plateau_friendly(all_: All, title: str) -> Figure:
    """Draws the throughput of two competing sources."""
    groups = []
    points = all_["plateau-friendly"].points
    for other in ("newreno", "westwoodnr"):
        here = points.filter(pl.col("S2-tcp.cc") == other)
        groups.append((f"with {label(other)}", _throughputs(here)))
    return grouped_bars(groups, "Throughput (Mb/s)", title)


def windows_and_use(all_: All, title: str) -> Figure:
    """Draws the window and the link's use, as Figures 2 to 5 of the paper on WestwoodNR+.

    The wireless path has the error rate at which the claims are decided.
    """
    rows = []
    per = like_published(all_)
    for scenario, path, losses in (
        ("plateau-wired", "wired", {}),
        ("plateau-wireless", f"wireless, error rate {per:g}", {PER: per}),
    ):
        base = Scenario.preset(scenario).with_settings(losses)
        result = simulate(base, 1, trace=True, events=True)
        lines = _windows(result, "tcp", f"{path}: cwnd", f"{path}: ssthresh")
        rows.append(TimePanel("Window (segments)", lines))
        second, use = observers.use_over_time(result)
        rows.append(TimePanel("Use of the link", [Line(f"{path}, mean so far", second, use)]))
    return courses(rows, f"{title}, seed 1")


def two_windows(all_: All, title: str) -> Figure:
    """Draws acknowledged segments and windows, as Figures 8 to 11 of the paper on WestwoodNR+."""
    rows = []
    for other in ("newreno", "westwoodnr"):
        base = Scenario.preset("plateau-friendly").with_settings({"S2-tcp.cc": other})
        result = simulate(base, 1, trace=True, events=True)
        flows = ("S1-tcp", "S2-tcp")
        windows = [_line(result, "cwnd", 1.0, flow) for flow in flows]
        acked = [_acked(result, flow) for flow in flows]
        rows.append(TimePanel("Acknowledged (segments)", [acked[0], _in_grey(acked[1])]))
        rows.append(TimePanel("cwnd (segments)", [windows[0], _in_grey(windows[1])]))
    return courses(rows, f"{title}, seed 1")


def _in_grey(line: Line) -> Line:
    """Returns the line in the other style, since two controls of a family share a colour."""
    return Line(line.name, line.time_s, line.value)


def _acked(result: Result, flow: str) -> Line:
    cc = _control_of(result, flow)
    acks = result.events.filter(pl.col("flow") == flow, pl.col("kind").cast(pl.String) == "ack")
    return styled(label(cc), cc, acks["time_s"], acks["segment"].cast(pl.Float64))


def three(all_: All, title: str) -> Figure:
    """Draws the throughput over error rate, delay and capacity."""
    parts = [(all_["loss"].points, PER_AXIS)]
    for scenario, axis in (("delay", DELAY), ("capacity", RATE)):
        parts.append((numeric(all_[scenario].points, axis.column, _as_written), axis))
    return side_by_side(parts, THROUGHPUT, title)


DELAY = Axis("bottleneck.delay", "One-way delay of the bottleneck (ms)")
RATE = Axis("bottleneck.rate", "Rate of the bottleneck (Mb/s)")
BAD_RATE = Axis("bottleneck.loss.bad_rate", "Loss rate of the bad state")
BLACKOUT = Axis("bottleneck.loss.bad", "Mean length of a blackout (s)")


def _as_written(quantity: object) -> float:
    """Returns the number of a swept quantity such as "10ms" in its own unit, which the axis has."""
    return float(str(quantity).rstrip("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ/"))
