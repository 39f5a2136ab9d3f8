# SPDX-License-Identifier: BSD-3-Clause
"""Draws what `kernel record` recorded: `trace FILE --plot`."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from westwood.cli import figures, streams
from westwood.cli.options import span_s
from westwood.draw import panel
from westwood.kernel import ww_kernel
from westwood.kernel.reading import read
from westwood.results.folder import Folder


def plot(path: Path, start: str | None, end: str | None, figure: figures.Wanted) -> Path:
    """Draws a recording's panel, beside it by default; returns the path of the first file."""
    frame, is_cut = read(path)
    if is_cut:
        streams.say(f"{path}: leaves out the last record, which is cut off")
    first, last = (float(frame["time_s"].min() or 0), float(frame["time_s"].max() or 0))  # type: ignore[arg-type]
    span = span_s(start, end, (first, max(last, first + 1e-3)))
    return figure.save(
        panel.draw(panel_of(frame, path.stem, span)), Folder.containing(path), path.stem
    )


def panel_of(frame: pl.DataFrame, title: str, span: tuple[float, float]) -> panel.Panel:
    """Selects the connections that delivered most, each under its own name."""
    name = (
        pl.when(pl.col("transfer") > 1)
        .then(pl.format("{} ({})", "flow", "transfer"))
        .otherwise(pl.col("flow"))
    )
    # matplotlib reads text between two dollar signs as a formula.
    escaped = pl.col("flow", "cc").str.replace_all("$", r"\$", literal=True)
    named = frame.with_columns(name.alias("flow")).with_columns(escaped)
    title = title.replace("$", r"\$")
    busiest = (
        named.group_by("flow", maintain_order=True)
        .agg(pl.col("cc").last(), pl.col("delivered_bytes").max())
        .filter(pl.col("delivered_bytes") > 0)
        .sort("delivered_bytes", descending=True, maintain_order=True)
    )
    if busiest.is_empty():
        busiest = named.group_by("flow", maintain_order=True).agg(pl.col("cc").last())
    flows = [
        (flow, ww_kernel.CONTROLS.get(cc, cc)) for flow, cc in busiest.select("flow", "cc").rows()
    ]
    return panel.Panel(title=title, flows=flows, trace=named, span_s=span)
