# SPDX-License-Identifier: BSD-3-Clause
"""Shows the results of a campaign in a table, figures and a page.

They follow "Linux 2.4 Implementation of Westwood+ TCP with rate-halving" (Dell'Aera, Grieco and
Mascolo 2003), Table 4 and Figures 1 to 35. For every path they show the gain in goodput over the
baseline, the pipe size and the share of retransmissions. Uploads are compared in pairs, since both
of a pair met the path one after the other. The pipe size is the mean goodput times the smallest
round trip, in packets of 1500 bytes.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

import polars as pl

from westwood.control.catalogue import label
from westwood.draw import report
from westwood.draw.report import megabytes
from westwood.results.folder import Folder
from westwood.results.metrics import paired, summarise

_PACKET_BITS = 8 * 1500
_METRICS = ("goodput_bps", "retransmission_ratio", "mean_cwnd", "mean_srtt_s")
Traces = Callable[[Mapping[str, Any]], pl.DataFrame | None]


def session_means(rows: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Returns a row for each session and control: means, intervals, gain over the baseline."""
    means = summarise(rows, ["target", "size_bytes", "cc"], _METRICS)
    least = rows.group_by("target").agg(pl.col("min_rtt_s").min())
    means = means.join(least, on="target", maintain_order="left")
    pipe = (pl.col("goodput_bps") * pl.col("min_rtt_s") / _PACKET_BITS).alias("pipe")
    gains = [_gain(rows, row, baseline) for row in means.iter_rows(named=True)]
    known = {"gain": pl.Float64, "gain_ci95": pl.Float64}
    return means.with_columns(pipe).hstack(pl.DataFrame(gains, schema=known, orient="row"))


def _gain(rows: pl.DataFrame, row: Mapping[str, Any], baseline: str) -> tuple[float | None, ...]:
    """Returns the gain over the baseline's mean goodput as a fraction, and half its interval."""
    here = rows.filter(target=row["target"], size_bytes=row["size_bytes"])
    theirs = here.filter(cc=baseline)
    if row["cc"] == baseline or theirs.is_empty():
        return None, None
    pair = paired(here.filter(cc=row["cc"]), theirs, ["number"], "goodput_bps")
    mean: Any = theirs["goodput_bps"].mean()
    return pair.mean / mean, pair.half / mean


def table(frame: pl.DataFrame, baseline: str) -> pl.DataFrame:
    """Returns Table 4 as text: a row for each target and control, with ranges over sessions."""
    lines = []
    for (target, cc), mine in frame.group_by("target", "cc", maintain_order=True):
        if cc == baseline and frame["cc"].n_unique() > 1:
            continue
        theirs = frame.filter(target=target, cc=baseline)
        gains = mine.drop_nulls("gain")
        lines.append(
            {
                "target": target,
                "protocol": label(str(cc)),
                "gain": "; ".join(_percent(row) for row in gains.iter_rows(named=True)) or "-",
                "pipe": _range(mine["pipe"]),
                "min_rtt_ms": f"{1000 * float(mine['min_rtt_s'][0]):.1f}",
                "resent": _range(100 * mine["retransmission_ratio"]),
                "resent_baseline": _range(100 * theirs["retransmission_ratio"]),
                "uploads": f"{mine['runs'].sum()} and {theirs['runs'].sum()}",
            }
        )
    return pl.DataFrame(lines)


HEADS = {
    "target": "target",
    "protocol": "protocol",
    "gain": "goodput gain",
    "pipe": "pipe\n(1500 B)",
    "min_rtt_ms": "RTTmin\nms",
    "resent": "resent\n%",
    "resent_baseline": "resent %\nof baseline",
    "uploads": "uploads",
}


def _percent(row: Mapping[str, Any]) -> str:
    half = "" if row["gain_ci95"] != row["gain_ci95"] else f" ± {100 * row['gain_ci95']:.0f}"
    return f"{100 * row['gain']:+.0f}{half} % ({megabytes(row['size_bytes'])})"


def _range(values: pl.Series) -> str:
    known = sorted(float(value) for value in values.drop_nulls())
    if not known:
        return "-"
    first, last = f"{known[0]:.3g}", f"{known[-1]:.3g}"
    return first if first == last else f"{first} to {last}"


def write(
    rows: pl.DataFrame,
    baseline: str,
    name: str,
    settings: Mapping[str, Any],
    folder: Folder,
    traces: Traces,
    *,
    complete: bool,
) -> Path:
    """Writes uploads.parquet, sessions.csv, table.csv, the figures of each target, index.html."""
    means_frame = session_means(rows, baseline)
    folder.frame("uploads.parquet", rows)
    folder.frame("sessions.csv", means_frame)
    folder.frame("table.csv", table(means_frame, baseline))
    sections = [
        _section(
            folder, means_frame.filter(target=target), rows.filter(target=target), baseline, traces
        )
        for target in means_frame["target"].unique(maintain_order=True)
    ]
    title = f"{name}: uploads over {len(sections)} {'path' if len(sections) == 1 else 'paths'}"
    return report.write_last(folder, title, sections, {"plan": settings}, complete=complete)


def _section(
    folder: Folder, frame: pl.DataFrame, rows: pl.DataFrame, baseline: str, traces: Traces
) -> report.Section:
    """Writes a target's figures into the folder and returns its section of the page."""
    target = frame["target"][0]
    picture = _figures(folder, target, frame, rows, traces)
    size = pl.col("size_bytes").map_elements(megabytes, return_dtype=pl.String).alias("size")
    shown = frame.with_columns(size, pl.lit("").alias("flow"))
    columns = [name for name in _METRICS if name in frame.columns]
    data = report.Table(target, int(frame["runs"].max() or 0), shown, ["size"], columns)  # type: ignore[arg-type]
    entry = table(frame, baseline).row(0, named=True)
    heading = f"{target}: {entry['protocol']} {entry['gain']}, pipe {entry['pipe']} packets"
    return report.Section(target, heading, picture, [data])


def _figures(
    folder: Folder, target: str, frame: pl.DataFrame, rows: pl.DataFrame, traces: Traces
) -> report.Drawn | None:
    """Writes a target's figures into the folder; returns that of the page, if drawn."""

    def plots() -> ModuleType:
        return importlib.import_module("westwood.draw.campaign_plots")

    picture = report.figure(folder, f"{target}-sessions", lambda: plots().sessions(frame, target))
    if picture is None:
        return None
    report.figure(folder, f"{target}-uploads", lambda: plots().uploads(rows, target))
    first = rows.filter(size_bytes=rows["size_bytes"].max(), number=rows["number"].min())
    dynamics: Sequence[tuple[str, pl.DataFrame]] = [
        (row["cc"], trace)
        for row in first.iter_rows(named=True)
        if (trace := traces(row)) is not None and not trace.is_empty()
    ]
    if dynamics:
        report.figure(folder, f"{target}-dynamics", lambda: plots().dynamics(dynamics, target))
    return picture
