# SPDX-License-Identifier: BSD-3-Clause
"""Finds the preset scenarios, which come with the package."""

from __future__ import annotations

import itertools
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


def presets() -> list[str]:
    """Lists the names of the scenarios that come with the package.

    Returns
    -------
    list of str
        The names, sorted; `Scenario.preset` and `simulate` take them.

    Examples
    --------
    >>> from westwood import presets
    >>> "table1" in presets()
    True
    """
    return sorted(file.stem for file in presets_folder().glob("*.toml"))


def described(preset: str) -> str:
    """Returns the opening comment of a preset's file."""
    lines = (presets_folder() / f"{preset}.toml").read_text(encoding="utf-8").splitlines()
    comment = itertools.takewhile(lambda line: line.startswith("#"), lines[1:])
    return " ".join(line.removeprefix("#").strip() for line in comment)


def presets_folder() -> Path:
    """Returns the presets' folder: in an installed package, or next to it in a source tree."""
    inside = _PACKAGE / "scenarios"
    return inside if inside.is_dir() else _PACKAGE.parent / "scenarios"
