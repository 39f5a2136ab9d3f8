# SPDX-License-Identifier: BSD-3-Clause
"""Writes the manual page westwood(1) from the help of every command: `make manual`.

Help and page are one text; a test holds them together.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer.main

from westwood import __version__
from westwood.cli.commands import app
from westwood.errors import InputError, Interrupted, RunError, UnavailableError

PAGE = Path(__file__).resolve().parent.parent / "man" / "westwood.1"


def page() -> str:
    """Returns the page in man(7)'s macros."""
    group = typer.main.get_command(app)
    lines = [
        '.\\" SPDX-License-Identifier: BSD-3-Clause',
        '.\\" Made by tools/manual.py from the help of the commands.',
        f'.TH WESTWOOD 1 "" "westwood {__version__}"',
        ".SH NAME",
        "westwood \\- the TCP Westwood family in a simulator, in ns-3 and in the Linux kernel",
        ".SH SYNOPSIS",
        ".B westwood",
        ".I COMMAND",
        "[OPTIONS] [ARGS]",
        ".SH COMMANDS",
        *_commands(group, "westwood"),
        ".SH EXIT STATUS",
        *_exit_codes(),
    ]
    return "\n".join(lines) + "\n"


def _exit_codes() -> Iterator[str]:
    yield from (".TP", ".B 0", "Done.")
    for error in (RunError, InputError, UnavailableError, Interrupted):
        yield from (".TP", f".B {error.exit_code}", _first_paragraph(error))


def _commands(group: Any, words: str) -> Iterator[str]:
    for name, command in group.commands.items():
        inner = getattr(command, "commands", None)
        if inner:
            yield from _commands(command, f"{words} {name}")
        else:
            yield from _command(command, f"{words} {name}")


def _command(command: Any, words: str) -> Iterator[str]:
    context = command.make_context(words, [], resilient_parsing=True)
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {_escaped(f'{words} {usage}')}"
    for number, paragraph in enumerate(inspect.cleandoc(command.help or "").split("\n\n")):
        yield from ([".PP"] if number else [])
        yield _escaped(" ".join(paragraph.split()))
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record and "--help" not in record[0]:
            yield from (
                ".TP",
                f".B {_escaped(record[0].replace(' <str>', ''))}",
                _escaped(" ".join(record[1].split())),
            )
    if command.epilog:
        yield from (".PP", _escaped(command.epilog))


def _first_paragraph(thing: object) -> str:
    paragraph = (inspect.getdoc(thing) or "").partition("\n\n")[0]
    return _escaped(" ".join(paragraph.split()))


def _escaped(text: str) -> str:
    """Keeps roff from taking a text's backslashes, hyphens and first characters as its own."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{text}" if text[:1] in (".", "'") else text


if __name__ == "__main__":
    PAGE.parent.mkdir(exist_ok=True)
    PAGE.write_text(page())
    print(PAGE)
