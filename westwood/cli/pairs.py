# SPDX-License-Identifier: BSD-3-Clause
"""Prints how much the goodput of protocols differs from the first one's, paired by seed."""

from __future__ import annotations

from collections.abc import Sequence

from westwood.cli import tables
from westwood.control.catalogue import label
from westwood.experiments.pairs import COLUMN
from westwood.results.columns import Column, Row, columns
from westwood.results.tables import change, difference


def print_pairs(pairs: Sequence[Row], keys: Sequence[str], *, names_flow: bool) -> None:
    """Prints a table for each baseline, a row a point; for one point a line a protocol.

    names_flow: whether the heading names the flow, if only one of several is compared.
    """
    flows = {pair["flow"] for pair in pairs}
    of_flow = f" of {flows.pop()}" if names_flow and len(flows) == 1 else ""
    for baseline in dict.fromkeys(pair["minus"] for pair in pairs):
        points: dict[tuple[object, ...], list[Row]] = {}
        for pair in pairs:
            if pair["minus"] == baseline:
                points.setdefault((*(pair[key] for key in keys), pair["flow"]), []).append(pair)
        title = f"Goodput{of_flow} against {label(baseline)}, {_sampling(pairs)}"
        if len(points) == 1:
            print(tables.wrapped(f"{title}:", ""))
            for pair in next(iter(points.values())):
                print(tables.wrapped(_line(pair), "  "))
            print()
        else:
            _print_table(list(points.values()), keys, title)


def _sampling(pairs: Sequence[Row]) -> str:
    """Describes how many seeds the pairs have, and whether they give intervals."""
    fewest, most = min(pair["runs"] for pair in pairs), max(pair["runs"] for pair in pairs)
    if most < 2:
        return "one seed"
    seeds = str(most) if fewest == most else f"{fewest} to {most}"
    return f"paired by seed ({seeds} seeds, 95 % intervals)"


def _line(pair: Row) -> str:
    column, unit = _goodput()
    in_units, in_percent = _cells(column, pair)
    return f"{label(pair['cc'])}: {in_units} {unit}, {in_percent} %"


def _print_table(points: Sequence[Sequence[Row]], keys: Sequence[str], title: str) -> None:
    column, unit = _goodput()
    shown = [key for key in keys if any(pairs[0][key] is not None for pairs in points)]
    if len({pairs[0]["flow"] for pairs in points}) > 1:
        shown.append("flow")
    protocols = list(dict.fromkeys(pair["cc"] for pairs in points for pair in pairs))
    numbers = [f"{label(points[0][0]['minus'])}\n{unit}"]
    for cc in protocols:
        numbers += [f"{label(cc)}\nΔ {unit}", f"{label(cc)}\nΔ %"]
    rows = []
    for pairs in points:
        cells = ["-" if pairs[0][key] is None else str(pairs[0][key]) for key in shown]
        cells.append(column.cell(pairs[0]["minus_mean"]))
        pair_of = {pair["cc"]: pair for pair in pairs}
        for cc in protocols:
            cells += _cells(column, pair_of[cc]) if cc in pair_of else ["-", "-"]
        rows.append(tuple(cells))
    table = tables.Cells((*shown, *numbers), tuple(rows))
    tables.print_numbers(table, title, numbers=numbers, expendable=[numbers[1::2]])


def _cells(column: Column, pair: Row) -> list[str]:
    return [difference(column, pair), change(pair["ratio"], pair["ratio_ci95"])]


def _goodput() -> tuple[Column, str]:
    """Returns the compared column and its unit in tables."""
    column = next(goodput_column for goodput_column in columns() if goodput_column.name == COLUMN)
    return column, column.head.split("\n")[-1]
