# SPDX-License-Identifier: BSD-3-Clause
"""Declares a criterion: a question, its source, the paths, the measure and the threshold.

A part is a list of criteria with one source. catalogue.py lists the parts. A new one needs a module
that declares it, and a line there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal

from westwood.engines.contract import MoreColumns
from westwood.engines.simulator import SIMULATOR
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.evaluation.answer import Answer
    from westwood.evaluation.benchmark.targets import Target

# The five lines that come first, by the word that a criterion names.
QUESTIONS: Mapping[str, str] = {
    "safe": "Is it safe to others?",
    "fills": "Does it fill the pipe?",
    "queues": "Does it keep queues short?",
    "loss": "Does it survive loss?",
    "short": "What does it do to short flows?",
}

Compare = Literal["value", "difference", "ratio", "kept", "either way"]
Runs = Mapping[str, Sequence[Row]]  # the flows of a run by the run's name, all with one seed
Making = Callable[[Control], Mapping[str, Scenario]]  # what runs with a control, by the run's name
RunKey = tuple[str, int]  # a scenario's hash and a seed
# Runs a scenario with these seeds, except for runs that are kept; returns the rows of all flows.
RowsOf = Callable[[Scenario, Sequence[int]], "list[Row]"]


_REAL_TIME_RUNS = 3


@dataclass(frozen=True)
class Effort:
    """States how much an evaluation runs."""

    name: str
    runs: int  # of each point, for means
    worst_of: int  # of each point where the worst run counts
    paths: int  # of the population
    calls_s: float = 5.0  # of a control in a file, in any order
    is_quick: bool = False  # leaves out points and pictures

    def in_real_time(self) -> Effort:
        """Returns the same with few runs, for engines that take as long as what they run."""
        return replace(self, runs=_REAL_TIME_RUNS, worst_of=_REAL_TIME_RUNS)


QUICK = Effort("quick", 5, 10, 16, is_quick=True)
USUAL = Effort("usual", 16, 100, 60)
FULL = Effort("full", 24, 100, 400)
EFFORTS: Mapping[str, Effort] = {effort.name: effort for effort in (QUICK, USUAL, FULL)}


@dataclass(frozen=True)
class Threshold:
    """A bound, and who asks for it."""

    bound: float
    source: str
    at_most: bool = False

    def holds(self, value: float) -> bool:
        """Returns whether a value is on the right side."""
        return value <= self.bound if self.at_most else value >= self.bound


@dataclass(frozen=True)
class Point:
    """A place on the axis of a criterion: what runs there, by name, with a control.

    A control that lacks one of the settings does not run there.
    """

    name: str
    runs: Making
    in_quick: bool = True
    settings: Mapping[str, Any] = field(default_factory=dict)  # of the control there


FAR = 0.1  # a relative difference from a published number that needs a reason


@dataclass(frozen=True)
class Published:
    """A number that others published for a point, and why ours differs.

    A bound is what their worst run must keep; only more needs a reason.
    """

    value: float
    source: str
    why: str = ""
    is_bound: bool = False

    def ours(self, mean: float, worst: float) -> float:
        """Returns which of our numbers it is compared with."""
        return worst if self.is_bound else mean

    @property
    def text(self) -> str:
        """Returns it as a page writes it."""
        return f"{'at most ' if self.is_bound else ''}{self.value:.3g}"

    def explains(self, off: float) -> str:
        """Returns the reason for a relative difference, if it needs one."""
        is_far = off > FAR if self.is_bound else abs(off) > FAR
        return (self.why or "unexplained") if is_far else ""


@dataclass(frozen=True)
class Criterion:
    """A question about a control that runs decide.

    `measure` makes a number of the runs of one seed. `compare` says what the threshold applies to:
    the number itself, its difference from the reference's number, or its ratio to it. "kept" takes
    the number as harm, and the ratio of what is left, 1 - harm. "either way" takes the number as a
    ratio, and it or its inverse, whichever is larger. The number counts as a mean over seeds,
    geometric for ratios, or as its worst seed.
    """

    name: str
    says: str
    source: str
    points: Sequence[Point]
    measure: Callable[[Runs], float]
    threshold: Threshold | None
    unit: str = ""
    question: str = ""  # a key of QUESTIONS; empty: it counts for none of the five lines
    compare: Compare = "value"
    is_worst: bool = False
    axis: str = ""  # what the points are
    note: str = ""
    published: Mapping[str, Sequence[Published]] = field(default_factory=dict)  # by protocol
    more_columns: MoreColumns | None = None  # what the measure reads of a run's events
    most_runs: int = FULL.worst_of  # for points that cost minutes

    def chosen(self, effort: Effort) -> list[Point]:
        """Returns the points that this effort runs."""
        return [point for point in self.points if point.in_quick or not effort.is_quick]

    def has_paced(self, effort: Effort) -> bool:
        """Returns whether its runs compare with paced CUBIC, too."""
        return self.compare == "kept" and (bool(self.question) or not effort.is_quick)

    @property
    def statistic(self) -> str:
        """Returns which number of a point's runs the threshold applies to."""
        return "worst run" if self.is_worst else "mean"

    def seeds(self, effort: Effort) -> int:
        """Returns how many seeds each point runs with."""
        return min(self.most_runs, effort.worst_of if self.is_worst else effort.runs)


@dataclass(frozen=True)
class Clause:
    """A clause of a part's source: the criteria that judge it, or why a simulator can't."""

    number: str
    title: str
    criteria: Sequence[str] = ()
    why_not: str = ""


@dataclass(frozen=True)
class Work:
    """What a harness is asked: the names of criteria, how thoroughly, and on which engine."""

    names: Sequence[str]
    effort: Effort
    seed: int
    engine: str
    rows_of: RowsOf  # keeps each run
    workers: int | None
    has_failed: bool = False  # in what an earlier start has kept


# Yields answers as an Answer keeps them; each is kept when it comes.
Harness = Callable[[Control, Work], Iterable[Mapping[str, Any]]]


@dataclass(frozen=True)
class Part:
    """A list of criteria with one source; or a harness that gives their answers."""

    name: str
    title: str
    source: str
    criteria: Sequence[Criterion] = ()
    rows: Sequence[Target] = ()  # criteria over drawn paths
    harness: Harness | None = None
    names: Sequence[str] = ()  # of the harness's criteria
    in_quick: bool = True
    only_full: bool = False
    only_asked: bool = False  # by --suite or --only
    of_queues: bool = False  # judges queue disciplines, not controls
    clauses: Sequence[Clause] = ()
    engines: Sequence[str] = (SIMULATOR.name,)  # that a harness can use
    draw: Callable[[str, Sequence[Control], Work], Figure] | None = None  # a harness's criterion
    drawn: Sequence[str] = ()  # the criteria that it draws; empty: all
    # Draws the part's answers by control and criterion; None if they lack what it shows.
    picture: Callable[[Mapping[Control, Mapping[str, Answer]]], Figure | None] | None = None
    is_test: bool = False  # a criterion that fails gives exit code 1 if the part was asked for

    def runs_with(self, effort: Effort) -> bool:
        """Returns whether an evaluation without --suite and --only runs this part."""
        if self.only_full or self.only_asked:
            return effort.name == FULL.name and not self.only_asked
        return self.in_quick or not effort.is_quick
