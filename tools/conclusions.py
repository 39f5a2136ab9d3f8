# SPDX-License-Identifier: BSD-3-Clause
"""Writes the first sentences of the pages of evidence, from the tables on the same page.

`python -m tools.pages conclusions` writes what stands between `<!-- result -->` and its end.
tools/claim_tables.py does it for the papers' claims.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from tools.pages import DOCS, replace, table_of

Row = dict[str, str]
_RATIO = re.compile(r"\d+\.\d+")
_NEAR = 0.05  # a mean that is this near to theory's agrees


def rows(text: str) -> list[Row]:
    """Returns the rows of the first table in a text, by the heads of its columns."""
    first = text[text.index("|") :].split("\n\n")[0]
    lines = [line for line in first.splitlines() if line.startswith("|")]
    heads, _, *body = ([cell.strip() for cell in line[1:-1].split("|")] for line in lines)
    return [dict(zip(heads, cells, strict=True)) for cells in body]


def _under(text: str, heading: str, start: str = "|") -> str:
    """Returns the text from the first such line below a heading."""
    below = text[text.index(f"\n{heading}\n") :]
    return below[below.index(f"\n{start}") + 1 :]


def _count(cell: str) -> tuple[int, int]:
    """Reads "3 of 4"."""
    counts = re.search(r"(\d+) of (\d+)", cell)
    assert counts, cell
    return int(counts[1]), int(counts[2])


def _spread(cell: str) -> tuple[float, float]:
    least, most = map(float, _RATIO.findall(cell)[-2:])
    return least, most


def comparison(text: str) -> Iterable[str]:
    """ns-3 and ns-2: what agrees, and what does not."""
    flows = rows(table_of("reference", text))
    agree, paths = (sum(int(row[key]) for row in flows) for key in ("agree", "paths"))
    yield f"Of one flow's {paths} comparisons with ns-3's NewReno with SACK {agree} agree."
    others = rows(table_of("comparators", text))
    whole = [row["runs"] for row in others if row["agree"] == row["paths"]]
    worst = min(others, key=lambda row: int(row["agree"]) / int(row["paths"]))
    yield (
        f"Of the other controls {' and '.join(whole)} agree on every path, and {worst['runs']} "
        f"agrees least: on {worst['agree']} of {worst['paths']}."
    )
    grids = rows(_under(text, "## Five grids", "| grid | rows"))
    parts = ", ".join(
        f"{row['grid']} {row['goodput within 5 %'].partition(';')[0]}" for row in grids
    )
    yield f"Goodput within 5 % of ns-3's, by grid: {parts}."
    bbr = rows(_under(text, "## BBR against ns-3"))
    parts = "; ".join(f"{row['control']}: {row['goodput within 5 %']}" for row in bbr)
    yield f"On the grid `bbr`, {parts}."
    ns2 = {row[""]: row for row in rows(table_of("against ns-2", text))}
    early, late = [
        ns2["together"][grid].partition(", ")[2] for grid in ("`2001-own`", "`2005-own`")
    ]
    yield (
        f"With ns-2's own rules {early} and {late} of the points of Tahoe, Reno, NewReno and "
        "SACK are within 5 % of ns-2's goodput; Vegas and Linux's Westwood are others there."
    )


def kernel(text: str) -> Iterable[str]:
    """The kernel: the grids, virtual time, the evaluation's scenarios, what fails."""
    grids = rows(_under(text, "## Results"))
    near, points = map(sum, zip(*(_count(row["goodput within 7 %"]) for row in grids), strict=True))
    yield f"Goodput is within 7 % of the kernel's in {near} of {points} rows of five grids."
    name, (least, most) = max(
        ((row["grid"], _spread(row["simulator over kernel, least to most"])) for row in grids),
        key=lambda spread: max(1 - spread[1][0], spread[1][1] - 1),
    )
    yield f"The largest differences are in {name}: {least} to {most} times the kernel's goodput."
    um = rows(_under(text, "### Linux 6.12 in virtual time"))
    close, total = map(sum, zip(*(_count(row["goodput within 3 %"]) for row in um), strict=True))
    yield f"Linux 6.12 in virtual time is within 3 % in {close} of {total} rows."
    bbr = rows(_under(text, "## Results", "| goodput within 7 %"))
    last = bbr[-1]
    what = next(iter(last.values())).partition(",")[0]
    three, first = (last[name].partition(";")[0] for name in ("BBRv3", "BBRv1"))
    yield (f"BBR {what}: BBRv3 is within 7 % on {three} of 5 paths, and BBRv1 on {first}.")
    judged = rows(table_of("evaluation", text))
    apart = [row for row in judged if "**" in row["difference"]]
    names = ", ".join(
        f"{row['criterion, point'].split(',')[0]} of {row['control']}" for row in apart
    )
    yield (
        f"Of {len(judged)} rows of `westwood evaluate`'s scenarios {len(judged) - len(apart)} "
        f"are within 7 %; the others are {names}."
    )


