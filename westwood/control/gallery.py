# SPDX-License-Identifier: BSD-3-Clause
"""Finds the controls that come with the package, one C file each: controls/, docs/gallery.md."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from westwood import programs

# The first line of a file's opening comment.
_TITLE = re.compile(r"^/\*\n \* (?P<title>[^:\n]+): (?P<what>[^\n]+)$", re.M)


@dataclass(frozen=True)
class Entry:
    """Describes a control of the gallery."""

    name: str  # what --cc takes
    title: str
    what: str


def folder() -> Path:
    """Returns the folder with the files of the gallery."""
    return programs.sources() / "controls"


@cache
def names() -> tuple[str, ...]:
    """Returns the names of the files, such as hybla.c."""
    return tuple(sorted(path.name for path in folder().glob("*.c")))


def entries() -> list[Entry]:
    """Returns what each file says of itself."""
    return [_entry(name) for name in names()]


def _entry(name: str) -> Entry:
    match = _TITLE.search((folder() / name).read_text(encoding="utf-8"))
    if match is None:
        raise AssertionError(f"controls/{name} does not open with its name and what it does")
    return Entry(name, match["title"], match["what"])


def place(name: str, beside: Path) -> Path:
    """Returns the path of a control's file: relative to `beside`, or in the gallery.

    A file of the gallery is meant if `name` has no folder and there is no such file `beside`.
    """
    path = (beside / name).absolute()
    return folder() / name if name in names() and not path.exists() else path


def hint(name: str) -> str:
    """Returns the question whether a like-named file of the gallery is meant, or nothing."""
    near = difflib.get_close_matches(name, names(), n=1, cutoff=0.75)
    return f', did you mean "{near[0]}"?' if near else ""
