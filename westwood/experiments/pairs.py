# SPDX-License-Identifier: BSD-3-Clause
"""Compares protocols at the same point, seed by seed: equal seeds draw equal losses."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from westwood.experiments.experiment import Experiment, per_protocol, unshown_keys
from westwood.results.columns import Row
from westwood.results.metrics import compare_pairs

if TYPE_CHECKING:
    import polars as pl

COLUMN = "goodput_bps"  # the compared column of tables


def pairs(planned: Experiment, rows: Iterable[Row], column: str = COLUMN) -> list[Row]:
    """Compares each protocol at a point with the baseline, the first protocol that ran there.

    A row has the swept keys, `flow`, `cc`, `minus` (the baseline), `column` and the fields of
    `Paired`. Many flows of one protocol count as one, by their mean.
    """
    all_rows = per_protocol(planned, list(rows), [column])
    keys = unshown_keys(planned, all_rows)
    by_flow: dict[str, list[Row]] = {}
    for row in all_rows:
        by_flow.setdefault(row["flow"], []).append(row)
    return [
        {**dict.fromkeys(keys), **pair}
        for flow_rows in by_flow.values()
        for pair in _pairs_of_flow(planned, flow_rows, column)
    ]


def pairs_of_frame(planned: Experiment, rows: pl.DataFrame, column: str = COLUMN) -> list[Row]:
    """Compares like `pairs`, but takes a frame and reads only the columns it needs."""
    needed = dict.fromkeys((*planned.varied, "flow", "cc", "seed", column))
    return pairs(planned, rows.select(*needed).iter_rows(named=True), column)


def _pairs_of_flow(planned: Experiment, rows: list[Row], column: str) -> Iterator[Row]:
    keys = unshown_keys(planned, rows)  # without the key that sets this flow's protocol
    order = list(dict.fromkeys(row["cc"] for row in rows))
    points: dict[tuple[object, ...], dict[str, dict[int, float]]] = {}
    for row in rows:
        protocols = points.setdefault(tuple(row[key] for key in keys), {})
        protocols.setdefault(row["cc"], {})[row["seed"]] = row[column]
    for point, protocols in points.items():
        settings = {**dict(zip(keys, point, strict=True)), "flow": rows[0]["flow"]}
        baseline, *others = (cc for cc in order if cc in protocols)
        minus = protocols[baseline]
        for cc in others:
            values = protocols[cc]
            common = [(value, minus[seed]) for seed, value in values.items() if seed in minus]
            pair = compare_pairs(common).entry()
            yield {**settings, "cc": cc, "minus": baseline, "column": column, **pair}
