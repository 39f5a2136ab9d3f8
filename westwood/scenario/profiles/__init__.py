# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: the settings of one source in one place, each with its reason.

A profile is a data file: a table a setting, named SECTION.KEY, with `value` and `reason`. Sections:
`link` and `flow` are defaults of a scenario's links and flows, `loss` of a link's losses, `cc` of a
flow's congestion control; `westwood` holds the recovery of the protocols that don't fix their own.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from westwood.errors import InputError, suggestion

DEFAULT = "rfc"
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Setting:
    """A setting's value and why it is that."""

    value: Any
    reason: str


@dataclass(frozen=True)
class Profile:
    """All settings of a source, by section and key."""

    name: str
    title: str
    sections: Mapping[str, Mapping[str, Setting]]

    def defaults(self, section: str) -> dict[str, Any]:
        """The values of a section, by key."""
        return {key: setting.value for key, setting in self.sections[section].items()}


def names() -> list[str]:
    """The profiles there are."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


@cache
def get(name: str) -> Profile:
    """The profile of this name."""
    if name not in names():
        raise InputError(f"unknown profile, {suggestion(name, names())}", key="profile", value=name)
    data = tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
    title = data.pop("title")
    sections = {
        section: {key: Setting(**setting) for key, setting in settings.items()}
        for section, settings in data.items()
    }
    return Profile(name, title, sections)


def markdown(name: str) -> str:
    """The profile as a Markdown table: setting, value, reason."""
    lines = ["| setting | value | reason |", "| --- | --- | --- |"]
    for section, settings in get(name).sections.items():
        for key, setting in settings.items():
            value = setting.value["limit"] if isinstance(setting.value, dict) else setting.value
            shown = str(value).lower() if isinstance(value, bool) else value
            lines.append(f"| `{section}.{key}` | {shown} | {setting.reason} |")
    return "\n".join(lines)
