# SPDX-License-Identifier: BSD-3-Clause
"""What a control must reach: each target is a figure of what ran in a section, and its bound.

Figures over paths are quantiles with intervals by order statistics. Figures of a cell are means
over its paths, with bootstrap intervals; that of the worst cell is the interval it has by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from westwood.judge.cases import BBR, CUBIC, POINTS, Case, Control
from westwood.results.columns import Row
from westwood.results.intervals import Estimate, bootstrap, quantile
from westwood.results.metrics import jain
from westwood.search import bounds

_POINT_BOUNDS = {"point-lossy": bounds.UPLINK_MBPS}
_WORST = 3  # cases that a figure names


@dataclass(frozen=True)
class Ran:
    """Is a case with its rows: of the control that is judged, and of those it is held against."""

    case: Case
    own: list[Row]
    against: Mapping[str, list[Row]]

    def over(self, control: Control, of: Callable[[list[Row]], float]) -> float:
        """What is measured with the judged control over what is with the other one."""
        return ratio(of(self.own), of(self.against[control.cc]))


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


def _worst(ran: Sequence[Ran], of: OfRan, *, least: bool) -> tuple[tuple[float, Case], ...]:
    ordered = sorted(((of(one), one.case) for one in ran), key=lambda pair: pair[0])
    return tuple((ordered if least else ordered[::-1])[:_WORST])


def _quantile(
    of: OfRan, share: float, *, where: Callable[[Ran], bool] = bool, least: bool = True
) -> Callable[[Sequence[Ran]], Figure]:
    def figure(ran: Sequence[Ran]) -> Figure:
        chosen = [one for one in ran if where(one) and not math.isnan(of(one))]
        note = "" if len(chosen) == len(ran) else f"{len(chosen)} of {len(ran)} paths"
        values = [of(one) for one in chosen]
        return Figure(quantile(values, share), note, _worst(chosen, of, least=least))

    return figure


def _in_worst_cell(of: OfMany) -> Callable[[Sequence[Ran]], Figure]:
    def figure(ran: Sequence[Ran]) -> Figure:
        by_cell = cells(ran)
        worst = min(by_cell, key=lambda cell: of(by_cell[cell]))
        own = by_cell[worst]
        note = f"{worst}; {len(own)} paths a cell"
        return Figure(bootstrap(own, of, worst), note, _worst(own, lambda r: of([r]), least=True))

    return figure


def _binding(ran: Sequence[Ran]) -> Figure:
    return Figure(bootstrap([float(loss_binds(one)) for one in ran], mean, "binding"))


def _in_cell(cell: str, figure: Callable[[Sequence[Ran]], Figure]) -> Callable[..., Figure]:
    return lambda ran: figure([one for one in ran if one.case.cell == cell])


def _mbps(ran: Sequence[Ran]) -> Figure:
    means = ", ".join(
        f"{control.cc} {mean([goodput(one.against[control.cc]) for one in ran]) / 1e6:.3g}"
        for control in (CUBIC, BBR)
    )
    values = [goodput(one.own) / 1e6 for one in ran]
    return Figure(bootstrap(values, mean, "points"), f"{means}; {len(ran)} runs")


def _over(control: Control, of: Callable[[list[Row]], float]) -> OfRan:
    return lambda ran: ran.over(control, of)


_CLEAN, _LOSS = _over(CUBIC, goodput), _over(BBR, goodput)


def _of_transfers(column: str) -> OfRan:
    return _over(CUBIC, lambda rows: float(of_role(rows, "short")[0][column]))


def _short() -> Iterator[Target]:
    for cell, name in (("alone", "short"), ("beside CUBIC", "shared")):
        for share in ("p50", "p95"):
            over = _quantile(_of_transfers(f"completion_{share}_s"), 0.5, least=False)
            says = f"completion/CUBIC's, {share}" if cell == "alone" else f"{cell}, {share}"
            figure = _in_cell(cell, over)
            yield Target(f"{name}-{share}", "short", says, figure, bounds.SHORT, at_most=True)


def _points() -> Iterator[Target]:
    for name, (mbps, rtt_ms, queue_bdp, loss) in POINTS.items():
        queue = f", {queue_bdp:g}BDP" if queue_bdp != 1 else ""
        says = f"Mb/s: {mbps}, {rtt_ms}ms{queue}" + (f", {loss:.1%}" if loss else "")
        yield Target(name, "point", says, _in_cell(name, _mbps), _POINT_BOUNDS.get(name, math.nan))


def _queue(rows: Sequence[Row]) -> float:
    return float(rows[0]["mean_queue"])


TARGETS = (
    Target(
        "clean-median",
        "clean",
        "goodput/CUBIC's, median",
        _quantile(_CLEAN, 0.5),
        bounds.CLEAN_MEDIAN,
    ),
    Target("clean-tenth", "clean", "same, worst tenth", _quantile(_CLEAN, 0.1), bounds.CLEAN_TENTH),
    Target(
        "clean-queue",
        "clean",
        "queue/CUBIC's, median",
        _quantile(_over(CUBIC, _queue), 0.5, least=False),
        bounds.CLEAN_QUEUE,
        at_most=True,
    ),
    Target(
        "loss-median", "loss", "goodput/BBR's, median", _quantile(_LOSS, 0.5), bounds.LOSS_MEDIAN
    ),
    Target("loss-tenth", "loss", "same, worst tenth", _quantile(_LOSS, 0.1), bounds.LOSS_TENTH),
    Target(
        "loss-binds",
        "loss",
        "BBR's, where loss binds",
        _quantile(_LOSS, 0.5, where=loss_binds),
        bounds.LOSS_BINDS,
    ),
    Target("loss-share", "loss", "paths where loss binds", _binding),
    *_points(),
    Target(
        "beside-kept", "beside", "CUBIC keeps, worst cell", _in_worst_cell(kept), bounds.CUBIC_KEEPS
    ),
    Target(
        "beside-tenth", "beside", "CUBIC keeps, worst tenth", _quantile(lambda r: kept([r]), 0.1)
    ),
    Target(
        "beside-own", "beside", "own/even share, worst", _in_worst_cell(own_share), bounds.OWN_SHARE
    ),
    Target(
        "among",
        "among",
        "Jain's index, worst cell",
        _in_worst_cell(lambda ran: mean([fairness(one.own) for one in ran])),
        bounds.AMONG,
    ),
    Target(
        "mixed",
        "mixed",
        "Jain/CUBIC's, 10-160 ms",
        _quantile(_over(CUBIC, fairness), 0.5),
        bounds.DISTANT,
    ),
    *_short(),
    Target(
        "collapse",
        "collapse",
        "loss/CUBIC's, 100 flows",
        _quantile(_over(CUBIC, loss_ratio), 0.5, least=False),
        bounds.COLLAPSE,
        at_most=True,
    ),
)
