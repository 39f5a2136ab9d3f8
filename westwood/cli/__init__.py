# SPDX-License-Identifier: BSD-3-Clause
"""The command line: `main` is the program `westwood`, `call` the same from Python."""

from westwood.cli.commands import call, main

__all__ = ["call", "main"]