def theory(text: str) -> Iterable[str]:
    """The formulas: where they agree, and how far the worst is off."""
    for name, what in (
        ("periodic", "periodic losses, 1.22 / sqrt(p)"),
        ("random", "random losses, 1.31 / sqrt(p)"),
        ("cubic", "CUBIC's response function"),
    ):
        ratios = [float(row["ratio"].split(" ")[0]) for row in rows(table_of(name, text))]
        yield f"For {what}, the measured mean is {min(ratios)} to {max(ratios)} of theory's."
    pftk = [float(row["ratio"].split(" ")[0]) for row in rows(table_of("pftk", text))]
    queues = [*rows(table_of("md1", text)), *rows(table_of("sum-dd1", text))]
    agree = sum(_holds_one(row["ratio"]) for row in queues)
    yield (
        f"PFTK's rate is not reached ({min(pftk)} to {max(pftk)}), and {agree} of {len(queues)} "
        "points of the queueing models agree within their intervals."
    )
    fifty = {
        row["Jain's index"]: float(row["50 flows"].split(" ")[0])
        for row in rows(table_of("fairness", text))
    }
    unfair = [name for name, index in fifty.items() if index < 0.9]
    yield (
        f"Of fifty equal flows {len(fifty) - len(unfair)} of {len(fifty)} controls have a Jain's "
        f"index of 0.9 or more; the least fair is {min(fifty, key=lambda name: fifty[name])} "
        f"with {min(fifty.values()):.2f}."
    )


def _holds_one(ratio: str) -> bool:
    mean, _, half = ratio.partition(" ± ")
    return abs(float(mean) - 1) <= float(half)


def quic(text: str) -> Iterable[str]:
    """The stacks: goodput, short transfers, what a stack does not report."""
    stacks = rows(table_of("quic tables", text))
    ours = [row for row in stacks if row["CUBIC"] != "Linux's"]
    least = min(_count(row["goodput"])[0] for row in ours)
    yield f"CUBIC in quinn and noq is within 10 % of our TCP's goodput on {least} of 40 paths."
    medians = ", ".join(
        f"{row['CUBIC']} {row['completion, median'].partition(';')[0]}" for row in ours
    )
    yield f"Transfers of 100 kB take longer (median, over our TCP): {medians}."
    linux = next(row for row in stacks if row["CUBIC"] == "Linux's")
    goodput, done = _count(linux["goodput"]), _count(linux["completion, median"])
    yield (
        f"Linux's CUBIC is within 10 % on {goodput[0]} of {goodput[1]} paths in goodput, and on "
        f"{done[0]} in completion."
    )
    reports = {
        row["without"].split(":")[0]: row["CUBIC"] for row in rows(table_of("quic reports", text))
    }
    rate = reports["the control's rate"].rpartition("; ")[2]
    yield f"Because quinn ignores a control's rate, CUBIC's goodput falls, at worst to {rate}."
    inside = next(cell for name, cell in reports.items() if "quinn does not report" in name)
    yield f"All that quinn does not report makes it fall at worst to {inside.rpartition('; ')[2]}."


CONCLUSIONS: dict[str, Callable[[str], Iterable[str]]] = {
    "comparison.md": comparison,
    "kernel-comparison.md": kernel,
    "theory.md": theory,
    "quic.md": quic,
}


def written(name: str, text: str) -> str:
    """Returns the sentences of a page with this text."""
    return " ".join(CONCLUSIONS[name](text)) + "\n"


def write(words: Sequence[str] = ()) -> None:
    """Writes the sentences into the pages, or into those that are named."""
    for name in words or CONCLUSIONS:
        page = DOCS / name
        replace(page, {"result": written(name, page.read_text(encoding="utf-8"))})
