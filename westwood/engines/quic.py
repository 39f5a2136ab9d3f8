# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios with the QUIC stacks quinn and noq as endpoints, through the runner ww-quic.

`make quic` builds the runner; WESTWOOD_QUIC can name another one.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from westwood import programs
from westwood.engines import network, quic_limits, wire
from westwood.engines.contract import Job, RunSeed, Simulate, without_events
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.programs import Program
from westwood.scenario import Scenario
from westwood.scenario.stacks import is_stack

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
    return _runner()[0]


def _runner() -> tuple[Path, Mapping[str, Fork]]:
    """Returns the runner's location and the forks in it, by engine."""
    path = PROGRAM.find()
    problem, forks = _asked(path, path.stat().st_mtime_ns)
    if problem:
        if os.environ.get(VARIABLE):
            problem += f", expected a ww-quic of this version: {PROGRAM.remedy}"
            raise InputError(problem, key=VARIABLE, value=str(path))
        raise UnavailableError(f"{path} {problem}; rebuild it: {PROGRAM.remedy}")
    return path, forks


def title_of(engine: str) -> str:
    """Returns the package and version of a stack; raises InputError if ww-quic has no such fork."""
    path, forks = _runner()
    if engine in TITLES:
        return TITLES[engine]
    if engine in forks:
        return forks[engine].title
    known = ", ".join((*TITLES, *forks))
    problem = f"is not in {path}, which has {known}: docs/quic.md says how to build a fork"
    raise InputError(problem, key="--engine", value=engine)


def check_control(cc: str, key: str) -> None:
    """Raises InputError, which cites the key, for a fork that the runner lacks, or its control.

    `quic_limits` checks the controls of upstream's stacks.
    """
    engine, _, control = cc.partition(":")
    if engine in TITLES:
        return
    path, forks = _runner()
    if engine not in forks:
        known = ", ".join((*TITLES, *forks))
        problem = f"is of a stack that {path} does not have, expected one of {known}"
        raise InputError(f"{problem}: docs/quic.md says how to build a fork", key=key, value=cc)
    if control not in forks[engine].controls:
        known = ", ".join(f"{engine}:{name}" for name in forks[engine].controls)
        raise InputError(
            f"{engine} has no such control, expected one of {known}", key=key, value=cc
        )


@functools.cache
def _asked(path: Path, _built_ns: int) -> tuple[str, Mapping[str, Fork]]:
    """Returns what is wrong with the program, empty if it says that it is a ww-quic; its forks."""
    try:
        # A ww-quic without the option reads a plan, and ends with this one's error.
        done = programs.run([path, _NAMES_ITSELF], "end\n", timeout_s=_ANSWERS_IN_S)
    except TimeoutError:
        return "does not answer", {}
    except RunError:
        return "is no ww-quic", {}
    except UnavailableError as error:
        return str(error).removeprefix(f"{path} "), {}
    name, *lines = done.out.splitlines() or [""]
    words = [line.split() for line in lines]
    if name == "ww-quic" and all(len(line) > 2 for line in words):
        return "", {
            fork: Fork(f"{crate} {version}", controls) for fork, crate, version, *controls in words
        }
    is_older = done.errors.startswith("ww-quic: ")
    return "is of another version" if is_older else "is no ww-quic", {}


@dataclass(frozen=True)
class Fork:
    """A fork of a stack that a user built into the runner."""

    title: str  # its package and version
    controls: Sequence[str]


@dataclass(frozen=True)
class Stack:
    """An engine: the stack whose connections are those of flows that name none."""

    name: str

    @property
    def simulate(self) -> Simulate:
        """The function that runs a scenario once; the stacks record no events and captures."""
        return without_events(
            self.name,
            lambda scenario, seed, trace: self._run(self.plan(scenario), scenario, seed, trace),
        )

    def prepare(self, job: Job) -> RunSeed:
        """Checks a job; returns the function that runs a seed."""
        if job.needs_events:
            raise InputError("logs no events for this figure", key="--engine", value=self.name)
        program()
        text, traced = self.plan(job.scenario), bool(job.more_columns)
        return lambda seed: job.rows(self._run(text, job.scenario, seed, traced))

    def plan(self, scenario: Scenario) -> str:
        """Returns the scenario as a plan; raises InputError for what QUIC can't do."""
        quic_limits.check(scenario, self.name)
        for flow in scenario.flow:
            if is_stack(flow.cc.stack):
                check_control(flow.cc.written, f"{flow.name}.cc")
        stacks = []
        for number, flow in enumerate(scenario.flows):
            if stack := quic_limits.stack_of(flow, self.name):
                whose = "ours" if flow.cc.stack is None else "own"
                stacks.append(f"stack {number} {stack} {whose} {flow.cc.control}\n")
        return network.plan(scenario, has_stacks=True).text() + "".join(stacks)

    def remarks(self, scenario: Scenario) -> list[str]:
        """Returns the versions of the forks that run."""
        used = versions(self.name, [scenario])
        return [f"{name} is {title}" for name, title in used.items() if name not in TITLES]

    def _run(self, text: str, scenario: Scenario, seed: int, trace: bool) -> Result:
        return wire.run(scenario, seed, text, _execute, PROGRAM, engine=self.name, trace=trace)


def versions(engine: str, scenarios: Iterable[Scenario]) -> dict[str, str]:
    """Returns the packages and versions of the stacks that run the scenarios, by name."""
    flows = [flow for scenario in scenarios for flow in scenario.flows]
    used = {engine, *(quic_limits.stack_of(flow, engine) for flow in flows)}
    return {name: title_of(name) for name in sorted(filter(None, used))}


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
