# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios with the QUIC stacks quinn and noq as endpoints, through the runner ww-quic.

`make quic` builds the runner; WESTWOOD_QUIC can name another one.
"""

from __future__ import annotations

import functools
import os
import tempfile
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from westwood import programs
from westwood.engines import network, quic_limits, wire
from westwood.engines.contract import RunSeed, refuse_simulators_own
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.programs import Program
from westwood.results.columns import Row
from westwood.results.rows import rows_of_run

if TYPE_CHECKING:
    from westwood.engines.contract import Job
    from westwood.results.spool import Spool
    from westwood.scenario import Scenario

VARIABLE = "WESTWOOD_QUIC"
# The versions that quic/stacks/Cargo.toml pins.
TITLES = {"quinn": "quinn-proto 0.11.19", "noq": "noq-proto 1.4.0"}
PROGRAM = Program(
    "quic/ww-quic",
    VARIABLE,
    "the engines quinn and noq need ww-quic",
    make="make quic",
    install=programs.REINSTALL,
)


_NAMES_ITSELF = "--name"
_ANSWERS_IN_S = 10.0


def program() -> Path:
    """Returns the runner's location.

    Raises UnavailableError with the remedy if there is none of this version, and InputError if
    WESTWOOD_QUIC names another program.
    """
    found = PROGRAM.find()
    if problem := _problem_of(found, found.stat().st_mtime_ns):
        if os.environ.get(VARIABLE):
            problem += f", expected a ww-quic of this version: {PROGRAM.remedy}"
            raise InputError(problem, key=VARIABLE, value=str(found))
        raise UnavailableError(f"{found} {problem}; rebuild it: {PROGRAM.remedy}")
    return found


@functools.cache
def _problem_of(path: Path, _built_ns: int) -> str:
    """Returns what is wrong with the program; empty: it says that it is a ww-quic."""
    try:
        # A ww-quic without the option reads a plan, and ends with this one's error.
        done = programs.run([path, _NAMES_ITSELF], "end\n", timeout_s=_ANSWERS_IN_S)
    except TimeoutError:
        return "does not answer"
    except RunError:
        return "is no ww-quic"
    except UnavailableError as error:
        return str(error).removeprefix(f"{path} ")
    if done.out == "ww-quic\n":
        return ""
    return "is of another version" if done.errors.startswith("ww-quic: ") else "is no ww-quic"


@dataclass(frozen=True)
class Stack:
    """An engine: the stack whose connections are those of flows that name none."""

    name: str

    def simulate(
        self,
        scenario: Scenario,
        seed: int = 1,
        *,
        trace: bool = False,
        interval_s: float = 0,
        queues: bool = False,
        events: bool = False,
        capture: str | None = None,
        spool: Spool | None = None,
    ) -> Result:
        """Runs a scenario once; refuses events and captures, which the stacks do not record."""
        refuse_simulators_own(self.name, events=events, capture=capture, interval_s=interval_s)
        return self._run(self.plan(scenario), scenario, seed, trace=trace or queues)

    def prepare(self, job: Job) -> RunSeed:
        """Checks a job; returns the function that runs a seed."""
        if job.needs_events:
            raise InputError("logs no events for this figure", key="--engine", value=self.name)
        program()
        return partial(self._rows, self.plan(job.scenario), job)

    def _rows(self, text: str, job: Job, seed: int) -> list[Row]:
        return job.rows(self._run(text, job.scenario, seed, trace=bool(job.more_columns)))

    def plan(self, scenario: Scenario) -> str:
        """Returns the scenario as a plan; raises InputError for what QUIC can't do."""
        quic_limits.check(scenario, self.name)
        stacks = []
        for number, flow in enumerate(scenario.flows):
            if stack := quic_limits.stack_of(flow, self.name):
                whose = "ours" if flow.cc.stack is None else "own"
                stacks.append(f"stack {number} {stack} {whose} {flow.cc.name}\n")
        return network.plan(scenario, has_stacks=True).text() + "".join(stacks)

    def _run(self, text: str, scenario: Scenario, seed: int, *, trace: bool) -> Result:
        wall = time.perf_counter()
        with wire.trace_files(trace) as files:
            text += wire.conclusion(seed, files)
            what = f"{scenario.name}, seed {seed}"
            report = wire.read(_execute(text, what), scenario, files, what, PROGRAM)
        raw = report.result()
        cost = {"cpu_s": report.cpu_s, "wall_s": time.perf_counter() - wall}
        return Result(scenario, seed, rows_of_run(scenario, seed, raw, cost, self.name), raw)


def _execute(plan: str, what: str) -> list[list[str]]:
    """Runs the runner with this plan; returns the words of its output lines."""
    lines, problem = wire.heard(programs.run([program()], plan))
    if problem:
        wire.refuse_stale(PROGRAM, problem)
        problem = one_line(problem.removeprefix("ww-quic: "))
        raise RunError(f"{what}: {problem}; to repeat it: {program()} < {_kept(plan)}")
    return lines


def _kept(plan: str) -> Path:
    """Returns a file with the plan of a failed run, without its trace."""
    lines = [line for line in plan.splitlines(keepends=True) if not line.startswith("trace ")]
    with tempfile.NamedTemporaryFile(
        "w", prefix="westwood-", suffix=".plan", delete=False, encoding="utf-8"
    ) as file:
        file.writelines(lines)
    return Path(file.name)
