# SPDX-License-Identifier: BSD-3-Clause
"""The command `validate`: says how far the simulator agrees with another engine."""

from __future__ import annotations

from pathlib import Path

import typer

from westwood import extras
from westwood.cli import judging
from westwood.cli.judging import Judging, judges
from westwood.cli.options import SeedsOption, settings_of

FOLDER = Path("validation")


def _grids() -> list[str]:
    from westwood.experiments.validation import GRIDS

    return [*dict.fromkeys(name for grids in GRIDS.values() for name in grids)]


@judges(
    set_="Change a setting of every run, such as duration=20s; may be repeated.",
    only="Only these grids: for ns3 single, lossless, dumbbell, aqm, short, bbr; for ns2 "
    "2001, 2005, 2001-own, 2005-own, 2002, 2002-varying; for linux single, lossless, "
    "dumbbell, short, upstream, westwood-cubic, short-queues, lossy, bbr, quic, "
    "quic-short; for quinn and noq cubic, short.",
    names=_grids,
    out=f"Results folder; default: {FOLDER}.",
    engine="ns3",
)
def validate(context: typer.Context, asked: Judging, seeds: SeedsOption = None) -> None:
    from westwood.cli import console

    extras.need("matplotlib", "validate")
    from westwood.experiments import validation
    from westwood.experiments.kept import KeptRuns
    from westwood.experiments.validation import compare, page
    from westwood.experiments.validation.grid import plan
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    engine = asked.engine
    grids = validation.chosen(engine, asked.only or ())
    if not (asked.only or asked.resume):
        console.ask(f"all grids of --engine {engine}: {validation.TIMES[engine]} on two cores")
    other = asked.checked(context)
    planned = {
        name: plan(grid, seeds, settings_of(asked.set_), asked.seed) for name, grid in grids.items()
    }
    for experiment in planned.values():
        other.check(experiment.jobs)
    folder = Folder(asked.out or FOLDER, kind=ResultKind.VALIDATION)
    done: list[compare.Validation] = []
    kept = KeptRuns(folder, "validation", {"engine": [other.name, other.title]})
    with (
        judging.connected(asked.dask) as client,
        kept.opened(page.about(engine, planned), resume=asked.resume),
    ):
        for name, grid in grids.items():
            done.append(
                compare.run(
                    name,
                    planned[name],
                    grid,
                    other,
                    workers=asked.workers,
                    track=console.track,
                    kept=kept,
                    client=client,
                )
            )
            page.keep(done, engine, planned, folder)
            if not (asked.json or asked.markdown):
                print(done[-1], flush=True)
        written = page.write(done, engine, planned, folder)
        kept.finish()
    asked.tell(
        lambda: [entry for finished in done for entry in finished.entries()],
        lambda: page.markdown(done, other.title),
        lambda: None,
        written,
    )
