# SPDX-License-Identifier: BSD-3-Clause
"""The command `control benchmark`: compares a control with its targets on held-out paths."""

from __future__ import annotations

import json as writer
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood import stopping
from westwood.cli import figures
from westwood.cli.figures import FigureOption, SizeOption, TitleOption
from westwood.cli.options import (
    FIGURE,
    SCENARIO,
    EngineOption,
    JsonOption,
    OutOption,
    WorkersOption,
    control_options,
    control_setting_options,
    refuse_idle,
    settings_of,
    value_of,
)
from westwood.errors import InputError

if TYPE_CHECKING:
    from westwood.evaluation.benchmark.judging import Judged, JudgePlan, TargetVerdict
    from westwood.experiments.control import Control
    from westwood.results.folder import Folder
    from westwood.results.intervals import Estimate

JudgedOption = Annotated[
    list[str] | None,
    control_options("The controls to benchmark."),
]
SettingOption = Annotated[
    list[str] | None,
    control_setting_options("the control", "cc.filter=none"),
]
PathsOption = Annotated[
    int,
    typer.Option(
        metavar="N",
        help="Number of paths for clean and for loss; other parts have fewer.",
        rich_help_panel=SCENARIO,
    ),
]
OnlyOption = Annotated[
    str | None,
    typer.Option(
        metavar="ROW,...", help="Only these rows or parts of the table.", rich_help_panel=SCENARIO
    ),
]
FrontierOption = Annotated[
    bool,
    typer.Option(
        "--frontier",
        help="Draw the gain under loss over the harm to CUBIC, for --cc or all controls.",
        rich_help_panel=FIGURE,
    ),
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME:KEY=VALUE,...",
        help="Extra points of --frontier with other settings.",
        rich_help_panel=FIGURE,
    ),
]
_GAP = "  "


def benchmark(
    context: typer.Context,
    cc: JudgedOption = None,
    set_: SettingOption = None,
    only: OnlyOption = None,
    paths: PathsOption = 400,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Seed of the paths.", rich_help_panel=SCENARIO)
    ] = 1,
    frontier: FrontierOption = False,
    vary: VaryOption = None,
    engine: EngineOption = "sim",
    workers: WorkersOption = None,
    out: OutOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    json: JsonOption = False,
) -> None:
    """Say which targets a control reaches, on paths that no tuning saw."""
    from westwood import engines
    from westwood.cli import console
    from westwood.engines.pool import check_workers
    from westwood.evaluation.benchmark import judging
    from westwood.experiments.control import control
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    if frontier:
        refuse_idle(context, "only", "set_", why="with --frontier")
        controls = judging.of_frontier(cc or (), _varied(vary))
        rows = judging.targets(judging.FRONTIER)
    else:
        refuse_idle(context, "vary", "figure", "title", "size", why="without --frontier")
        if not cc:
            raise InputError("is missing, expected the name of a protocol", key="--cc")
        settings = settings_of(set_)
        controls = [control(name, settings, key="--cc") for name in dict.fromkeys(cc)]
        rows = judging.targets([name.strip() for name in only.split(",")] if only else [])
    wanted = figures.wanted(frontier, figure, title, size)
    plan = judging.JudgePlan(rows, seed, paths)
    plan.check()
    check_workers(workers, "--workers")
    folder = Folder(out, kind=ResultKind.JUDGEMENT) if out else None
    names = [one.text for one in controls]
    about = {"engine": engine, "judged": names, "seed": seed, "paths": paths}
    judged = judging.run(
        plan,
        controls,
        track=console.track,
        engine=engines.find(engine),
        workers=workers,
        begin=lambda: folder and folder.manifest(about, complete=False),
    )
    found = {one: judged.verdicts(one) for one in controls}
    _deliver(judged, found, folder, about, frontier=frontier, json=json)
    if wanted:
        drawn = wanted.save(judging.draw_frontier(plan, found), folder, "frontier")
        print(drawn, file=sys.stderr if json else sys.stdout)


def _deliver(
    judged: Judged,
    found: Mapping[Control, Sequence[TargetVerdict]],
    folder: Folder | None,
    about: Mapping[str, object],
    *,
    frontier: bool,
    json: bool,
) -> None:
    """Writes and prints the results; prints the table even if the disk is full."""
    table = _text(judged.plan, found, frontier=frontier)
    entries = {one.text: [verdict.entry() for verdict in all_] for one, all_ in found.items()}
    try:
        if folder:
            with stopping.keeping():
                _write(folder, judged, found, entries, table, about)
    finally:
        print(writer.dumps(entries) if json else table)


def _text(
    plan: JudgePlan, found: Mapping[Control, Sequence[TargetVerdict]], *, frontier: bool
) -> str:
    if frontier:
        return "\n".join(_frontier_table(plan, found))
    return "\n\n".join("\n".join(_table(one, plan, found[one])) for one in found)


