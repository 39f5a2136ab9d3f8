# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `main` is the program `westwood`, `call` runs the same from Python."""

from __future__ import annotations

__all__ = ["call", "main"]


def call(arguments: list[str]) -> int:
    """Runs a command line and returns its exit code; expected errors are one line each."""
    from westwood.cli import commands

    return commands.call(arguments)


def main() -> None:
    """Runs `westwood` and ends the process with its exit code."""
    from westwood import stopping

    stopping.watch()  # before the imports, which take time
    from westwood.cli import process

    process.main()
