# SPDX-License-Identifier: BSD-3-Clause
"""Runs scenarios for Python programs: `westwood.simulate` and `westwood.simulate_many`."""

from __future__ import annotations

import contextlib
import operator
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from westwood import engines, extras
from westwood.control import arguments
from westwood.control.catalogue import LONGEST_PS
from westwood.engines import resources
from westwood.engines.contract import Job
from westwood.engines.pool import MOST_WORKERS, run_jobs, sorted_rows
from westwood.engines.resources import Recorded
from westwood.engines.result import Result
from westwood.engines.simulator import ENGINE, MOST_SEEDS
from westwood.errors import InputError
from westwood.results.rows import rows_frame
from westwood.scenario import Scenario
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    import polars as pl

_SEED = arguments.whole(0, 2**64 - 1)
_COUNT = arguments.whole(1, MOST_SEEDS)
_LIST = arguments.each(_SEED, MOST_SEEDS)
# Options that engines name in errors, and the arguments that take their place here.
_ARGUMENTS = {"--engine": "engine", "--events": "events", "--pcap": "capture"}


@arguments.checked(
    seed=_SEED,
    engine=arguments.text,
    trace=arguments.switch,
    interval_s=arguments.number(0, LONGEST_PS / PS_PER_S),
    events=arguments.switch,
    queues=arguments.switch,
    capture=arguments.optional(arguments.text),
    check_resources=arguments.switch,
)
def simulate(
    scenario: Scenario | str | os.PathLike[str],
    seed: int = 1,
    *,
    engine: str = ENGINE,
    trace: bool = False,
    interval_s: float = 0,
    events: bool = False,
    queues: bool = False,
    capture: str | None = None,
    check_resources: bool = True,
) -> Result:
    """Runs a scenario once, with one seed.

    The sweep of the scenario is left out: each swept key has the value that the scenario gives it
    outside the sweep. The same scenario and seed give the same run, to the bit, on any machine.

    Parameters
    ----------
    scenario : Scenario, str or path
        What is run: a `Scenario`, the name of a preset (`presets()`), or a TOML file.
    seed : int, default 1
        Seed of the run's random numbers, from 0 to 2^64 - 1.
    engine : {"sim", "ns3", "ns2", "linux", "linux-um", "quinn", "noq"}, default "sim"
        What runs it: the simulator of this package, ns-3, ns-2, or real sockets of this machine's
        kernel. Linux takes as long as the scenario lasts; "linux-um" is Linux in virtual time.
        `westwood ns3 build` and `westwood kernel build` install ns-3 and the latter.
    trace : bool, default False
        Records windows, bandwidth estimate and round trips: `Result.trace`.
    interval_s : float, default 0
        Least time between two records of a flow's trace, in seconds; 0 records every change.
    events : bool, default False
        Records each segment, ACK and decision of the senders: `Result.events`. Simulator only.
    queues : bool, default False
        Records queue lengths and dropped packets: `Result.queues` and `Result.drops`.
    capture : str, optional
        Name of a link whose packets are kept for `Result.write_pcap`. Simulator only.
    check_resources : bool, default True
        Refuses a run that seems to need more memory than this machine has.

    Returns
    -------
    Result
        The run: `rows` has one row per flow, the other frames what was recorded.

    Raises
    ------
    InputError
        If an argument is wrong, if the engine cannot run the scenario, or if the run seems to
        need too much memory.
    UnavailableError
        If the engine or an optional package is not installed; the message has the command.
    RunError
        If the run fails though its input was valid.

    Examples
    --------
    >>> from westwood import Scenario, simulate
    >>> table1 = Scenario.preset("table1").with_settings({"duration": "20s"})
    >>> simulate(table1)
    <Result of table1, 20s, seed 1: tcp (westwood-ns3) 1.569 Mb/s>
    >>> result = simulate(table1, seed=2, trace=True)
    >>> result.rows["goodput_bps"].item()
    1471680.0
    >>> result.trace["cwnd"].max()
    173.0

    The same path in ns-3, once `westwood ns3 build` has been run:

    >>> simulate("table1", engine="ns3").rows  # doctest: +SKIP
    """
    chosen = _loaded(scenario)
    if trace or events or queues or capture is not None:
        extras.need("numpy", "a trace")
    with _options_as_arguments():
        runs = engines.find(engine)
        if check_resources:
            resources.check_run(chosen, Recorded(trace, events, queues, capture), engine)
        return runs.simulate(
            chosen,
            seed,
            trace=trace,
            interval_s=interval_s,
            events=events,
            queues=queues,
            capture=capture,
        )


