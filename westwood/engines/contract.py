# SPDX-License-Identifier: BSD-3-Clause
"""Defines the interface of engines: jobs in, rows or a `Result` out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from westwood.engines.result import Result
from westwood.errors import InputError
from westwood.results.columns import Row
from westwood.results.rows import lost_by_link
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from westwood.results.spool import Spool

MoreColumns = Callable[[Result], Mapping[str, Mapping[str, float]]]  # by the flow's name


@dataclass(frozen=True)
class Job:
    """Describes a point of a sweep: its settings, the resulting scenario and the seeds to run.

    With `more_columns` each run is traced, including events if `needs_events`, and each flow's row
    gets the columns that `more_columns` computes from the trace. With `counts_links` it gets the
    packets that the run lost on each link, if there are several links.
    """

    scenario: Scenario
    seeds: Sequence[int]
    settings: Mapping[str, Any] = field(default_factory=dict)
    more_columns: MoreColumns | None = None
    needs_events: bool = False
    counts_links: bool = False

    def rows(self, result: Result) -> list[Row]:
        """Returns a run's rows: the job's settings, each flow's results, and `more_columns`."""
        more = self.more_columns(result) if self.more_columns else {}
        lost = lost_by_link(result.scenario, result.raw) if self.counts_links else {}
        return [
            {**self.settings, **row, **lost, **more.get(row["flow"], {})}
            for row in result.flow_rows
        ]


RunSeed = Callable[[int], list[Row]]
Prepare = Callable[[Job], RunSeed]


class Simulate(Protocol):
    """Runs a scenario once, without its sweep, and records what the options ask for."""

    def __call__(
        self,
        scenario: Scenario,
        seed: int = 1,
        *,
        trace: bool = False,
        interval_s: float = 0,
        events: bool = False,
        queues: bool = False,
        capture: str | None = None,
        spool: Spool | None = None,
    ) -> Result:
        """Runs the scenario; see `westwood.simulate` for the options.

        Only the simulator uses `spool`, to record on disk.
        """


def without_events(engine: str, run: Callable[[Scenario, int, bool], Result]) -> Simulate:
    """Returns an engine's function that refuses records that only the simulator makes.

    run: gets a scenario, a seed, and whether it records windows, queues and drops.
    """

    def simulate(
        scenario: Scenario,
        seed: int = 1,
        *,
        trace: bool = False,
        interval_s: float = 0,
        events: bool = False,
        queues: bool = False,
        capture: str | None = None,
        spool: Spool | None = None,
    ) -> Result:
        for option, asked in (("--events", events), ("--pcap", capture)):
            if asked:
                problem = f"works only in the simulator, not with engine {engine}"
                raise InputError(problem, key=option)
        if interval_s:
            problem = "works only in the simulator; Result.sampled() thins any trace"
            raise InputError(problem, key="interval_s", value=interval_s)
        return run(scenario, seed, trace or queues)

    return simulate


@dataclass(frozen=True)
class Engine:
    """Describes an engine: the functions that run scenarios, and how its runs differ."""

    name: str
    prepare: Prepare  # checks a job and returns the function that runs a seed
    simulate: Simulate
    runs_everything: bool = False  # accepts every valid scenario, so `check` has nothing to do
    remarks: Callable[[Scenario], Iterable[str]] = lambda _: ()  # where it departs from a scenario
    real_time: bool = False  # a run takes its simulated time
    profile: str | None = None  # the default profile of `compare`
    workers: int | None = None  # the default number of workers; None: one per core
    title: str = ""  # what pages call it: the program's name and version

    def check(self, jobs: Iterable[Job]) -> None:
        """Raises an error, before any run, if the engine or the machine can't run a job."""
        if not self.runs_everything:
            for job in jobs:
                self.prepare(job)
