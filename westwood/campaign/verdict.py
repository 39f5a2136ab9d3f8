# SPDX-License-Identifier: BSD-3-Clause
"""Decides from pairs of uploads whether a control pays, and says so in one sentence.

A pair's gain is the ratio of the two goodputs. Gains are averaged as logarithms, so that twice and
half as much cancel. The interval stays valid however often it is checked (results/sequential.py),
so the first pair that decides may be the last:

    pays           the whole interval is above 0
    does not pay   the whole interval is below the least worthwhile gain
    cannot tell    neither

An interval that meets both conditions does not pay. With several candidates each interval is
widened so that all hold together (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from westwood.results import sequential
from westwood.results.metrics import LEVEL
from westwood.results.sequential import Sample
from westwood.results.verdicts import Verdict

_LEAST_BPS = 8000.0  # replaces a smaller goodput, because logarithms need more than 0
_MINUTE_S, _LONGEST_S = 60.0, 86_400.0


@dataclass(frozen=True)
class TrialVerdict:
    """The evidence of the pairs on one control against the baseline."""

    cc: str
    baseline: str
    gains: Sequence[float]  # logarithms of the ratios, pair by pair
    worth: float  # the smallest worthwhile gain: 0.05 is 5 %
    level: float
    pair_s: float  # duration of a pair

    @property
    def sample(self) -> Sample:
        """The mean logarithm with its interval."""
        return sequential.estimate(self.gains, self.level)

    @property
    def verdict(self) -> Verdict:
        """The verdict: whether the gain is proven, and may be worthwhile."""
        estimate = self.sample
        if estimate.high < math.log1p(self.worth):
            return Verdict.FAILS
        return Verdict.MEETS if estimate.low > 0 else Verdict.CANNOT_TELL

    @property
    def wins(self) -> int:
        """Number of pairs that the control won."""
        return sum(gain > 0 for gain in self.gains)

    @property
    def more_s(self) -> float:
        """Estimated time until the decision; NaN if unknown."""
        estimate = self.sample
        if self.verdict is not Verdict.CANNOT_TELL:
            return 0.0
        if estimate.count < 2:
            return math.nan
        # Either end of the interval may decide.
        distance = max(estimate.mean, math.log1p(self.worth) - estimate.mean)
        return (sequential.count_needed(estimate, distance) - estimate.count) * self.pair_s

    def sentence(self, reason: str) -> str:
        """Returns a sentence with the verdict, the gain, its certainty and the reason."""
        pairs = len(self.gains)
        if pairs < 2:
            few = "not one pair" if pairs == 0 else "one pair"
            against = f"{self.cc} against {self.baseline}"
            return f"{Verdict.CANNOT_TELL}: {against}, {few} of uploads was finished"
        gain, wins = self.gain(self.baseline), f"{self.wins} of {pairs} pairs"
        more = f"about {duration(self.more_s)} more needed"
        end = more if self.verdict is Verdict.CANNOT_TELL else reason
        return f"{self.verdict.gain}: {self.cc} {gain}, {wins}; {end}"

    def gain(self, baseline: str = "") -> str:
        """Returns the gain with its interval."""
        gain = percent(math.expm1(self.sample.mean))
        against = f" against {baseline}" if baseline else ""
        return f"{gain}{against} (95 %: {self._range()})"

    def _range(self) -> str:
        estimate = self.sample
        if math.isinf(estimate.half):
            return "no bounds yet"
        low, high = math.expm1(estimate.low), math.expm1(min(estimate.high, 50.0))
        return f"{percent(low, unit=False)} to {percent(high)}"

    def entry(self, reason: str) -> dict[str, Any]:
        """Returns the verdict for JSON; null where there is no bound."""
        estimate = self.sample

        def gain(value: float) -> float | None:
            return math.expm1(value) if math.isfinite(value) and value < 50 else None

        return {
            "cc": self.cc,
            "baseline": self.baseline,
            "verdict": self.verdict.gain,
            "sentence": self.sentence(reason),
            "reason": reason,
            "gain": gain(estimate.mean),
            "low": gain(estimate.low),
            "high": gain(estimate.high),
            "pairs": len(self.gains),
            "ahead": self.wins,
            "more_s": self.more_s if math.isfinite(self.more_s) else None,
        }


def verdicts(
    rows: pl.DataFrame, controls: Sequence[str], worth: float, pair_s: float
) -> list[TrialVerdict]:
    """Returns the verdict on each control over the first; rows have pair, cc and goodput_bps."""
    baseline, *others = controls
    level = 1 - (1 - LEVEL) / len(others)
    return [
        TrialVerdict(cc, baseline, gains(rows, cc, baseline), worth, level, pair_s) for cc in others
    ]


def gains(rows: pl.DataFrame, cc: str, baseline: str) -> list[float]:
    """Returns the logarithms of the ratios, in the order of the pairs."""
    if rows.is_empty():
        return []
    both = rows.filter(cc=cc).join(rows.filter(cc=baseline), on="pair", suffix="_baseline")
    rates = both.sort("pair").select(
        pl.col(name).clip(lower_bound=_LEAST_BPS)
        for name in ("goodput_bps", "goodput_bps_baseline")
    )
    return (rates["goodput_bps"] / rates["goodput_bps_baseline"]).log().to_list()


def percent(share: float, *, unit: bool = True) -> str:
    """Writes a gain: +23 %, or +0.4 %."""
    shown = f"{100 * share:+.1f}" if abs(share) < 0.0295 else f"{100 * share:+.0f}"
    return f"{shown} %" if unit else shown


def duration(seconds: float) -> str:
    """Writes a time in words, such as 40 minutes."""
    if not seconds < _LONGEST_S:
        return "a day or more"
    if seconds < 2 * _MINUTE_S:
        return f"{max(1, round(seconds))} s"
    minutes = math.ceil(seconds / _MINUTE_S)
    return f"{minutes} minutes" if minutes < 120 else f"{minutes / 60:.0f} hours"
