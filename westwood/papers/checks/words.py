# SPDX-License-Identifier: BSD-3-Clause
"""Defines the words in which papers describe curves: what each one asks of measurements.

All checks share this vocabulary. A word is about means over runs with their 95 % intervals. Two
controls are compared run by run, since the same seed loses the same packets. A word holds only if
the intervals show it, so noise alone rarely makes it hold (tests/westwood/papers/test_words.py).

    above           the ratio's interval lies above 1
    below           it lies below 1, and the ratio is more than TIE below 1
    slightly above  above, and the interval ends below 1 + CLEARLY
    alike           the interval lies within a factor of 1 + ALIKE
    near            the interval lies within NEAR of the published number ("about", "close to")
    exactly         it lies within EXACT of a number that is published with three digits or more
    at most         the interval ends below the published number ("less than")

    leads           nowhere below, and above at more than half of the points
    mostly above    above at three quarters of the points or more
    leads clearly   it leads, and the interval lies above 1 + CLEARLY at half of the points or more
    leads hugely    it leads, and the interval lies above 1 + HUGELY at half of the points or more
    grows           the last point over the first lies above 1 + CLEARLY, and no step is below
    falls           the first point over the last lies above 1 + CLEARLY, and no step is below
    stays flat      the largest point and the least are alike
    best curve      below no other curve anywhere, and it leads the worst
    in order        no curve is below a later one anywhere, and the first leads the last
    best point      below no other point, beyond the paired interval
    improves        above, unless both are within TIE of the best possible value

Curves may touch where a link is full or everything is lost: `leads` allows points that are neither
above nor below. Every point of a flat curve is a best point, so a check that uses this word also
says how flat the curve is.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from westwood import _engine
from westwood.results.intervals import Estimate
from westwood.results.metrics import compare_pairs, half_width

TIE = 0.01  # less than this can't be seen in a figure
ALIKE = 0.10
CLEARLY = 0.10
HUGELY = 0.50
MOSTLY = 0.75  # of the points
NEAR = 0.10
EXACT = 0.02
BOUNDS = ("TIE", "ALIKE", "CLEARLY", "HUGELY", "NEAR", "EXACT")


@dataclass(frozen=True)
class Runs:
    """The values of a quantity by seed; without `with_interval` only their mean counts."""

    values: Mapping[int, float]
    with_interval: bool = True

    @property
    def mean(self) -> Estimate:
        """The mean with its interval."""
        mean, deviation, runs = _engine.spread(list(self.values.values()))
        return self._interval(mean, half_width(deviation, runs)) if runs else _UNKNOWN

    def over(self, other: Runs) -> Estimate:
        """Returns the ratio of the means, compared run by run."""
        seeds = self.values.keys() & other.values.keys()
        comparison = compare_pairs(
            [(self.values[seed], other.values[seed]) for seed in sorted(seeds)]
        )
        if math.isnan(comparison.ratio):
            return _UNKNOWN
        return self._interval(comparison.ratio, comparison.ratio_ci95)

    def scaled(self, factor: float) -> Runs:
        """Returns the values times a factor."""
        values = {seed: factor * value for seed, value in self.values.items()}
        return Runs(values, self.with_interval)

    def minus(self, other: Runs) -> Runs:
        """Returns the differences, run by run."""
        return self._with(other, lambda left, right: left - right)

    def by(self, other: Runs) -> Runs:
        """Returns the ratios, run by run; NaN where the other is 0."""
        return self._with(other, lambda left, right: left / right if right else math.nan)

    def _with(self, other: Runs, how: Callable[[float, float], float]) -> Runs:
        seeds = sorted(self.values.keys() & other.values.keys())
        values = {seed: how(self.values[seed], other.values[seed]) for seed in seeds}
        return Runs(values, self.with_interval)

    def _interval(self, mean: float, half: float) -> Estimate:
        if math.isnan(half) or not self.with_interval:
            half = 0.0
        return Estimate(mean, mean - half, mean + half)


_UNKNOWN = Estimate(math.nan, math.nan, math.nan)


def total(parts: Iterable[Runs]) -> Runs:
    """Adds quantities, run by run."""
    first, *others = parts
    for summand in others:
        first = first._with(summand, lambda a, b: a + b)
    return first


Curve = Mapping[Any, Runs]  # in the order of the sweep


# One comparison


def above(ratio: Estimate, by: float = 0.0) -> bool:
    """Returns whether the ratio is above 1 + `by`."""
    return ratio.low > 1 + by


def below(ratio: Estimate) -> bool:
    """Returns whether a ratio is visibly below 1."""
    return ratio.high < 1 and ratio.value < 1 - TIE


def slightly_above(ratio: Estimate) -> bool:
    """Returns whether a ratio is above 1, but not clearly."""
    return above(ratio) and ratio.high <= 1 + CLEARLY


def improves(after: Runs, before: Runs, best: float = 1.0) -> bool:
    """Returns whether a quantity improves, as far as its best possible value leaves room."""
    is_full = min(after.mean.value, before.mean.value) >= (1 - TIE) * best
    return is_full or above(after.over(before))


def alike(ratio: Estimate) -> bool:
    """Returns whether two quantities with this ratio are alike."""
    return ratio.low >= 1 / (1 + ALIKE) and ratio.high <= 1 + ALIKE


def near(estimate: Estimate, published: float, within: float = NEAR) -> bool:
    """Returns whether a quantity is near the published number."""
    return estimate.low >= (1 - within) * published and estimate.high <= (1 + within) * published


def exactly(estimate: Estimate, published: float) -> bool:
    """Returns whether a quantity is what the paper gives with three digits or more."""
    return near(estimate, published, EXACT)


def at_most(estimate: Estimate, published: float) -> bool:
    """Returns whether a quantity is less than the published number."""
    return estimate.high <= published


# Curves: each function yields where and by how much its word fails, so nothing means that it holds


@dataclass(frozen=True)
class Named:
    """A curve with the name of its control."""

    name: str
    curve: Curve

    def over(self, other: Named) -> dict[Any, Estimate]:
        """Returns the ratio to another curve at each point."""
        return {x: runs.over(other.curve[x]) for x, runs in self.curve.items()}


def leads(upper: Named, lower: Named, by: float = 0.0) -> Iterator[str]:
    """Checks that a curve leads another; CLEARLY and HUGELY as `by` ask for more than a lead."""
    pair = f"{upper.name} over {lower.name}"
    ratios = upper.over(lower)
    for x, ratio in ratios.items():
        if below(ratio):
            yield f"{pair} at {shown(x)}: {1 - ratio.value:.1%} below"
    higher = sum(above(ratio) for ratio in ratios.values())
    if 2 * higher <= len(ratios):
        yield f"{pair}: above at {higher} of {len(ratios)} points, expected more than half"
    far = sum(above(ratio, by) for ratio in ratios.values())
    if by and 2 * far < len(ratios):
        yield f"{pair}: by {by:.0%} at {far} of {len(ratios)} points, expected half of them"


def mostly_above(upper: Named, lower: Named) -> Iterator[str]:
    """Checks that a curve is above another over a wide range."""
    ratios = upper.over(lower)
    higher = sum(above(ratio) for ratio in ratios.values())
    if higher < MOSTLY * len(ratios):
        share = f"{higher} of {len(ratios)} points, expected {MOSTLY:.0%} of them"
        yield f"{upper.name} over {lower.name}: above at {share}"


def grows(series: Named) -> Iterator[str]:
    """Checks that a curve grows from its first point to its last."""
    yield from _goes(series, 1, "falls", "grows")


def falls(series: Named) -> Iterator[str]:
    """Checks that a curve falls from its first point to its last."""
    yield from _goes(series, -1, "rises", "falls")


def _goes(series: Named, sign: int, wrong: str, right: str) -> Iterator[str]:
    for (x, before), (y, after) in itertools.pairwise(series.curve.items()):
        step = after.over(before) if sign > 0 else before.over(after)
        if below(step):
            yield f"{series.name}: {wrong} by {1 - step.value:.1%} from {shown(x)} to {shown(y)}"
    (x, first), *_, (y, last) = series.curve.items()
    whole = last.over(first) if sign > 0 else first.over(last)
    if not above(whole, CLEARLY):
        change = abs(last.over(first).value - 1)
        yield f"{series.name}: {right} by only {change:.1%} from {shown(x)} to {shown(y)}"


def stays_flat(curve: Named) -> Iterator[str]:
    """Checks that all points of a curve are alike."""
    least = min(curve.curve, key=lambda x: curve.curve[x].mean.value)
    most = max(curve.curve, key=lambda x: curve.curve[x].mean.value)
    ratio = curve.curve[most].over(curve.curve[least])
    if not alike(ratio):
        yield f"{curve.name}: at {shown(most)} {ratio.value:.2f} times as much as at {shown(least)}"


def best_curve(curves: Sequence[Named]) -> Iterator[str]:
    """Checks that the first curve is the best and the last one the worst."""
    best, *between, worst = curves
    yield from leads(best, worst)
    for middle in between:
        for upper, lower in ((best, middle), (middle, worst)):
            for x, ratio in upper.over(lower).items():
                if below(ratio):
                    yield f"{lower.name} over {upper.name} at {shown(x)}: above"


def in_order(curves: Sequence[Named]) -> Iterator[str]:
    """Checks that no curve is below a later one, and that the first leads the last."""
    yield from leads(curves[0], curves[-1])
    for upper, lower in itertools.combinations(curves, 2):
        if (upper, lower) == (curves[0], curves[-1]):
            continue
        for x, ratio in upper.over(lower).items():
            if below(ratio):
                yield f"{lower.name} over {upper.name} at {shown(x)}: above"


def best_point(series: Named, best_x: object) -> Iterator[str]:
    """Checks that no other point of a curve is above this one, beyond the paired interval."""
    peak = series.curve[best_x]
    for x, runs in series.curve.items():
        ratio = runs.over(peak)
        if above(ratio) and (runs.with_interval or ratio.value > 1 + TIE):
            yield f"{series.name}: {shown(x)} gives {ratio.value - 1:.2%} more than {shown(best_x)}"


def flatness(series: Named) -> float:
    """Returns by how much the largest point of a curve exceeds the least, relative to the least."""
    means = [runs.mean.value for runs in series.curve.values()]
    return max(means) / min(means) - 1


def outside(
    name: str, estimate: Estimate, published: float, unit: str = "", within: float = NEAR
) -> Iterator[str]:
    """Checks that a quantity is near the published number, or exactly that with EXACT."""
    if not near(estimate, published, within):
        word = "exactly" if within == EXACT else "about"
        yield f"{name} is {written(estimate)}{unit}, expected {word} {published:g}{unit}"


def over_limit(name: str, estimate: Estimate, limit: float, unit: str = "") -> Iterator[str]:
    """Checks that a quantity is at most the published number."""
    if not at_most(estimate, limit):
        yield f"{name} is {written(estimate)}{unit}, expected at most {limit:g}{unit}"


def written(estimate: Estimate) -> str:
    """Writes a mean with its interval."""
    half = (estimate.high - estimate.low) / 2
    return f"{estimate.value:.3g}" if half == 0 else f"{estimate.value:.3g} ± {half:.2g}"


def shown(x: object) -> str:
    """Writes a swept value in words."""
    return f"{x:g}" if isinstance(x, float) else str(x)
