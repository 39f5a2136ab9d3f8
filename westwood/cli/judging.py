# SPDX-License-Identifier: BSD-3-Clause
"""The options that the judging commands share: evaluate, validate and reproduce.

    @judges(only="Only these grids.", ...)
    def validate(context: typer.Context, asked: Judging, seeds: SeedsOption = None) -> None:

The command has an option for each field of `Judging` where its parameter of that type stands.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.cli.options import (
    OUTPUT,
    SCENARIO,
    DaskOption,
    JsonOption,
    ResumeOption,
    WorkersOption,
    engine_option,
    option,
    refuse_idle,
    several,
)
from westwood.errors import UnavailableError

if TYPE_CHECKING:
    from westwood.engines.contract import Engine
    from westwood.experiments.sweep import RunJobs


@dataclass(frozen=True)
class Judging:
    """What a user gave to the shared options."""

    set_: list[str] | None = None
    only: list[str] | None = None
    seed: int = 1
    engine: str = "sim"
    dask: str | None = None
    workers: int | None = None
    resume: bool = False
    out: Path | None = None
    markdown: bool = False
    json: bool = False

    def checked(self, context: typer.Context) -> Engine:
        """Returns the engine; raises an error for options that clash."""
        from westwood import engines
        from westwood.engines.pool import check_workers

        if self.json:
            refuse_idle(context, "markdown", why="with --json")
        check_workers(self.workers, "--workers")
        engine = engines.find(self.engine)
        if self.dask:
            check_elsewhere(engine)
        return engine

    def tell(
        self,
        entries: Callable[[], Any],
        markdown: Callable[[], str],
        show: Callable[[], object],
        page: Path | None,
    ) -> None:
        """Prints the results as one JSON object, as Markdown, or as a table and the page."""
        if self.json:
            print(json.dumps(entries(), allow_nan=False))
        elif self.markdown:
            print(markdown())
        else:
            show()
            if page:
                print(page)


def judges(
    *, set_: str, only: str, names: Callable[[], Iterable[str]], out: str, engine: str = "sim"
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Gives a command the shared options.

    set_, only, out: what the help says of these options. names: what --only takes. engine: the
    default.
    """
    annotations = {
        "set_": Annotated[list[str] | None, option(SCENARIO, "KEY=VALUE", set_, "--set")],
        "only": Annotated[list[str] | None, several(SCENARIO, "NAME,...", only, choices=names)],
        "seed": Annotated[int, option(SCENARIO, "N", "Seed set to use; two sets share no seed.")],
        "engine": Annotated[str, engine_option(compares=engine != "sim")],
        "dask": DaskOption,
        "workers": WorkersOption,
        "resume": ResumeOption,
        "out": Annotated[Path | None, option(OUTPUT, "DIR", out)],
        "markdown": Annotated[
            bool, option(OUTPUT, None, "Print text for a pull request.", "--markdown")
        ],
        "json": JsonOption,
    }
    defaults = {field.name: field.default for field in fields(Judging)} | {"engine": engine}

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        given = inspect.signature(function, eval_str=True).parameters.values()
        (place,) = (parameter.name for parameter in given if parameter.annotation is Judging)
        shared = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotations[name]
            )
            for name, default in defaults.items()
        ]
        parameters: list[inspect.Parameter] = []
        for parameter in given:
            alone = parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            parameters += shared if parameter.name == place else [alone]

        def command(**values: Any) -> None:
            options = Judging(**{name: values.pop(name) for name in defaults})
            function(**values, **{place: options})

        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {}
        return command

    return decorate


def check_elsewhere(engine: Engine) -> None:
    """Raises UnavailableError for --dask if the engine runs on this machine only."""
    if engine.real_time:
        problem = f"--engine {engine.name} runs on this machine only: leave --dask out"
        raise UnavailableError(problem)


@contextmanager
def connected(dask: str | None) -> Iterator[Any]:
    """Yields the client of a Dask cluster; None without an address."""
    if dask is None:
        yield None
        return
    from westwood.experiments import cluster

    with cluster.connected(dask) as client:
        yield client


@contextmanager
def runner(dask: str | None, workers: int | None) -> Iterator[RunJobs]:
    """Yields the function that runs jobs of a search, on this machine's cores or on a cluster."""
    from westwood.engines.pool import run_jobs
    from westwood.engines.simulator import prepare
    from westwood.experiments import cluster

    with connected(dask) as client:
        here = partial(run_jobs, prepare=prepare, workers=workers)
        yield partial(cluster.run_jobs, client) if client else here
