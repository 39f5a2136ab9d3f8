# SPDX-License-Identifier: BSD-3-Clause
"""Finds the programs that `make` builds from linux/ and ns3/, beside which this package runs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from westwood.errors import UnavailableError

_BUILD = Path(__file__).parents[1] / "build"


@dataclass(frozen=True)
class Program:
    """Is built in the source tree; an environment variable may name another program."""

    name: str  # below build/
    variable: str
    needed: str  # "linux/ww-kernel is needed"
    remedy: str  # the command that builds it
    companion: str = ""  # a file that has to lie beside it

    def find(self) -> Path:
        """Finds its path; UnavailableError with the remedy if it is not there."""
        named = os.environ.get(self.variable)
        path = Path(named) if named else _BUILD / self.name
        there = path.is_file() and os.access(path, os.X_OK)
        if there and (not self.companion or path.with_name(self.companion).is_file()):
            return path
        lacking = f"{path.name} with {self.companion} beside it" if self.companion else "program"
        where = f"{self.variable} names no {lacking}" if named else "it is not built"
        raise UnavailableError(f"{self.needed}, and {where}: {self.remedy}")
