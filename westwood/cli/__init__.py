# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `main` is the program `westwood`, `call` the same from Python."""

from __future__ import annotations

__all__ = ["call", "main"]


def call(arguments: list[str]) -> int:
    """Runs a command line; its exit code. Errors that we foresaw are one line on standard error."""
    from westwood.cli import commands

    return commands.call(arguments)


def main() -> None:
    """Runs `westwood`, and ends the process with its exit code."""
    from westwood import stopping

    stopping.watch()  # before the imports, which take a while
    from westwood.cli import process

    process.main()
