# SPDX-License-Identifier: BSD-3-Clause
"""The command `control stress`: finds the worst cases of a congestion control."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood import extras, stopping
from westwood.cli.options import (
    OUTPUT,
    SCENARIO,
    ControlArgument,
    ControlOption,
    ResumeOption,
    WorkersOption,
    control_given,
    option,
    refuse_idle,
    several,
)
from westwood.cli.streams import next_step, say
from westwood.errors import InputError, Interrupted
from westwood.units import option_seconds

if TYPE_CHECKING:
    from westwood.results.folder import Folder
    from westwood.search.stress.hunter import Hunt, HuntPlan, Tell

_ENVIRONMENTS = 20_000  # by default
_SHOWN = 20  # findings in the table
_REPLAY = "Replay"
_OF_A_HUNT = ("harm", "environments", "for_", "workers", "out", "resume")


def _harms() -> list[str]:
    from westwood.search.stress.degradation import BY_IT, DEGRADATIONS, TO_IT

    return [TO_IT, BY_IT, *DEGRADATIONS]


_HarmOption = Annotated[
    list[str] | None,
    several(
        SCENARIO,
        "NAME,...",
        "Only harm to it (to-it: below-cubic, below-best, idle, disturbed, stuck, "
        "stalled, timeouts, unfair, late) or by it (by-it: starves, losses, queue).",
        choices=_harms,
    ),
]
_EnvironmentsOption = Annotated[
    int | None, option(SCENARIO, "N", "Least number of environments to look at; default: 20000.")
]
_ForOption = Annotated[str | None, option(SCENARIO, "TIME", "Look for this time instead.", "--for")]
_SeedOption = Annotated[int, option(None, "N", "Seed of the test, or of --replay's runs.")]
_OutOption = Annotated[Path | None, option(OUTPUT, "DIR", "Write the findings into this folder.")]
_ReplayOption = Annotated[str | None, option(_REPLAY, "FILE", "Run a finding again, beside CUBIC.")]
_EngineOption = Annotated[
    list[str] | None,
    several(_REPLAY, "ns3|linux", "Also replay it on these engines, such as ns3,linux."),
]


def stress(
    context: typer.Context,
    cc: ControlArgument = None,
    cc_: ControlOption = None,
    harm: _HarmOption = None,
    environments: _EnvironmentsOption = None,
    for_: _ForOption = None,
    seed: _SeedOption = 1,
    workers: WorkersOption = None,
    out: _OutOption = None,
    resume: ResumeOption = False,
    replay: _ReplayOption = None,
    engine: _EngineOption = None,
) -> None:
    """Find the worst that a control suffers or does to others."""
    if replay is not None:
        refuse_idle(context, "cc", "cc_", *_OF_A_HUNT, why="with --replay")
        _replay(replay, engine or [], seed)
        return
    refuse_idle(context, "engine", why="without --replay")
    extras.need("cmaes", "control stress")
    if out is None:
        refuse_idle(context, "resume", why="without --out")
    planned = _plan(control_given(cc, cc_), harm or [], seed, environments, for_)
    _hunt(planned, workers, out, resume=resume)


def _plan(
    cc: str, harm: list[str], seed: int, environments: int | None, for_: str | None
) -> HuntPlan:
    from westwood.search.stress import hunter

    if for_ is not None and environments is not None:
        raise InputError("can't be set together with --environments", key="--for", value=for_)
    for_s = None if for_ is None else option_seconds("--for", for_, 0.0)
    if environments is None and for_s is None:
        environments = _ENVIRONMENTS
    return hunter.plan(cc, tuple(harm), seed, environments, for_s)


def _hunt(planned: HuntPlan, workers: int | None, out: Path | None, *, resume: bool) -> None:
    from rich import console, table  # noqa: F401 - an interrupt leaves no time for imports

    from westwood.engines.pool import check_workers
    from westwood.results.folder import Folder
    from westwood.results.store import interrupted
    from westwood.search.stress import hunter, report

    check_workers(workers, "--workers")
    folder = Folder(out, tell=say) if out else None
    hunting = hunter.Hunt(planned, folder)
    with hunting.opened(resume=resume):
        try:
            with _progress(planned) as tell:
                hunting.run_all(workers, tell)
        except KeyboardInterrupt:
            with stopping.keeping():
                _print(hunting, folder)
            seen = f"{hunting.environments} environments"
            if folder:
                raise interrupted(folder, seen) from None
            raise Interrupted(f"interrupted; {seen} were seen") from None
        if folder is not None:
            with stopping.keeping():
                report.write(folder, hunting.findings(), _title(hunting), hunting.counted())
                folder.manifest({"hunt": planned.state(), "environments": hunting.environments})
    _print(hunting, folder)
    if folder is not None:
        print(folder.path / "findings.md")
        if findings := hunting.findings():
            file = folder.path / "findings" / f"{report.name(1, findings[0])}.toml"
            next_step(f"westwood control stress --replay {shlex.quote(str(file))}")


@contextmanager
def _progress(planned: HuntPlan) -> Iterator[Tell]:
    """Shows the progress: a bar on a terminal, elsewhere a line a minute."""
    if not sys.stderr.isatty():
        from westwood.cli import console

        told = (0, 0)

        def note(done: int, total: int) -> None:
            nonlocal told
            told = (done, total)

        with console.telling(lambda: f"{told[0]} of {told[1]} tested"):
            yield note
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.TextColumn("testing"),
        progress.BarColumn(),
        progress.MofNCompleteColumn(),
        progress.TimeElapsedColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=planned.environments)
        yield lambda done, total: bar.update(task, completed=done)


def _title(hunting: Hunt) -> str:
    from westwood.control.catalogue import label

    count = len(hunting.findings())
    kinds = "1 kind of finding" if count == 1 else f"{count} kinds of findings"
    return f"{label(hunting.plan.cc)}: {kinds} in {hunting.environments} environments"


def _print(hunting: Hunt, folder: Folder | None) -> None:
    from westwood.cli import tables
    from westwood.search.stress import report

    findings = hunting.findings()
    rows = tuple(
        (
            f"{number} {finding.harm}",
            f"{finding.value:.0%}",
            report.path(finding.attack),
            "; ".join(report.parts(finding.attack)) or "-",
        )
        for number, finding in enumerate(findings[:_SHOWN], 1)
    )
    if not rows:
        print(f"{_title(hunting)}.")
        return
    tables.print_texts(tables.Cells(("harm", "worst", "path", "with"), rows), _title(hunting))
    if len(findings) > _SHOWN:
        print(
            f"{len(findings) - _SHOWN} more" + ("." if folder else "; --out DIR writes them all.")
        )


def _replay(file: str, engines: list[str], seed: int) -> None:
    from westwood.cli import tables
    from westwood.control.catalogue import label
    from westwood.search.stress import replay

    scenario, cc = replay.load(file)
    rows: list[tuple[str, ...]] = []
    refused: dict[str, int] = {}  # message -> exit code
    for engine_run in replay.replay(scenario, cc, replay.engines_of(engines), seed):
        if engine_run.figures is not None:
            rows.append((engine_run.engine, label(engine_run.cc), *_cells(engine_run.figures)))
        elif engine_run.refused is not None:
            refused[f"{engine_run.engine}: {engine_run.refused}"] = engine_run.refused.exit_code
    for refusal in refused:
        say(refusal)
    heads = (
        *("engine", "control", "goodput\nMb/s", "beside\nMb/s", "fairness", "timeouts"),
        *("dropped\n%", "wait\nms", "transfers\ns"),
    )
    cells = tables.Cells(heads, tuple(rows))
    for place in reversed(range(2, len(heads))):
        if all(row[place] == "-" for row in rows):
            cells = cells.without(heads[place])
    tables.print_numbers(cells, f"{scenario.name}, seed {seed}", numbers=heads[2:], expendable=())
    if refused:
        raise typer.Exit(max(refused.values()))


def _cells(figures: Any) -> tuple[str, ...]:
    def number(value: float, scale: float, digits: int) -> str:
        return "-" if value != value else f"{value * scale:.{digits}f}"

    return (
        number(figures.goodput_bps, 1e-6, 2),
        number(figures.competing_bps, 1e-6, 2) if figures.competing_bps else "-",
        number(figures.fairness, 1, 2),
        number(figures.timeouts, 1, 0),
        number(figures.loss_ratio, 100, 2),
        number(figures.queue_s, 1000, 1),
        number(figures.completion_s, 1, 3),
    )
