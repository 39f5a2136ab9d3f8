# SPDX-License-Identifier: BSD-3-Clause
"""Defines targets: a figure computed from a section's runs, and its bound.

Figures over paths are quantiles with intervals from order statistics. A cell's figure is a mean
over its paths with a bootstrap interval. The worst cell keeps the interval that it has by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from westwood.control.catalogue import UDP
from westwood.evaluation.benchmark.cases import BBR, CUBIC, Case
from westwood.evaluation.criterion import Threshold
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.results.intervals import Estimate, bootstrap, quantile
from westwood.results.metrics import jain
from westwood.search import bounds

_WORST = 3  # cases that a figure names
_SOURCE = "westwood/search/bounds.py, written before any search on these paths"


@dataclass(frozen=True)
class CaseRuns:
    """A case with the rows of the judged control and of its references.

    If a case has one seed, `own` and `against` are everything.
    """

    case: Case
    runs: Sequence[list[Row]]  # one list for each seed
    others: Mapping[str, Sequence[list[Row]]]  # runs of the references, by the control's text

    @property
    def control_rows(self) -> list[Row]:
        """Rows of the judged control's first run."""
        return self.runs[0]

    @property
    def against(self) -> Mapping[str, list[Row]]:
        """Rows of the references' first runs."""
        return {text: runs[0] for text, runs in self.others.items()}

    def over(self, control: Control, quantity: Callable[[list[Row]], float]) -> float:
        """Returns the mean of a quantity with the judged control over that with another."""
        judged_mean = mean([quantity(rows) for rows in self.runs])
        return ratio(judged_mean, mean([quantity(rows) for rows in self.others[control.text]]))


@dataclass(frozen=True)
class Statistic:
    """A result: its estimate, its cell, and the worst cases in order."""

    estimate: Estimate
    note: str = ""
    worst: tuple[tuple[float, Case], ...] = ()


@dataclass(frozen=True)
class Target:
    """A row of the table."""

    name: str
    section: str
    says: str
    of: Callable[[Sequence[CaseRuns]], Statistic]
    bound: float = math.nan  # NaN: a row for reference only
    at_most: bool = False

    @property
    def threshold(self) -> Threshold | None:
        """Returns the bound with its source; None for a row for reference only."""
        return None if math.isnan(self.bound) else Threshold(self.bound, _SOURCE, self.at_most)


def ratio(figure: float, other: float) -> float:
    """Returns a ratio: 1 for zero over zero, NaN if either was not measured."""
    if other > 0 or math.isnan(figure) or math.isnan(other):
        return figure / other
    return 1.0 if figure == other else math.inf


def mean(values: Sequence[float]) -> float:
    """Returns the mean; NaN without values."""
    return math.fsum(values) / len(values) if values else math.nan


def of_role(rows: Sequence[Row], role: str) -> list[Row]:
    """Returns the rows of the flows whose name begins with this role."""
    return [row for row in rows if row["flow"].partition("-")[0] == role]


def goodput(rows: Sequence[Row]) -> float:
    """Returns the total goodput in bit/s."""
    return math.fsum(row["goodput_bps"] for row in rows)


def loss_ratio(rows: Sequence[Row]) -> float:
    """Returns dropped and lost packets over those sent by all flows."""
    dropped = sum(row["queue_drops"] + row["lost"] for row in rows)
    return float(dropped / max(1, sum(row["sent"] for row in rows)))


def fairness(rows: Sequence[Row]) -> float:
    """Returns Jain's index; 0 if no flow gets anything."""
    index = jain([row["goodput_bps"] for row in rows])
    return 0.0 if math.isnan(index) else index


def loss_binds(ran: CaseRuns) -> bool:
    """Returns whether random loss, rather than the link, limits CUBIC on this path."""
    return goodput(ran.against[BBR.cc]) >= bounds.BINDS * goodput(ran.against[CUBIC.cc])


def kept(ran: Sequence[CaseRuns]) -> float:
    """Returns CUBIC's goodput with the control as competitor, over that with CUBIC.

    Each path counts by the share of its link, so that fast links do not dominate.
    """
    beside_ours = beside_cubic = 0.0
    for case_runs in ran:
        rate_bps = case_runs.case.environment.rate_bps
        beside_ours += goodput(of_role(case_runs.control_rows, "beside")) / rate_bps
        beside_cubic += goodput(of_role(case_runs.against[CUBIC.cc], "beside")) / rate_bps
    return ratio(beside_ours, beside_cubic)


