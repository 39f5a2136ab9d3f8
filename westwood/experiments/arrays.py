# SPDX-License-Identifier: BSD-3-Clause
"""Turns rows into labelled arrays."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from westwood import extras

if TYPE_CHECKING:
    import xarray as xr


def to_xarray(rows: pl.DataFrame, keys: Sequence[str] = ()) -> xr.Dataset:
    """Turns rows into a labelled array; `pip install westwood[xarray]` brings what it needs."""
    extras.need("xarray", "to_xarray()")
    import xarray as xr

    places = [*keys, "flow", "cc", "seed"]
    others = [name for name in rows.columns if name not in (*places, "point")]
    numbers = [name for name in others if rows[name].dtype.is_numeric()]
    labels = {name: rows[name].unique(maintain_order=True).to_list() for name in places}
    schema = {name: rows.schema[name] for name in places}
    grid = pl.DataFrame(list(itertools.product(*labels.values())), schema=schema, orient="row")
    joined = grid.join(rows, on=places, how="left", maintain_order="left")
    shape = [len(labels[name]) for name in places]
    data = {
        name: (places, joined[name].cast(pl.Float64).to_numpy().reshape(shape)) for name in numbers
    }
    return xr.Dataset(data, coords=labels)
