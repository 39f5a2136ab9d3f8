# SPDX-License-Identifier: BSD-3-Clause
"""Puts the laboratory's page into a results folder, for the links of its figures.

`make lab` builds the page as one self-contained file, so the links work offline.
"""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from westwood.results.folder import Folder

PAGE = Path(__file__).parent.parent / "lab" / "page.html"
NAME = "lab.html"


@dataclass(frozen=True)
class LabLink:
    """How the laboratory opens with a scenario."""

    argument: str  # the argument of `westwood lab`
    fragment: str  # URL fragment of the page; empty if it would be too long

    @property
    def link(self) -> str:
        """Address relative to the folder's page; empty if there is none."""
        return f"{NAME}{self.fragment}" if self.fragment and PAGE.exists() else ""


def put(folder: Folder) -> None:
    """Writes the page into the folder, if it was built."""
    if PAGE.exists():
        folder.file(NAME, partial(shutil.copyfile, PAGE))
