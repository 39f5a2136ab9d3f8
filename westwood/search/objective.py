# SPDX-License-Identifier: BSD-3-Clause
"""States what a congestion control should achieve, before anything is searched.

A target is a statistic over the paths of one family (population.py), and the figure it must reach.
`westwood control tune` looks for settings that reach the targets, and other paths judge them. A
control's cost is the weighted mean of a smooth penalty for each target. It counts roughly how many
`scale`s are missing; a surplus gains next to nothing.

    penalty(d) = ln(1 + exp(d)),   d = (bound - value) / scale, with the other sign for "at most"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from westwood.results.metrics import percentile
from westwood.search import bounds
from westwood.search import quantities as of
from westwood.search.outcome import PathOutcomes

# The controls that a control is compared with on the same paths.
REFERENCES = ("cubic", "bbr", "westwood+")
_SHARES = {"median": 0.5, "worst tenth": 0.1, "worst": 0.0}
# Runs per path with other seeds, since chance decides who wins a competition.
REPEATS: Mapping[str, int] = {
    "shared": 4,
    "crowd": 2,
    "late": 2,
}


@dataclass(frozen=True)
class Target:
    """A requirement: a statistic of a quantity over the paths of a family, and its bound."""

    name: str
    family: str
    quantity: Callable[[PathOutcomes], float]
    statistic: str  # a key of _SHARES
    bound: float
    weight: float
    what: str
    at_most: bool = False
    scale: float = 0.05  # a shortfall of this size has a penalty of about 1

    def value(self, seen: Iterable[PathOutcomes]) -> float:
        """Returns the statistic over paths of the family; NaN if no path has the quantity."""
        return self.of([self.quantity(path_outcomes) for path_outcomes in seen])

    def of(self, values: Iterable[float]) -> float:
        """Returns the statistic of these values, ignoring NaN."""
        known = [value for value in values if not math.isnan(value)]
        share = _SHARES[self.statistic]
        return percentile(known, 1 - share if self.at_most else share)

    def reached(self, value: float) -> bool:
        """Returns whether a value of the statistic reaches the bound."""
        return value <= self.bound if self.at_most else value >= self.bound

    def penalty(self, value: float) -> float:
        """Returns the penalty, which grows smoothly with the shortfall; 0 for NaN."""
        if math.isnan(value):
            return 0.0
        short = (value - self.bound) if self.at_most else (self.bound - value)
        x = short / self.scale
        return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


_MEDIAN, _TENTH, _WORST = "median", "worst tenth", "worst"
_RESENT = "share resent beyond what the wire lost"
TARGETS: tuple[Target, ...] = (
    Target(
        "alone", "alone", of.over_cubic, _MEDIAN, bounds.ALONE_MEDIAN, 1.5, "goodput over CUBIC's"
    ),
    Target(
        "alone, worst",
        "alone",
        of.over_cubic,
        _TENTH,
        bounds.ALONE_TENTH,
        1.5,
        "goodput over CUBIC's",
    ),
    Target(
        "queue",
        "alone",
        of.queue_over_cubic,
        _MEDIAN,
        bounds.CLEAN_QUEUE,
        0.5,
        "mean queue over CUBIC's",
        True,
        0.1,
    ),
    Target(
        "loss binds",
        "wire",
        of.over_bbr_where_loss_binds,
        _MEDIAN,
        bounds.WIRE_BINDS,
        2,
        "goodput over BBRv1's, where BBRv1 has twice CUBIC's and the queue 0.1 BDP",
    ),
    Target(
        "bursts",
        "bursts",
        of.over_best,
        _MEDIAN,
        bounds.BURSTS,
        1.5,
        "goodput over the larger of 0.8 of BBRv1's and Westwood+'s",
    ),
    Target(
        "uplink",
        "uplink",
        of.goodput_mbps,
        _MEDIAN,
        bounds.UPLINK_MBPS,
        0.5,
        "Mb/s at 10 Mb/s, 90 ms, 0.5 %",
        scale=0.5,
    ),
    *(
        Target(
            name,
            "shared",
            of.cubic_keeps,
            statistic,
            bound,
            2,
            "goodput of CUBIC against it over that against CUBIC",
        )
        for name, statistic, bound in (
            ("CUBIC keeps", _MEDIAN, bounds.KEEPS_MEDIAN),
            ("CUBIC keeps, worst tenth", _TENTH, bounds.KEEPS_TENTH),
            ("CUBIC keeps, worst", _WORST, bounds.KEEPS_WORST),
        )
    ),
    Target(
        "own share",
        "shared",
        of.in_its_place,
        _TENTH,
        bounds.OWN_SHARE,
        1,
        "its goodput against CUBIC over CUBIC's in its place",
    ),
    Target(
        "resent",
        "shared",
        of.resent_over_cubic,
        _TENTH,
        bounds.RESENT,
        1,
        f"{_RESENT} over CUBIC's",
        True,
        1.0,
    ),
    Target(
        "runaway",
        "shared",
        of.resent_beyond,
        _WORST,
        bounds.RUNAWAY,
        1,
        _RESENT,
        True,
    ),
    Target(
        "crowd",
        "crowd",
        of.fairness_less_cubic,
        _TENTH,
        bounds.CROWD,
        1,
        "Jain's index among its own flows less CUBIC's",
    ),
    Target(
        "late",
        "late",
        of.latest_over_cubic,
        _TENTH,
        bounds.LATE_TENTH,
        0.5,
        "goodput of a flow that joins another, over CUBIC's",
    ),
    *(
        Target(
            name,
            "brief",
            of.short_p50_over_cubic,
            statistic,
            bound,
            0.5,
            "median completion time of CUBIC's transfers over that against CUBIC",
            True,
        )
        for name, statistic, bound in (
            ("brief", _MEDIAN, bounds.BRIEF_MEDIAN),
            ("brief, worst tenth", _TENTH, bounds.BRIEF_TENTH),
        )
    ),
    Target(
        "distance",
        "distant",
        of.fairness_over_cubic,
        _MEDIAN,
        bounds.DISTANT,
        0.5,
        "Jain's index at round trips of 10 to 160 ms over CUBIC's",
    ),
    Target(
        "short",
        "short",
        of.short_p50_over_cubic,
        _MEDIAN,
        bounds.SHORT,
        0.5,
        "median completion time of 10 kB to 1 MB over CUBIC's",
        True,
    ),
    Target(
        "short, p95",
        "short",
        of.short_p95_over_cubic,
        _MEDIAN,
        bounds.SHORT,
        0.5,
        "95th percentile of those times over CUBIC's",
        True,
    ),
    Target(
        "collapse",
        "collapse",
        of.loss_over_cubic,
        _MEDIAN,
        bounds.COLLAPSE,
        0.5,
        "share dropped of 100 flows over 100 packets per round trip, over CUBIC's",
        True,
    ),
)


def cost(values: Mapping[str, float]) -> float:
    """Returns the weighted mean of the penalties of these values by target; lower is better."""
    penalties = (target.weight * target.penalty(values[target.name]) for target in TARGETS)
    return math.fsum(penalties) / math.fsum(target.weight for target in TARGETS)


def values(seen: Mapping[str, Sequence[PathOutcomes]]) -> dict[str, float]:
    """Returns every target's value from the outcomes on each family's paths."""
    return {target.name: target.value(seen.get(target.family, ())) for target in TARGETS}
