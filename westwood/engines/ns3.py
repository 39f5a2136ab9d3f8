# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios in ns-3, through the runner of our ns-3 module.

`westwood ns3 build` builds the runner; WESTWOOD_NS3 can name another one.
"""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from pathlib import Path

from westwood.control import loading
from westwood.engines import ns3_limits, wire
from westwood.engines.contract import Job, RunSeed, without_events
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, one_line
from westwood.programs import Program, run
from westwood.scenario import Scenario

ENGINE = "ns3"
VARIABLE = "WESTWOOD_NS3"
_OF_CONTROL = "control\t"  # begins the runner's line about a user's control that failed
PROGRAM = Program(
    "ns3/wheel/ww-ns3-runner",
    VARIABLE,
    "engine ns3 needs its runner",
    make="westwood ns3 build",
    install="westwood ns3 build",
)


def program() -> Path:
    """Returns the runner's location; raises UnavailableError with the remedy if it is missing."""
    return PROGRAM.find()


def prepare(job: Job) -> RunSeed:
    """Checks a job; returns the function that runs a seed in ns-3."""
    if job.needs_events:
        raise InputError("logs no events for this figure", key="--engine", value=ENGINE)
    path, text, traced = program(), plan(job.scenario), bool(job.more_columns)
    return lambda seed: job.rows(_run(path, text, job.scenario, seed, traced))


def plan(scenario: Scenario) -> str:
    """Returns the scenario as a plan; raises InputError for what ns-3 can't do."""
    ns3_limits.check(scenario)
    return wire.plan(scenario) + wire.objects(scenario)


def _run(program: Path, text: str, scenario: Scenario, seed: int, trace: bool) -> Result:
    execute = partial(_execute, program)
    return wire.run(scenario, seed, text, execute, PROGRAM, engine=ENGINE, trace=trace)


simulate = without_events(
    ENGINE, lambda scenario, seed, trace: _run(program(), plan(scenario), scenario, seed, trace)
)


def _execute(program: Path, text: str, what: str) -> list[list[str]]:
    """Runs the runner with this plan; returns the words of its output lines."""
    lines, last = wire.heard(run([program], text))
    if last:
        failed = None
        if last.startswith(_OF_CONTROL):
            with suppress(LookupError, ValueError):  # not as the runner writes it
                failed = loading.located(last.removeprefix(_OF_CONTROL))
        if failed:
            raise failed
        wire.refuse_stale(PROGRAM, last)
        raise RunError(f"{what}: ns-3 ended with {one_line(last)}")
    return lines
