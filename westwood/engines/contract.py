# SPDX-License-Identifier: BSD-3-Clause
"""Every engine takes jobs and gives rows; a traced run is a `Result`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from westwood.engines.result import Result
from westwood.errors import InputError
from westwood.results.columns import Row
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from westwood.results.spool import Spool

MoreColumns = Callable[[Result], Mapping[str, Mapping[str, float]]]  # by the flow's name


@dataclass(frozen=True)
class Job:
    """Is a point of a sweep: the settings that make it, the scenario they make, the seeds to run.

    With `more_columns` each run is traced, with events where it needs them, and every flow's row
    gets the columns that it reads from the traced run.
    """

    scenario: Scenario
    seeds: Sequence[int]
    settings: Mapping[str, Any] = field(default_factory=dict)
    more_columns: MoreColumns | None = None
    needs_events: bool = False

    def rows(self, result: Result) -> list[Row]:
        """Makes the rows of a run of this job: its settings, the flow's results, more columns."""
        more = self.more_columns(result) if self.more_columns else {}
        return [{**self.settings, **row, **more.get(row["flow"], {})} for row in result.flow_rows]


RunSeed = Callable[[int], list[Row]]
Prepare = Callable[[Job], RunSeed]


class Simulate(Protocol):
    """Runs a scenario once, not its sweep; what is asked for is recorded."""

    def __call__(
        self,
        scenario: Scenario,
        seed: int = 1,
        *,
        trace: bool = False,
        events: bool = False,
        queues: bool = False,
        capture: str | None = None,
        spool: Spool | None = None,
        yes: bool = False,
    ) -> Result:
        """`westwood.engines.simulator.simulate` says what the options record.

        Only the simulator puts it on disk, into `spool`, and asks for `yes`.
        """


def refuse_simulators_own(engine: str, *, events: bool, capture: str | None) -> None:
    """InputError names the record that only the simulator makes, if one is asked for."""
    for option, asked in (("--events", events), ("--pcap", capture)):
        if asked:
            problem = f"comes of the simulator only, expected no --engine {engine}"
            raise InputError(problem, key=option)


@dataclass(frozen=True)
class Engine:
    """Is a way to run scenarios, and says how its runs differ from those of the others."""

    name: str
    prepare: Prepare  # checks a job and makes of it what runs one of its seeds
    simulate: Simulate
    runs_everything: bool = False  # no valid scenario is refused, so that none is checked before
    real_time: bool = False  # a run takes as long as it says
    profile: str | None = None  # `compare` uses it, unless the user says
    workers: int | None = None  # unless the user says how many; None: one a core

    def check(self, jobs: Iterable[Job]) -> None:
        """Raises what this engine can't do, or this machine lacks, before anything is run."""
        if not self.runs_everything:
            for job in jobs:
                self.prepare(job)
