# SPDX-License-Identifier: BSD-3-Clause
"""Defines the rows on the wide population, beginning with harm to others.

A quantity of a path with several seeds is the sum over them. The share resent is that of the worst
seed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from westwood.evaluation.benchmark.cases import BBR, CUBIC, CUBIC_AGAIN, WESTWOOD
from westwood.evaluation.benchmark.targets import (
    CaseRuns,
    OfRan,
    OfRuns,
    Statistic,
    Target,
    fairness,
    goodput,
    in_worst_cell,
    loss_binds,
    mean,
    median_and_tenth,
    of_role,
    over,
    ratio,
    row,
    worst_of,
)
from westwood.results.columns import Row
from westwood.results.intervals import Estimate, bootstrap
from westwood.search import bounds


def _beside(rows: Sequence[Row]) -> float:
    return goodput(of_role(rows, "beside"))


def _ours(rows: Sequence[Row]) -> float:
    return goodput(of_role(rows, "tcp"))


def resent(rows: Sequence[Row]) -> float:
    """Returns packets resent over packets sent by the flows under test."""
    return _of_sent(rows, "retransmitted")


def resent_beyond(rows: Sequence[Row]) -> float:
    """Returns packets resent, less those that the wire lost, over packets sent."""
    return _of_sent(rows, "retransmitted") - _of_sent(rows, "lost")


def _of_sent(rows: Sequence[Row], column: str) -> float:
    ours = of_role(rows, "tcp")
    return float(sum(row[column] for row in ours) / max(1, sum(row["sent"] for row in ours)))


def resent_over_cubic(ran: CaseRuns) -> float:
    """Returns the share resent beyond wire losses over CUBIC's, each in its worst seed."""
    cubic = max(resent(rows) for rows in ran.others[CUBIC.text])
    most = max(resent_beyond(rows) for rows in ran.runs)
    return ratio(max(most, 0.0) + bounds.RESENT_LEAST, cubic + bounds.RESENT_LEAST)


def _excess(ran: CaseRuns, rows: Sequence[Row]) -> float:
    """Returns what a run resends beyond wire losses; 0 up to RESENT times CUBIC's."""
    cubic = max(resent(others) for others in ran.others[CUBIC.text])
    judged = resent_beyond(rows)
    return judged if judged > bounds.RESENT * cubic else 0.0


def runaways(ran: Sequence[CaseRuns]) -> Statistic:
    """Counts runs that resend excessively; the interval resamples paths."""
    excess = [
        ([_excess(case_runs, rows) for rows in case_runs.runs], case_runs.case) for case_runs in ran
    ]
    counts = [float(sum(run > bounds.RUNAWAY for run in runs)) for runs, _ in excess]
    worst = sorted(((max(runs), case) for runs, case in excess), key=lambda pair: -pair[0])
    total = sum(len(runs) for runs, _ in excess)
    return Statistic(bootstrap(counts, math.fsum, "runaways"), f"of {total} runs", tuple(worst[:3]))


def _itself(quantity: Callable[[list[Row]], float]) -> OfRan:
    """Returns a function that compares CUBIC with itself on other seeds, to show the noise."""

    def again(ran: CaseRuns) -> float:
        once, twice = (
            mean([quantity(rows) for rows in ran.others[control.text]])
            for control in (CUBIC, CUBIC_AGAIN)
        )
        return ratio(twice, once)

    return again


def less_fair_than_cubic(ran: CaseRuns) -> float:
    """Returns Jain's index among its flows, less that among CUBIC's."""
    return mean([fairness(rows) for rows in ran.runs]) - mean(
        [fairness(rows) for rows in ran.others[CUBIC.text]]
    )


def _latest(rows: Sequence[Row]) -> float:
    return float(of_role(rows, "tcp")[-1]["goodput_bps"])


def over_best(ran: CaseRuns) -> float:
    """Returns goodput over the larger of Westwood+'s and BURSTS_OF_BBR of BBRv1's."""
    bbr, westwood = (
        mean([goodput(rows) for rows in ran.others[control.text]]) for control in (BBR, WESTWOOD)
    )
    goodput_bps = mean([goodput(rows) for rows in ran.runs])
    return ratio(goodput_bps, max(bounds.BURSTS_OF_BBR * bbr, westwood))


_KEPT, _ALONE, _OVER_BBR = over(CUBIC, _beside), over(CUBIC, goodput), over(BBR, goodput)
_LATE = over(CUBIC, _latest)
_BRIEF = over(CUBIC, lambda rows: float(of_role(rows, "short")[0]["completion_p50_s"]))


def _worst_path(quantity: OfRan, *, least: bool = True) -> OfRuns:
    """Returns a function that computes the worst path; unseen paths may be worse still."""

    def figure(ran: Sequence[CaseRuns]) -> Statistic:
        (value, case), *others = worst_of(ran, quantity, least=least)
        low, high = (-math.inf, value) if least else (value, math.inf)
        return Statistic(Estimate(value, low, high), "", ((value, case), *others))

    return figure


def _wire(name: str, says: str, cell: str, bound: float = math.nan, share: float = 0.5) -> Target:
    return row("wire", name, says, _OVER_BBR, bound, share, cell=cell, where=loss_binds)


def _runaways(name: str, section: str) -> Target:
    return Target(name, section, "runs resending > 1/5", runaways, bounds.RUNAWAYS, at_most=True)


ROWS = (
    *median_and_tenth(
        "alone", "goodput/CUBIC's, median", _ALONE, bounds.ALONE_MEDIAN, bounds.ALONE_TENTH
    ),
    _wire("wire-binds", "BBRv1's, where loss binds", "deep", bounds.WIRE_BINDS),
    _wire("wire-tenth", "same, worst tenth", "deep", share=0.1),
    _wire("wire-thin", "same, queue < 0.1 BDP", "thin"),
    *median_and_tenth("bursts", "max(0.8 BBRv1, Westwood+)", over_best, bounds.BURSTS),
    *median_and_tenth(
        "shared", "CUBIC keeps, median", _KEPT, bounds.KEEPS_MEDIAN, bounds.KEEPS_TENTH
    ),
    Target("shared-worst", "shared", "same, worst path", _worst_path(_KEPT), bounds.KEEPS_WORST),
    row("shared", "shared-self", "CUBIC/itself, tenth", _itself(_beside), bounds.KEEPS_ITSELF, 0.1),
    row("shared", "shared-own", "own/CUBIC's, tenth", over(CUBIC, _ours), share=0.1),
    row(
        "shared",
        "resent-tenth",
        "resent/CUBIC's, tenth",
        resent_over_cubic,
        bounds.RESENT,
        0.9,
        at_most=True,
    ),
    Target(
        "resent-worst", "shared", "same, worst path", _worst_path(resent_over_cubic, least=False)
    ),
    _runaways("runaways", "shared"),
    Target(
        "crowd",
        "crowd",
        "Jain-CUBIC's, worst cell",
        in_worst_cell(lambda ran: mean([less_fair_than_cubic(case_runs) for case_runs in ran])),
        bounds.CROWD,
    ),
    _runaways("crowd-runaways", "crowd"),
    *median_and_tenth("late", "latecomer/CUBIC's", _LATE, bounds.LATE_MEDIAN, bounds.LATE_TENTH),
    row("late", "late-self", "CUBIC/itself, tenth", _itself(_latest), share=0.1),
    *median_and_tenth(
        "brief",
        "CUBIC's transfers, time",
        _BRIEF,
        bounds.BRIEF_MEDIAN,
        bounds.BRIEF_TENTH,
        at_most=True,
    ),
)
