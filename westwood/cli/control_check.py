# SPDX-License-Identifier: BSD-3-Clause
"""The command `control check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from westwood.cli.options import OutOption
from westwood.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from westwood.control.checking import Check


def check(
    file: Annotated[str, typer.Argument(metavar="FILE.c", help="The control.")],
    seed: Annotated[int, typer.Option(metavar="N", min=1, help="First seed of the calls.")] = 1,
    seconds: Annotated[
        float, typer.Option("--for", metavar="S", min=0, max=3600, help="Time for the calls.")
    ] = 5,
    out: OutOption = None,
) -> None:
    """Say whether a control in a C file is fit for every host."""
    from westwood.control import checking, one_command
    from westwood.control.loading import is_file
    from westwood.evaluation import fixed_paths, fixed_paths_page
    from westwood.kernel import user_controls
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    if not is_file(file):
        raise InputError("expected a file whose name ends in .c", key="FILE.c", value=file)
    folder = Folder(out, kind=ResultKind.CHECK) if out else None
    runs = fixed_paths.PathRuns(file)
    with one_command():
        found = [*_told(checking.checks(file, seed, seconds))]
        found += [*_told([user_controls.check(file)]), *_told(runs.checks(found))]
        if folder:
            print(fixed_paths_page.write(folder, runs, found, {"checked": file, "seed": seed}))
    if any(one.outcome is checking.Outcome.FAILED for one in found):
        raise typer.Exit(1)


def _told(checks: Iterable[Check]) -> Iterable[Check]:
    """Prints each check as it ends."""
    for one in checks:
        print(f"{one.outcome:8} {one.name}{': ' if one.note else ''}{one.note}", flush=True)
        yield one
