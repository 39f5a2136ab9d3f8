# SPDX-License-Identifier: BSD-3-Clause
"""What can run a scenario: the simulator, ns-3, Linux. Each gives the same rows and traces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from westwood import sim
from westwood.errors import InputError
from westwood.scenario import Scenario
from westwood.sim import Job, Prepare, Result

NAMES = ("sim", "ns3", "linux")


class Simulate(Protocol):
    """Runs a scenario once."""

    def __call__(
        self, scenario: Scenario, seed: int = 1, *, trace: bool = False, events: bool = False,
        queues: bool = False, capture: str | None = None,
    ) -> Result:  # fmt: skip
        """`sim.simulate`."""


@dataclass(frozen=True)
class Engine:
    """How one runs."""

    name: str
    prepare: Prepare | None  # for `sim.run_jobs`; None: the simulator's own
    simulate: Simulate
    real_time: bool = False  # a run takes as long as it says
    profile: str | None = None  # what `compare` is to use, unless the user says
    workers: int | None = None  # unless the user says how many; None: one a core

    def check(self, jobs: Iterable[Job]) -> None:
        """What it can't do, and what this machine lacks for it, before anything is run."""
        if self.prepare:
            for job in jobs:
                self.prepare(job)


SIMULATOR = Engine("sim", None, sim.simulate)


def find(name: str) -> Engine:
    """The engine, or what this machine lacks for it, before anything is done."""
    if name == "sim":
        return SIMULATOR
    if name == "ns3":
        from westwood import ns3

        ns3.runner()
        return Engine(name, ns3.prepare, ns3.simulate)
    if name == "linux":
        from westwood import linux

        linux.check_machine()
        recorder = linux.Recorder()
        return Engine(
            name, recorder.prepare, recorder.simulate, real_time=True, profile=name, workers=1
        )
    raise InputError("expected " + ", ".join(NAMES), key="--engine", value=name)
