# SPDX-License-Identifier: BSD-3-Clause
"""The command that makes a folder for a paper's readers, and repeats what is in it."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli.options import JsonOption, ResumeOption, option, refuse_idle
from westwood.errors import InputError


def artifact(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The artifact's folder.")],
    commands: Annotated[
        Path | None,
        typer.Argument(
            metavar="[FILE]", help="The commands behind the paper: a line of `westwood ...` each."
        ),
    ] = None,
    check: Annotated[
        bool, option(None, None, "Repeat the commands of DIR, and say what differs.", "--check")
    ] = False,
    licence: Annotated[
        str, option(None, "NAME", "Licence of the artifact's files, for its README.")
    ] = "not stated",
    resume: ResumeOption = False,
    json: JsonOption = False,
) -> None:
    from westwood.results import artifact

    if check:
        refuse_idle(context, "commands", "licence", "resume", why="with --check")
        differing = _check(folder, json=json)
        raise typer.Exit(1 if differing else 0)
    refuse_idle(context, "json", why="without --check")
    if commands is None:
        raise InputError("expected a file with commands, or --check", key="FILE")
    listed = artifact.read_commands(commands)
    for step in artifact.make(folder, listed, commands.parent, licence, resume=resume):
        print(f"{step.cpu_s:7.1f} s  {step.command}", flush=True)
    print(f"{folder / 'README.md'}")


def _check(folder: Path, *, json: bool) -> int:
    """Prints how each command compares; returns how many differ."""
    from westwood.results import artifact

    entries = []
    for repeated in artifact.repeated(folder):
        entries.append(repeated.entry())
        if not json:
            word = "differs" if repeated.differences else "equal"
            print(f"{word:8} {repeated.step.command}", flush=True)
            for difference in repeated.differences:
                print(f"         {difference}")
    if json:
        print(writer.dumps(entries, allow_nan=False))
    differing = sum(bool(entry["differences"]) for entry in entries)
    if not json:
        print(f"{len(entries) - differing} of {len(entries)} commands repeat.")
    return differing
