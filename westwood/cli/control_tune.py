# SPDX-License-Identifier: BSD-3-Clause
"""The command `control tune`: finds the settings of a control that reach the targets best."""

from __future__ import annotations

import json as json_
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from westwood import extras
from westwood.cli import figures, options
from westwood.cli.figures import FigureOption, SizeOption, TitleOption
from westwood.results.folder import Folder

if TYPE_CHECKING:
    from westwood.search.result import SearchResult

_VaryOption = Annotated[
    list[str] | None,
    options.option(
        options.SCENARIO,
        "KEY[=LOW:HIGH]",
        "A setting to vary, with a range (words: KEY=A,B); may be repeated. Default: all.",
        "--vary",
    ),
]
_HeldOption = Annotated[
    list[str] | None,
    options.option(
        options.SCENARIO, "KEY=VALUE", "Fix a setting of the control at a value.", "--set"
    ),
]

_PathsOption = Annotated[int, options.option(options.SCENARIO, "N", "Number of paths per trial.")]
_PacketsOption = Annotated[
    int, options.option(options.SCENARIO, "N", "Most packets per run; fewer are faster.")
]
_TrialsOption = Annotated[int, options.option(options.SCENARIO, "N", "Number of trials.")]
_EndsOption = Annotated[
    bool,
    options.option(
        options.SCENARIO,
        None,
        "Also try the best with each setting at the ends of its range.",
        "--ends",
    ),
]
_SeedOption = Annotated[int, options.option(options.SCENARIO, "N", "Seed of paths and proposals.")]
_OutOption = Annotated[Path, options.option(options.OUTPUT, "DIR", "Results folder.")]


def tune(
    cc: options.ControlArgument = None,
    cc_: options.ControlOption = None,
    vary: _VaryOption = None,
    set_: _HeldOption = None,
    paths: _PathsOption = 120,
    packets: _PacketsOption = 150_000,
    trials: _TrialsOption = 100,
    ends: _EndsOption = False,
    seed: _SeedOption = 1,
    out: _OutOption = Path("tuning"),
    resume: options.ResumeOption = False,
    dask: options.DaskOption = None,
    workers: options.WorkersOption = None,
    plot: options.PlotOption = False,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: options.JsonOption = False,
) -> None:
    """Find the settings that reach the targets best, on random paths."""
    extras.need("optuna", "control tune")
    from westwood.cli import console, streams
    from westwood.cli.judging import runner
    from westwood.engines.pool import check_workers
    from westwood.experiments.control import settings_given
    from westwood.search import space, study
    from westwood.search.result import Search

    check_workers(workers, "--workers")
    wanted = figures.wanted(plot, figure, title, size)
    cc = options.control_given(cc, cc_)
    space.check_protocol(cc)
    held = settings_given(cc, options.settings_of(set_))
    asked = Search(cc, space.parameters(cc, vary or (), held), held, paths, seed, packets)
    with runner(dask, workers) as run:
        folder = Folder(out, tell=streams.say)
        began = time.monotonic()
        search_result = study.run(
            asked, folder, trials, resume=resume, run_jobs=run, track=console.track, ends=ends
        )
    if search_result.runs:
        took_s, runs = time.monotonic() - began, search_result.runs
        streams.say(f"{runs} runs in {took_s:.1f} s: {runs / took_s:.0f} a second")
    _print(search_result, out, json=json)
    if wanted:
        from westwood.search.page import drawn

        with folder.locked():
            path = wanted.save(drawn(search_result), folder, "search")
        print(path, file=sys.stderr if json else sys.stdout)
    if not json:
        streams.next_step(
            f"westwood evaluate {cc}{_chosen(search_result)} --suite benchmark --out {cc}"
        )


def _chosen(search_result: SearchResult) -> str:
    """Returns the options that set what was found."""
    from westwood.scenario.toml_format import toml_value
    from westwood.search import space

    settings = space.settings(
        search_result.best.values, search_result.chosen(), search_result.search.held
    )
    words = (shlex.quote(f"cc.{key}={toml_value(value)}") for key, value in settings.items())
    return "".join(f" --set {word}" for word in words)


def _print(result: SearchResult, out: Path, *, json: bool) -> None:
    from westwood.cli import tables
    from westwood.search import page

    if json:
        print(json_.dumps(result.entry(), allow_nan=False))
        return
    if result.changed():
        cells = tables.Cells(page.SETTINGS_HEADS, page.settings_rows(result))
        tables.print_numbers(
            cells, page.title(result), numbers=page.SETTINGS_HEADS[1:], expendable=()
        )
    else:
        print(page.title(result))
    if result.end_effects():
        cells = tables.Cells(page.ENDS_HEADS, page.ends_rows(result))
        title = "The best settings, with one at an end of its range:"
        tables.print_numbers(cells, title, numbers=page.ENDS_HEADS[1:], expendable=())
    cells = tables.Cells(page.TARGETS_HEADS, page.targets_rows(result))
    tables.print_numbers(
        cells,
        "Targets, on the paths of the trials:",
        numbers=page.TARGETS_HEADS[2:4],
        expendable=[page.TARGETS_HEADS[-1:]],
    )
    print(f"cc = {page.as_toml(result)}")
    print(out / "trials.parquet")
