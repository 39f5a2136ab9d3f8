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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from westwood.results.metrics import percentile
from westwood.search import bounds
from westwood.search import quantities as of
from westwood.search.outcome import PathOutcomes
from westwood.search.quantities import Quantity

# The controls that a control is compared with on the same paths.
REFERENCES = ("cubic", "bbr", "westwood+")
_SHARES = {"median": 0.5, "worst tenth": 0.1, "worst": 0.0}
# Runs per path with other seeds, since chance decides who wins a competition.
REPEATS: Mapping[str, int] = {"shared": 4, "crowd": 2, "late": 2}


@dataclass(frozen=True)
class Target:
    """A requirement: a statistic of a quantity over the paths of a family, and its bound."""

    name: str
    family: str
    quantity: Quantity
    statistic: str  # a key of _SHARES
    bound: float
    weight: float

    def value(self, seen: Iterable[PathOutcomes]) -> float:
        """Returns the statistic over paths of the family; NaN if no path has the quantity."""
        return self.of([self.quantity.read(path_outcomes) for path_outcomes in seen])

    def of(self, values: Iterable[float]) -> float:
        """Returns the statistic of these values, ignoring NaN."""
        known = [value for value in values if not math.isnan(value)]
        share = _SHARES[self.statistic]
        return percentile(known, 1 - share if self.quantity.at_most else share)

    def reached(self, value: float) -> bool:
        """Returns whether a value of the statistic reaches the bound."""
        return value <= self.bound if self.quantity.at_most else value >= self.bound

    def penalty(self, value: float) -> float:
        """Returns the penalty, which grows smoothly with the shortfall; 0 for NaN."""
        if math.isnan(value):
            return 0.0
        short = (value - self.bound) if self.quantity.at_most else (self.bound - value)
        x = short / self.quantity.scale
        return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


_MEDIAN, _TENTH, _WORST = "median", "worst tenth", "worst"
TARGETS: tuple[Target, ...] = (
    Target("alone", "alone", of.OVER_CUBIC, _MEDIAN, bounds.ALONE_MEDIAN, 1.5),
    Target("alone, worst", "alone", of.OVER_CUBIC, _TENTH, bounds.ALONE_TENTH, 1.5),
    Target("queue", "alone", of.QUEUE, _MEDIAN, bounds.CLEAN_QUEUE, 0.5),
    Target("loss binds", "wire", of.WHERE_LOSS_BINDS, _MEDIAN, bounds.WIRE_BINDS, 2),
    Target("bursts", "bursts", of.OVER_BEST, _MEDIAN, bounds.BURSTS, 1.5),
    Target("uplink", "uplink", of.UPLINK, _MEDIAN, bounds.UPLINK_MBPS, 0.5),
    Target("CUBIC keeps", "shared", of.CUBIC_KEEPS, _MEDIAN, bounds.KEEPS_MEDIAN, 2),
    Target("CUBIC keeps, worst tenth", "shared", of.CUBIC_KEEPS, _TENTH, bounds.KEEPS_TENTH, 2),
    Target("CUBIC keeps, worst", "shared", of.CUBIC_KEEPS, _WORST, bounds.KEEPS_WORST, 2),
    Target("own share", "shared", of.IN_ITS_PLACE, _TENTH, bounds.OWN_SHARE, 1),
    Target("resent", "shared", of.RESENT, _TENTH, bounds.RESENT, 1),
    Target("runaway", "shared", of.RESENT_BEYOND, _WORST, bounds.RUNAWAY, 1),
    Target("crowd", "crowd", of.FAIRNESS, _TENTH, bounds.CROWD, 1),
    Target("late", "late", of.LATEST, _TENTH, bounds.LATE_TENTH, 0.5),
    Target("brief", "brief", of.BESIDE_TRANSFERS, _MEDIAN, bounds.BRIEF_MEDIAN, 0.5),
    Target("brief, worst tenth", "brief", of.BESIDE_TRANSFERS, _TENTH, bounds.BRIEF_TENTH, 0.5),
    Target("distance", "distant", of.FAIRNESS_AT_A_DISTANCE, _MEDIAN, bounds.DISTANT, 0.5),
    Target("short", "short", of.SHORT, _MEDIAN, bounds.SHORT, 0.5),
    Target("short, p95", "short", of.SHORT_P95, _MEDIAN, bounds.SHORT, 0.5),
    Target("collapse", "collapse", of.DROPPED, _MEDIAN, bounds.COLLAPSE, 0.5),
)


def cost(values: Mapping[str, float]) -> float:
    """Returns the weighted mean of the penalties of these values by target; lower is better."""
    penalties = (target.weight * target.penalty(values[target.name]) for target in TARGETS)
    return math.fsum(penalties) / math.fsum(target.weight for target in TARGETS)


def values(seen: Mapping[str, Sequence[PathOutcomes]]) -> dict[str, float]:
    """Returns every target's value from the outcomes on each family's paths."""
    return {target.name: target.value(seen.get(target.family, ())) for target in TARGETS}
