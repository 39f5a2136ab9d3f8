# SPDX-License-Identifier: BSD-3-Clause
"""The command `control check`."""

from __future__ import annotations

from typing import Annotated

import typer


def check(
    file: Annotated[str, typer.Argument(metavar="FILE.c", help="The control.")],
    seed: Annotated[int, typer.Option(metavar="N", min=1, help="First seed of the calls.")] = 1,
    seconds: Annotated[
        float, typer.Option("--for", metavar="S", min=0, max=3600, help="Time for the calls.")
    ] = 5,
) -> None:
    """Check whether a control in a C file is fit for every host."""
    from westwood.control import checking
    from westwood.control.loading import is_file
    from westwood.errors import InputError

    if not is_file(file):
        raise InputError("expected a file whose name ends in .c", key="FILE.c", value=file)
    failed = False
    for one in checking.checks(file, seed, seconds):
        failed = failed or one.outcome is checking.Outcome.FAILED
        print(f"{one.outcome:8} {one.name}{': ' if one.note else ''}{one.note}", flush=True)
    if failed:
        raise typer.Exit(1)
