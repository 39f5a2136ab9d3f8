# SPDX-License-Identifier: BSD-3-Clause
"""Makes answers of runs: a value with its interval at each point, and the verdict of all points."""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, astuple, dataclass
from typing import Any

from westwood.evaluation.benchmark.targets import ratio
from westwood.evaluation.criterion import QUESTIONS, Criterion, Part, Runs, Threshold
from westwood.results.intervals import Estimate
from westwood.results.journal import from_json, json_ready
from westwood.results.metrics import half_width
from westwood.results.verdicts import Verdict

_WORST_FIRST = (Verdict.FAILS, Verdict.CANNOT_TELL, Verdict.NOT_RUN, Verdict.MEETS)
_LARGEST_LOG = 700.0  # above it math.exp overflows


@dataclass(frozen=True)
class At:
    """What was found at a point: the control's mean, the reference's, and what is judged."""

    name: str
    value: float = math.nan
    half: float = math.nan  # of the value's 95 % interval
    reference: float = math.nan  # NaN: none
    judged: float = math.nan
    low: float = math.nan
    high: float = math.nan
    verdict: Verdict = Verdict.NOT_RUN
    runs: int = 0
    why_not: str = ""  # why it did not run
    scatter: float = math.nan  # standard deviation of the seeds over their mean
    # What is kept over what is kept beside paced CUBIC; NaN: not compared.
    paced: float = math.nan
    paced_low: float = math.nan
    paced_high: float = math.nan
    text: str = ""  # what was measured, of a harness that measures more than numbers
    expected: str = ""


@dataclass(frozen=True)
class Sides:
    """The runs of a point: with the control, with the reference, and with paced CUBIC if any."""

    control: Sequence[Runs]
    reference: Sequence[Runs]
    paced: Sequence[Runs] = ()


@dataclass(frozen=True)
class NotRun:
    """Says why a point has no runs."""

    why: str


@dataclass(frozen=True)
class Answer:
    """What a criterion found about a control."""

    criterion: str
    part: str
    question: str = ""
    says: str = ""
    source: str = ""
    unit: str = ""
    compare: str = "value"
    axis: str = ""
    bound: float | None = None
    at_most: bool = False
    bound_source: str = ""
    points: tuple[At, ...] = ()
    note: str = ""
    command: str = ""  # of a harness; others follow from the criterion's name
    tuned: str = ""  # how the control was tuned on what the criterion runs
    scenarios: tuple[Mapping[str, Any], ...] = ()  # the worst ones if no point has its own
    statistic: str = "mean"  # of the runs at a point, which the threshold applies to
    settled: str = ""  # the verdict of a harness that decides otherwise than by all points
    elsewhere: At | None = None  # the worst point in another engine, whose title is its text

    @property
    def verdict(self) -> Verdict:
        """Returns the verdict of all points."""
        if self.settled:
            return Verdict.named(self.settled)
        return Verdict.of_all(point.verdict for point in self.points)

    @property
    def not_run(self) -> list[At]:
        """Returns the points without runs."""
        return [point for point in self.points if point.why_not]

    @property
    def worst(self) -> At | None:
        """Returns the point that is farthest on the wrong side."""
        sign = 1.0 if self.at_most else -1.0
        known = [point for point in self.points if not math.isnan(point.judged)]
        return max(
            known,
            key=lambda point: (-_WORST_FIRST.index(point.verdict), sign * point.judged),
            default=None,
        )

    @property
    def mean(self) -> float:
        """Returns the mean over all points."""
        return math.fsum(point.value for point in self.points) / len(self.points)

    def entry(self) -> dict[str, Any]:
        """Returns the answer for JSON."""
        points = [_without_empty(asdict(point), ("text", "expected")) for point in self.points]
        reply = _without_empty(asdict(self), ("settled", "elsewhere"))
        return {**reply, "points": points, "verdict": self.verdict}

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Answer:
        """Reads what `entry` returned."""
        given = {key: value for key, value in entry.items() if key != "verdict"}
        points = tuple(
            At(**{**from_json(point), "verdict": Verdict.named(point["verdict"])})
            for point in entry["points"]
        )
        return cls(**{**given, "points": points, "scenarios": tuple(entry.get("scenarios", ()))})


def _without_empty(entry: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in json_ready(entry).items() if value or key not in names}


def of_runs(criterion: Criterion, part: str, sides_of: Mapping[str, Sides | NotRun]) -> Answer:
    """Returns the answer of a criterion from the runs of the control and of the references."""
    points = tuple(
        not_run_at(name, sides.why) if isinstance(sides, NotRun) else _point(criterion, name, sides)
        for name, sides in sides_of.items()
    )
    same = ("question", "says", "source", "unit", "compare", "axis", "note", "statistic")
    given = {name: getattr(criterion, name) for name in same}
    return Answer(criterion.name, part, points=points, **given, **bound_fields(criterion.threshold))


def bound_fields(threshold: Threshold | None) -> dict[str, Any]:
    """Returns an answer's fields for a threshold."""
    if threshold is None:
        return {}
    bound, at_most, source = threshold.bound, threshold.at_most, threshold.source
    return {"bound": bound, "at_most": at_most, "bound_source": source}