def own_share(ran: Sequence[CaseRuns]) -> float:
    """Returns the goodput of a flow of the control over the mean of its run's TCP flows."""

    def of_run(rows: Sequence[Row]) -> float:
        even_bps = mean([row["goodput_bps"] for row in rows if row["cc"] != UDP])
        return mean([ratio(row["goodput_bps"], even_bps) for row in of_role(rows, "tcp")])

    return mean([of_run(case_runs.control_rows) for case_runs in ran])


def cells(ran: Sequence[CaseRuns]) -> dict[str, list[CaseRuns]]:
    """Groups runs by cell."""
    runs_of_cell: dict[str, list[CaseRuns]] = {}
    for case_runs in ran:
        runs_of_cell.setdefault(case_runs.case.cell, []).append(case_runs)
    return runs_of_cell


OfRan = Callable[[CaseRuns], float]
OfMany = Callable[[Sequence[CaseRuns]], float]
OfRuns = Callable[[Sequence[CaseRuns]], Statistic]


def worst_of(
    ran: Sequence[CaseRuns], quantity: OfRan, *, least: bool
) -> tuple[tuple[float, Case], ...]:
    """Returns the worst paths with their values, in order."""
    ordered = sorted(
        ((quantity(case_runs), case_runs.case) for case_runs in ran), key=lambda pair: pair[0]
    )
    return tuple((ordered if least else ordered[::-1])[:_WORST])


def always(ran: CaseRuns) -> bool:
    """Chooses every path."""
    return True


def quantile_of(
    quantity: OfRan, share: float, *, where: Callable[[CaseRuns], bool] = always, least: bool = True
) -> OfRuns:
    """Returns a function that computes a quantile over paths; `least`: low values are worst."""

    def figure(ran: Sequence[CaseRuns]) -> Statistic:
        chosen = [
            case_runs
            for case_runs in ran
            if where(case_runs) and not math.isnan(quantity(case_runs))
        ]
        note = "" if len(chosen) == len(ran) else f"{len(chosen)} of {len(ran)} paths"
        values = [quantity(case_runs) for case_runs in chosen]
        return Statistic(quantile(values, share), note, worst_of(chosen, quantity, least=least))

    return figure


def row(
    section: str,
    name: str,
    says: str,
    quantity: OfRan,
    bound: float = math.nan,
    share: float = 0.5,
    *,
    at_most: bool = False,
    cell: str = "",
    where: Callable[[CaseRuns], bool] = always,
) -> Target:
    """Makes a row of a quantile over paths, of one cell or of all."""
    figure = quantile_of(quantity, share, where=where, least=not at_most)
    return Target(name, section, says, in_cell(cell, figure) if cell else figure, bound, at_most)


def median_and_tenth(
    section: str,
    says: str,
    quantity: OfRan,
    median: float,
    tenth: float = math.nan,
    *,
    at_most: bool = False,
) -> tuple[Target, Target]:
    """Makes the rows of a section for the median of a quantity and for its worst tenth."""
    names, same = (f"{section}-median", f"{section}-tenth"), "same, worst tenth"
    share = 0.9 if at_most else 0.1
    return (
        row(section, names[0], says, quantity, median, at_most=at_most),
        row(section, names[1], same, quantity, tenth, share, at_most=at_most),
    )


def in_worst_cell(statistic: OfMany) -> OfRuns:
    """Returns a function that computes the lowest of the cells' figures."""

    def figure(ran: Sequence[CaseRuns]) -> Statistic:
        by_cell = cells(ran)
        worst = min(by_cell, key=lambda cell: statistic(by_cell[cell]))
        worst_runs = by_cell[worst]
        note = f"{worst}; {len(worst_runs)} paths a cell"
        return Statistic(
            bootstrap(worst_runs, statistic, worst),
            note,
            worst_of(worst_runs, lambda r: statistic([r]), least=True),
        )

    return figure


def in_cell(cell: str, figure: OfRuns) -> OfRuns:
    """Returns a function that computes a figure from one cell's paths."""
    return lambda ran: figure([case_runs for case_runs in ran if case_runs.case.cell == cell])


def over(control: Control, quantity: Callable[[list[Row]], float]) -> OfRan:
    """Returns a function that divides a path's quantity by that of another control."""
    return lambda ran: ran.over(control, quantity)
