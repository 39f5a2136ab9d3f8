# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios on the real Linux TCP in virtual time: User-Mode Linux with our links inside.

The machine (linux/um, westwood/kernel/virtual.py) takes the plan and prints the report of ww-path.
Scenario and seed decide every byte of it.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from westwood import programs
from westwood.control import loading
from westwood.engines import linux_limits, linux_queues, network, wire
from westwood.engines.contract import Job, RunSeed, without_events
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, one_line
from westwood.kernel import virtual
from westwood.programs import Program
from westwood.scenario import Scenario
from westwood.scenario.flows import Flow
from westwood.scenario.stacks import is_kernels

ENGINE = "linux-um"
_NEEDS, _OWNS_RECOVERY = 1 | 16, 2  # of core/contract.h; the first: a rate, packets
# What the kernel and User-Mode Linux print when they end too soon, the cause first.
_PANIC = re.compile(r"(?:Bus error - |Kernel panic - not syncing: |BUG: |Oops: )(.*)")
_MEANINGS = {
    "Segfault with no mm": "an access to memory that is not there",
    "Kernel mode signal 4": "what is undefined in C, such as a division by zero",
}
_ENDED = "the kernel ended with"


def title() -> str:
    """Returns what pages call it."""
    return " ".join(filter(None, ("Linux", virtual.version(), "in virtual time")))


def prepare(job: Job) -> RunSeed:
    """Checks a job; returns the function that runs a seed."""
    if job.more_columns and job.needs_events:
        raise InputError("can't trace for this figure", key="--engine", value=ENGINE)
    check(job.scenario)
    virtual.program()
    traced = job.more_columns is not None
    return lambda seed: job.rows(run(job.scenario, seed, trace=traced))


def check(scenario: Scenario) -> None:
    """Raises InputError, with the key, for what the machine can't run."""
    try:
        linux_queues.check(scenario)
        _check_files(scenario)
        linux_limits.check_flows(scenario, lambda *_: None)
        _check_kernels(scenario)
    except InputError as error:
        raise _of_this_engine(error) from None


def _check_files(scenario: Scenario) -> None:
    """Refuses controls in Python, a second one in a file, and what the kernel can't report."""
    first: Flow | None = None
    for flow in scenario.flow:
        cc, key = flow.cc, f"{flow.name}.cc"
        if not loading.is_file(cc.name):
            continue
        if cc.name.endswith(loading.PYTHON):
            raise InputError("engine linux expects a control in C", key=key, value=cc.name)
        first = first or flow
        if (cc.source, cc.parameters) != (first.cc.source, first.cc.parameters):
            problem = f"engine linux expects {first.cc.name} as in {first.name}: one file for a run"
            raise InputError(problem, key=key, value=cc.name)
        traits = loading.of_source(str(cc.source), cc.name).traits
        if traits & _NEEDS and not traits & _OWNS_RECOVERY:
            problem = "engine linux expects WW_OWNS_RECOVERY with WW_NEEDS_RATE, WW_FOLLOWS_PACKETS"
            raise InputError(problem, key=key, value=cc.name)


def _check_kernels(scenario: Scenario) -> None:
    """Refuses controls that the machine's kernel does not have."""
    known = virtual.controls()
    for flow in scenario.flow:
        if is_kernels(flow.cc.stack) and flow.cc.control not in known:
            problem = f"engine linux expects one of {', '.join(known)}"
            raise InputError(problem, key=f"{flow.name}.cc", value=flow.cc.written)


def _of_this_engine(error: InputError) -> InputError:
    """Returns the error of engine linux with the name of this one."""
    problem = error.problem.replace("engine linux ", f"engine {ENGINE} ", 1)
    others = [_of_this_engine(other_error) for other_error in error.others]
    return InputError(problem, key=error.key, value=error.value, source=error.source, others=others)


def _simulated(scenario: Scenario, seed: int, trace: bool) -> Result:
    check(scenario)
    return run(scenario, seed, trace=trace)


simulate = without_events(ENGINE, _simulated)


def run(scenario: Scenario, seed: int = 1, *, trace: bool = False) -> Result:
    """Runs a scenario once; `trace` records windows, queues and drops."""
    program = virtual.program()
    text = network.plan_of_kernel(scenario) + wire.objects(scenario)
    execute = partial(_execute, program, seed)
    return wire.run(scenario, seed, text, execute, _described(program), engine=ENGINE, trace=trace)


def replay(protocol: int, control: Path | None, values: Sequence[int], calls: str) -> str:
    """Returns the windows after each call of a recording, made in the machine's kernel.

    control: the shared object of a file; without one, `protocol` is a number of the catalogue.
    """
    order = " ".join(map(str, ("replay", protocol, *values)))
    text = f"{order}\n{control or ''}\n{calls}end\n"
    *lines, _ = _execute(virtual.program(), 1, text, ENGINE)
    return "".join(" ".join(words) + "\n" for words in lines)


def _described(program: Path) -> Program:
    remedy = "make linux-um" if programs.CHECKOUT else virtual.BUILD
    return Program(str(program), virtual.VARIABLE, "engine linux-um", remedy, remedy)


def _execute(program: Path, seed: int, plan: str, what: str) -> list[list[str]]:
    """Runs the machine with this plan; returns the words of its report's lines."""
    done = programs.run([program, str(seed), str(os.getpid())], plan)
    lines, problem = wire.heard(done)
    errors = [" ".join(words[1:]) for words in lines if words[:1] == ["error"]]
    if errors:
        wire.refuse_stale(_described(program), errors[0])
        raise RunError(f"{what}: {_ENDED} {one_line(errors[0])}")
    if problem:
        causes = [*_PANIC.findall(done.errors), problem]
        cause = one_line(_MEANINGS.get(causes[0].strip(), causes[0]))
        raise RunError(f"{what}: {_ENDED} {cause}")
    return lines