def _varied(options: Sequence[str] | None) -> list[tuple[str, str, list[Any]]]:
    """Parses NAME:KEY=VALUE,VALUE."""
    found = []
    for option in options or ():
        name, colon, setting = option.partition(":")
        key, equals, values = setting.partition("=")
        if not (colon and equals and name and key and values):
            problem = "expected NAME:KEY=VALUE,..., such as westwood+:filter=none"
            raise InputError(problem, key="--vary", value=option)
        found.append((name, key, [value_of(one.strip()) for one in values.split(",")]))
    return found


def _frontier_table(
    plan: JudgePlan, found: Mapping[Control, Sequence[TargetVerdict]]
) -> Iterator[str]:
    from westwood.evaluation.benchmark import judging

    cells = [["", *(text for row in plan.targets for text in (row.name, "95 % interval"))]]
    for control, verdicts in found.items():
        estimates = [verdict.figure.estimate for verdict in verdicts]
        numbers = [
            text
            for estimate in estimates
            for text in (_number(estimate.value), _interval(estimate))
        ]
        name, changed = judging.name_of(control)
        cells.append([name, *numbers])
        if changed:
            cells.append([f"  {changed}", *[""] * len(numbers)])
    widths = [max(len(row[place]) for row in cells) for place in range(len(cells[0]))]
    yield f"{plan.paths} paths, seed {plan.seed}:"
    for target in plan.targets:
        yield f"  {target.name}  {target.says} ({target.sense} is asked for)"
    yield ""
    cells.insert(1, ["-" * width for width in widths])
    for row in cells:
        yield _GAP.join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()


def _table(control: Control, plan: JudgePlan, verdicts: Sequence[TargetVerdict]) -> Iterator[str]:
    """Yields the lines of a control's table, at most 80 columns wide."""
    heads = ("row", "what", "figure", "95 % interval", "target", "")
    cells = [
        (
            verdict.target.name,
            verdict.target.says,
            _figure(verdict),
            _interval(verdict.figure.estimate),
            verdict.target.sense,
            _word(verdict),
        )
        for verdict in verdicts
    ]
    widths = [max(map(len, column)) for column in zip(heads, *cells, strict=True)]
    yield f"{control.text}, {plan.paths} paths, seed {plan.seed}"
    yield ""
    yield _line(heads, widths)
    yield _line(["-" * width for width in widths], widths)
    for one, texts in zip(verdicts, cells, strict=True):
        yield _line(texts, widths)
        if one.figure.note:
            yield f"{'':{widths[0]}}{_GAP}  {one.figure.note}"
    yield ""
    if any(one.reached is not None and not one.is_certain for one in verdicts):
        yield "?: the interval has the target in it."
    yield "A row alone:"
    yield f"  {plan.command(control, 'ROW')}"


def _line(texts: Sequence[str], widths: Sequence[int]) -> str:
    name, says, figure, *others = texts
    parts = [name.ljust(widths[0]), says.ljust(widths[1]), figure.rjust(widths[2])]
    parts += [text.ljust(width) for text, width in zip(others, widths[3:], strict=True)]
    return _GAP.join(parts).rstrip()


def _interval(estimate: Estimate) -> str:
    return f"{_number(estimate.low)} to {_number(estimate.high)}"


def _number(value: float) -> str:
    """Formats a number with three decimals; 10 and more with one."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.3f}" if value < 10 else f"{value:.1f}"


def _figure(verdict: TargetVerdict) -> str:
    """Formats the result; rounding never makes a missed target look reached."""
    from westwood.results.tables import on_its_side

    value = verdict.figure.estimate.value
    if not math.isfinite(value):
        return "-"
    return on_its_side(value, 3 if value < 10 else 1, verdict.target.reached)


def _word(verdict: TargetVerdict) -> str:
    words = {True: "reached", False: "missed", None: ""}
    sure = verdict.reached is None or verdict.is_certain
    return words[verdict.reached] + ("" if sure else "?")


def _write(
    folder: Folder,
    judged: Judged,
    found: Mapping[Control, Sequence[TargetVerdict]],
    entries: dict[str, list[dict[str, object]]],
    table: str,
    about: Mapping[str, object],
) -> None:
    from westwood.results.rows import rows_frame

    folder.text("table.txt", table + "\n")
    folder.json("table.json", entries)
    folder.frame("runs.parquet", rows_frame(list(judged.flat())))
    before = {f"worst/{file.name}" for file in (folder.path / "worst").glob("*")}
    for name, scenario in judged.worst(found):
        folder.scenario(f"worst/{name}", scenario)
        before -= {f"worst/{file}" for file in scenario.to_files(name)}
    folder.remove(before, "worst")  # rows of an earlier table
    folder.manifest(about)
