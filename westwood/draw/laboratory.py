# SPDX-License-Identifier: BSD-3-Clause
"""Puts the laboratory's page into a folder of results, where the links of its figures lead to.

`make lab` builds the page. It is one file that asks for nothing else, so the links work offline.
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
class Opens:
    """Says how the laboratory opens with a scenario."""

    argument: str  # of `westwood lab`
    fragment: str  # behind the page's address; empty: too long for one

    @property
    def link(self) -> str:
        """The address beside the page of the folder; empty where there is none."""
        return f"{NAME}{self.fragment}" if self.fragment and PAGE.exists() else ""


def put(folder: Folder) -> None:
    """Writes the page into the folder, if it was built."""
    if PAGE.exists():
        folder.file(NAME, partial(shutil.copyfile, PAGE))