def _point(criterion: Criterion, name: str, sides: Sides) -> At:
    values, references, paced = (
        [criterion.measure(run) for run in runs]
        for runs in (sides.control, sides.reference, sides.paced)
    )
    mean = geometric_mean_of if criterion.compare == "either way" else mean_of
    value = mean(values)
    reference = mean(references).value
    judged = _judged(criterion, values, references)
    return At(
        name,
        value.value,
        (value.high - value.low) / 2,
        reference,
        judged.value,
        judged.low,
        judged.high,
        verdict_of(judged, criterion.threshold),
        len(values),
        "",
        scatter_of(values),
        *(astuple(_of_kept(values, paced)) if paced else ()),
    )


def scatter_of(values: Sequence[float]) -> float:
    """Returns the standard deviation over the mean; NaN if there is none."""
    if len(values) < 2 or not all(map(math.isfinite, values)):
        return math.nan
    mean = statistics.fmean(values)
    return statistics.stdev(values) / abs(mean) if mean else math.nan


def not_run_at(name: str, why: str) -> At:
    """Returns a point without runs."""
    return At(name, low=-math.inf, high=math.inf, why_not=why)


def _judged(criterion: Criterion, values: Sequence[float], references: Sequence[float]) -> Estimate:
    if criterion.is_worst:
        at_most = criterion.threshold is not None and criterion.threshold.at_most
        worst = (max if at_most else min)(values, key=_or_last(at_most), default=math.nan)
        return Estimate(worst, worst, worst)
    if criterion.compare == "value":
        return mean_of(values)
    if criterion.compare == "either way":
        return geometric_mean_of([max(value, ratio(1, value)) for value in values])
    pairs = list(zip(values, references, strict=True))
    if criterion.compare == "difference":
        return mean_of([figure - other for figure, other in pairs])
    if criterion.compare == "kept":
        return _of_kept(values, references)
    return geometric_mean_of([ratio(figure, other) for figure, other in pairs])


def _of_kept(harms: Sequence[float], references: Sequence[float]) -> Estimate:
    """Returns what is left, over what a reference leaves."""
    pairs = zip(harms, references, strict=True)
    return geometric_mean_of([ratio(1 - figure, 1 - other) for figure, other in pairs])


def _or_last(at_most: bool) -> Any:
    """Returns a key by which an unfinished run, NaN, is worse than any number."""
    worst = math.inf if at_most else -math.inf
    return lambda value: worst if math.isnan(value) else value


def mean_of(values: Sequence[float]) -> Estimate:
    """Returns the mean with its 95 % interval by Student's t; NaN if a value is unknown."""
    if not values or any(map(math.isnan, values)):
        return Estimate(math.nan, -math.inf, math.inf)
    mean = math.fsum(values) / len(values)
    if math.isinf(mean):
        return Estimate(mean, mean, mean)
    if len(values) < 2:
        return Estimate(mean, -math.inf, math.inf)
    half = half_width(statistics.stdev(values), len(values))
    return Estimate(mean, mean - half, mean + half)


def geometric_mean_of(ratios: Sequence[float]) -> Estimate:
    """Returns the geometric mean; its interval is Student's on the scale of logarithms.

    Ratios are skewed: an interval of their arithmetic mean can go below zero.
    """
    if 0 in ratios and math.inf in ratios:
        return Estimate(math.nan, -math.inf, math.inf)
    mean = mean_of([-math.inf if ratio == 0 else math.log(ratio) for ratio in ratios])
    return Estimate(_exp(mean.value), _exp(mean.low), _exp(mean.high))


def _exp(value: float) -> float:
    return math.inf if value > _LARGEST_LOG else math.exp(value)


def verdict_of(judged: Estimate, threshold: Threshold | None) -> Verdict:
    """Returns meets or fails if the whole interval is on one side, else cannot tell."""
    if threshold is None or math.isnan(judged.value):
        return Verdict.CANNOT_TELL
    return Verdict.of_interval(threshold.holds(judged.low), threshold.holds(judged.high))


def not_run(part: Part, name: str) -> Answer:
    """Returns the answer of a part's criterion on an engine that can't run it."""
    why = f"Not run: this part runs on {', '.join(part.engines)} only."
    return Answer(name, part.name, says=name, source=part.source, note=why)


def text_at(name: str, text: str, expected: str, verdict: Verdict, value: float = math.nan) -> At:
    """Returns a point of a harness: what was measured, in words, and what was expected."""
    measured: dict[str, Any] = {"value": value, "judged": value, "text": text, "expected": expected}
    return At(name, verdict=verdict, runs=1, **measured)


def of_measurements(
    part: Part, name: str, says: str, points: Sequence[At], note: str = "", **more: Any
) -> Answer:
    """Returns the answer of a harness, whose points are what was measured."""
    more |= {"source": part.source, "axis": "measurement", "note": note, "statistic": ""}
    return Answer(name, part.name, says=says, points=tuple(points), **more)


def lines(answers: Sequence[Answer]) -> dict[str, Answer | None]:
    """Returns for each of the five questions the answer that decides it, the worst."""
    return {
        question: worst_of([answer for answer in answers if answer.question == question])
        for question in QUESTIONS
    }


def worst_of(answers: Sequence[Answer]) -> Answer | None:
    """Returns the answer with the worst verdict; None without answers."""
    return min(answers, key=lambda answer: _WORST_FIRST.index(answer.verdict), default=None)
