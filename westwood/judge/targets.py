# SPDX-License-Identifier: BSD-3-Clause
"""What a control must reach: each target is a figure of what ran in a section, and its bound.

Figures over paths are quantiles with intervals by order statistics. Figures of a cell are means
over its paths, with bootstrap intervals; that of the worst cell is the interval it has by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from westwood.judge.cases import BBR, CUBIC, Case, Control
from westwood.results.columns import Row
from westwood.results.intervals import Estimate, bootstrap, quantile
from westwood.results.metrics import jain
from westwood.search import bounds

_WORST = 3  # cases that a figure names


@dataclass(frozen=True)
class Ran:
    """Is a case with its rows: of the control that is judged, and of those it is held against.

    Where a case has one seed, `own` and `against` are all.
    """

    case: Case
    runs: Sequence[list[Row]]  # one a seed
    others: Mapping[str, Sequence[list[Row]]]  # by the control's text

    @property
    def own(self) -> list[Row]:
        """The rows of the first run with the control that is judged."""
        return self.runs[0]

    @property
    def against(self) -> Mapping[str, list[Row]]:
        """The rows of the first runs with the others."""
        return {text: runs[0] for text, runs in self.others.items()}

    def over(self, control: Control, of: Callable[[list[Row]], float]) -> float:
        """What is measured with the judged control over what is with the other one: means."""
        own = mean([of(rows) for rows in self.runs])
        return ratio(own, mean([of(rows) for rows in self.others[control.text]]))


@dataclass(frozen=True)
class Figure:
    """Is what came out, which cell it is of, and the cases that are worst, the worst first."""

    estimate: Estimate
    note: str = ""
    worst: tuple[tuple[float, Case], ...] = ()


@dataclass(frozen=True)
class Target:
    """Is a row of the table."""

    name: str
    section: str
    says: str
    of: Callable[[Sequence[Ran]], Figure]
    bound: float = math.nan  # none: a row of reference
    at_most: bool = False

    def reached(self, value: float) -> bool | None:
        """Says whether a value is what the target asks for; None without a bound or a value."""
        if math.isnan(self.bound) or math.isnan(value):
            return None
        return value <= self.bound if self.at_most else value >= self.bound

    @property
    def sense(self) -> str:
        """The bound in words."""
        if math.isnan(self.bound):
            return ""
        return f"{'<=' if self.at_most else '>='}{self.bound:g}"


def ratio(one: float, other: float) -> float:
    """One over the other; two nothings are alike. NaN, where one was not measured, stays NaN."""
    if other > 0 or math.isnan(one) or math.isnan(other):
        return one / other
    return 1.0 if one == other else math.inf


def mean(values: Sequence[float]) -> float:
    """The mean; NaN of nothing."""
    return math.fsum(values) / len(values) if values else math.nan


def of_role(rows: Sequence[Row], role: str) -> list[Row]:
    """The rows of the flows with this role: the first word of their names."""
    return [row for row in rows if row["flow"].partition("-")[0] == role]


def goodput(rows: Sequence[Row]) -> float:
    """The sum over the flows, bit/s."""
    return math.fsum(row["goodput_bps"] for row in rows)


def loss_ratio(rows: Sequence[Row]) -> float:
    """Dropped and lost over sent, of all flows together."""
    dropped = sum(row["queue_drops"] + row["lost"] for row in rows)
    return float(dropped / max(1, sum(row["sent"] for row in rows)))


def fairness(rows: Sequence[Row]) -> float:
    """Jain's index; flows that have nothing at all are not fair."""
    index = jain([row["goodput_bps"] for row in rows])
    return 0.0 if math.isnan(index) else index


def loss_binds(ran: Ran) -> bool:
    """Says whether random loss, not the link, holds CUBIC back on this path."""
    return goodput(ran.against[BBR.cc]) >= bounds.BINDS * goodput(ran.against[CUBIC.cc])


def kept(ran: Sequence[Ran]) -> float:
    """What CUBIC's flows have beside the control, over what they have beside CUBIC's own.

    A path counts by the share of its link, so that a fast one does not outvote the others.
    """
    beside_ours = beside_cubic = 0.0
    for one in ran:
        rate_bps = one.case.environment.rate_bps
        beside_ours += goodput(of_role(one.own, "beside")) / rate_bps
        beside_cubic += goodput(of_role(one.against[CUBIC.cc], "beside")) / rate_bps
    return ratio(beside_ours, beside_cubic)


def own_share(ran: Sequence[Ran]) -> float:
    """What a flow of the control has, over an even share of what all flows have."""
    return mean([mean([row["friendliness"] for row in of_role(one.own, "tcp")]) for one in ran])


def cells(ran: Sequence[Ran]) -> dict[str, list[Ran]]:
    """Sorts what ran by cell."""
    found: dict[str, list[Ran]] = {}
    for one in ran:
        found.setdefault(one.case.cell, []).append(one)
    return found


OfRan = Callable[[Ran], float]
OfMany = Callable[[Sequence[Ran]], float]
OfRuns = Callable[[Sequence[Ran]], Figure]


def worst_of(ran: Sequence[Ran], of: OfRan, *, least: bool) -> tuple[tuple[float, Case], ...]:
    """Returns the worst paths with their values, the worst first."""
    ordered = sorted(((of(one), one.case) for one in ran), key=lambda pair: pair[0])
    return tuple((ordered if least else ordered[::-1])[:_WORST])


def always(ran: Ran) -> bool:
    """Chooses every path."""
    return True


def quantile_of(
    of: OfRan, share: float, *, where: Callable[[Ran], bool] = always, least: bool = True
) -> OfRuns:
    """Makes the figure that is a quantile over paths; the worst are the least, or the largest."""

    def figure(ran: Sequence[Ran]) -> Figure:
        chosen = [one for one in ran if where(one) and not math.isnan(of(one))]
        note = "" if len(chosen) == len(ran) else f"{len(chosen)} of {len(ran)} paths"
        values = [of(one) for one in chosen]
        return Figure(quantile(values, share), note, worst_of(chosen, of, least=least))

    return figure


def in_worst_cell(of: OfMany) -> OfRuns:
    """Makes the figure that is the least of the cells'."""

    def figure(ran: Sequence[Ran]) -> Figure:
        by_cell = cells(ran)
        worst = min(by_cell, key=lambda cell: of(by_cell[cell]))
        own = by_cell[worst]
        note = f"{worst}; {len(own)} paths a cell"
        return Figure(bootstrap(own, of, worst), note, worst_of(own, lambda r: of([r]), least=True))

    return figure


def in_cell(cell: str, figure: OfRuns) -> OfRuns:
    """Makes the same figure of one cell's paths alone."""
    return lambda ran: figure([one for one in ran if one.case.cell == cell])


def over(control: Control, of: Callable[[list[Row]], float]) -> OfRan:
    """Makes what is measured of a path over what is with another control."""
    return lambda ran: ran.over(control, of)