@arguments.checked(
    engine=arguments.text,
    workers=arguments.optional(arguments.whole(1, MOST_WORKERS)),
    check_resources=arguments.switch,
)
def simulate_many(
    scenario: Scenario | str | os.PathLike[str],
    seeds: int | Iterable[int] | None = None,
    *,
    engine: str = ENGINE,
    workers: int | None = None,
    check_resources: bool = True,
) -> pl.DataFrame:
    """Runs every point of a scenario's sweep with every seed, on all cores.

    The rows do not depend on the number of workers, except the columns `cpu_s` and `wall_s`.

    Parameters
    ----------
    scenario : Scenario, str or path
        What is run: a `Scenario`, the name of a preset (`presets()`), or a TOML file.
    seeds : int or iterable of int, optional
        The number of runs of each point, with the seeds 1, 2..., or the seeds themselves, each
        once. The scenario's own number (`Scenario.seeds`) if it is not given.
    engine : {"sim", "ns3", "ns2", "linux", "linux-um", "quinn", "noq"}, default "sim"
        What runs it, as in `simulate`.
    workers : int, optional
        Threads; one per core if it is not given, and one for the engine "linux".
    check_resources : bool, default True
        Refuses runs that seem to need more memory than this machine has.

    Returns
    -------
    polars.DataFrame
        One row per point, seed and flow, in this order. The swept keys come first, under their
        names in the sweep; then the columns of `Result.rows`.

    Raises
    ------
    InputError
        If an argument is wrong, if the engine cannot run a point, or if the runs seem to need
        too much memory. Nothing has been run then.
    UnavailableError
        If the engine is not installed; the message has the command.
    RunError
        If a run fails though its input was valid.

    Examples
    --------
    >>> import polars as pl
    >>> from westwood import Scenario, simulate_many
    >>> short = Scenario.preset("table1").with_settings({"duration": "20s"})
    >>> swept = short.with_sweep({"tcp.cc": ["newreno", "westwood+"]})
    >>> rows = simulate_many(swept, seeds=3)
    >>> rows.select("tcp.cc", "seed", "timeouts")
    shape: (6, 3)
    ┌───────────┬──────┬──────────┐
    │ tcp.cc    ┆ seed ┆ timeouts │
    │ ---       ┆ ---  ┆ ---      │
    │ str       ┆ i64  ┆ i64      │
    ╞═══════════╪══════╪══════════╡
    │ newreno   ┆ 1    ┆ 0        │
    │ newreno   ┆ 2    ┆ 0        │
    │ newreno   ┆ 3    ┆ 0        │
    │ westwood+ ┆ 1    ┆ 0        │
    │ westwood+ ┆ 2    ┆ 1        │
    │ westwood+ ┆ 3    ┆ 1        │
    └───────────┴──────┴──────────┘
    >>> rows.group_by("cc", maintain_order=True).agg(pl.mean("goodput_bps"))
    shape: (2, 2)
    ┌───────────┬─────────────┐
    │ cc        ┆ goodput_bps │
    │ ---       ┆ ---         │
    │ str       ┆ f64         │
    ╞═══════════╪═════════════╡
    │ newreno   ┆ 384624.0    │
    │ westwood+ ┆ 686208.0    │
    └───────────┴─────────────┘
    """
    chosen = _loaded(scenario)
    numbers = arguments.checked_value("seeds", chosen.seeds if seeds is None else seeds, _numbers)
    with _options_as_arguments():
        runs = engines.find(engine)
        if check_resources:
            resources.check_sweep([chosen], len(numbers))
        jobs = [Job(point, numbers, settings) for settings, point in chosen.points()]
        runs.check(jobs)
        count = runs.workers if workers is None else workers
        if check_resources:
            resources.check_many([job.scenario for job in jobs], len(numbers), count, engine)
        rows = sorted_rows(run_jobs(jobs, runs.prepare, workers=count))
    return rows_frame(rows)


def _loaded(scenario: object) -> Scenario:
    """Returns the scenario, after loading a preset or a file by its name."""
    if isinstance(scenario, Scenario):
        return scenario
    if not isinstance(scenario, (str, os.PathLike)):
        problem = "expected a Scenario, the name of a preset or a file"
        raise InputError(problem, key="scenario", value=scenario)
    try:
        return Scenario.load(scenario)
    except InputError as error:
        if error.key or error.source:
            raise
        raise error.located(key="scenario") from None


def _numbers(seeds: object) -> Sequence[int]:
    """Returns the seeds of a point: the given ones, or 1, 2... up to a number."""
    try:
        operator.index(seeds)  # type: ignore[arg-type]
    except Exception:  # a user's object may raise anything
        if isinstance(seeds, (float, str, bytes)) or not hasattr(seeds, "__iter__"):
            raise InputError("expected a number of seeds, or a list of them", value=seeds) from None
        chosen: list[int] = _LIST(seeds)
        if not chosen:
            raise InputError("expected at least one seed") from None
        repeated = [seed for seed, times in Counter(chosen).items() if times > 1]
        if repeated:  # would narrow the intervals of means
            raise InputError("expected each seed once", value=repeated[0]) from None
        return chosen
    return range(1, _COUNT(seeds) + 1)


@contextlib.contextmanager
def _options_as_arguments() -> Iterator[None]:
    """Replaces command-line options in errors by the arguments of the function."""
    try:
        yield
    except InputError as error:
        if error.key not in _ARGUMENTS:
            raise
        raise error.located(key=_ARGUMENTS[error.key]) from None
