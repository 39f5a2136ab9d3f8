# SPDX-License-Identifier: BSD-3-Clause
"""The engines by name, and what each can do beside making rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from westwood.errors import InputError, UnavailableError
from westwood.sim import Job, Prepare, Result, simulate

if TYPE_CHECKING:
    import polars as pl

    from westwood.scenario import Scenario


@dataclass(frozen=True)
class Engine:
    """What runs scenarios."""

    name: str
    prepare: Prepare | None  # for `sim.run_jobs`; None: the simulator's own
    trace_of: Callable[[Job], pl.DataFrame | None] | None = None  # of a job's first seed, once run
    traced: Callable[[Scenario, int], Result] | None = None  # a run, recorded; None: the simulator
    real_time: bool = False  # a run takes as long as it says
    workers: int | None = None  # unless the user says how many; None: one a core


def find(name: str, *, traces: bool = False) -> Engine:
    """The engine; UnavailableError with the remedy if it is not there, or has no `traces`."""
    if name == "sim":
        return Engine(name, None, lambda job: simulate(job.scenario, 1, trace=True).trace)
    if name == "ns3":
        if traces:
            raise UnavailableError(f"--engine {name} has no traces in this version")
        from westwood import ns3

        ns3.runner()  # or the remedy, before anything is done
        return Engine(name, ns3.prepare)
    if name == "linux":
        from westwood import linux

        linux.program()
        recorder = linux.Recorder()
        return Engine(
            name, recorder.prepare if traces else linux.prepare, recorder.trace_of,
            lambda scenario, seed: linux.run(scenario, seed, trace=True),
            real_time=True, workers=1,
        )  # fmt: skip
    raise InputError("expected sim, ns3 or linux", key="--engine", value=name)
