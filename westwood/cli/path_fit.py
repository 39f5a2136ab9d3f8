# SPDX-License-Identifier: BSD-3-Clause
"""The command `path fit`, and --fit of `path compare`: fit a scenario to uploads."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, TextIO

import typer

from westwood import extras
from westwood.cli.options import OUTPUT, option
from westwood.cli.streams import next_step, say
from westwood.errors import InputError, WestwoodError

FitOption = Annotated[
    Path | None,
    option(OUTPUT, "FILE", "Also write the path as a scenario, as path fit does.", "--fit"),
]


def fit(
    source: Annotated[
        Path, typer.Argument(metavar="DIR|FILE", help="A folder of path compare, or a recording.")
    ],
    out: Annotated[Path, option(None, "FILE", "The scenario file to write or replace.")] = Path(
        "path.toml"
    ),
    seed: Annotated[int, option(None, "N", "Seed of the simulations.")] = 1,
) -> None:
    """Fit a path to recorded uploads, and write it as a scenario."""
    from westwood.control.arguments import check_seed

    extras.need("numpy", "path fit")
    check_seed(seed)
    check(out, "--out")
    _write(source, out, seed, sys.stdout)
    next_step(f"westwood run {shlex.quote(str(out))} --cc cubic,westwood+,bbr")


def check(out: Path | None, option: str) -> None:
    """Raises InputError if a scenario can't be written to `out`."""
    from westwood.results.folder import Folder

    if out is None:
        return
    if out.suffix != ".toml" or out.is_dir() or not out.parent.is_dir():
        problem = "expected a .toml file in an existing folder"
        raise InputError(problem, key=option, value=str(out))
    try:
        Folder.containing(out)
    except InputError as error:
        raise error.located(key=option) from None


def after(folder: Path, out: Path | None, *, json: bool) -> None:
    """Fits to the folder of `path compare`, if `out` is given.

    An error is only reported, because the verdict stands.
    """
    if out is None:
        return
    try:
        _write(folder, out, 1, sys.stderr if json else sys.stdout)
    except WestwoodError as error:
        say(f"{out} was not written: {error}")


def _write(source: Path, out: Path, seed: int, stream: TextIO) -> None:
    """Fits a path, writes the scenario and prints a summary."""
    from westwood.campaign import fit
    from westwood.results.folder import Folder

    fitted = fit.fit(fit.uploads(source), seed=seed)
    Folder.containing(out).text(out.name, fit.toml(fitted, _name(out)))
    print(fit.summary(fitted), file=stream)
    for note in fit.notes(fitted):
        say(f"note: {note}")
    print(out, file=stream)


def _name(out: Path) -> str:
    """Returns the file's name as a scenario's name."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "-" for c in out.stem)
