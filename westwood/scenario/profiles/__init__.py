# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: the settings of one source in one place, each with its reason.

`rfc` is what the declarations have as defaults (core/settings.h, engine/settings.hpp), and
rfc.toml the few that are no setting of the engine. Another profile is a data file of what it has
otherwise: a table a setting, named SECTION.KEY, with `value` and `reason`. Sections: `link` and
`flow` are defaults of a scenario's links and flows, `loss` of a link's losses, `cc` of a flow's
congestion control; `westwood` holds the recovery of the protocols that don't fix their own. `sack`
is what flows with selective acknowledgments have otherwise than `flow`, and its `recovery` is what
the protocols with SACK recover with; each profile has its own, and takes none of it from `rfc`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from westwood import files
from westwood.catalogue import settings_of
from westwood.errors import InputError, suggestion
from westwood.scenario.declared import written_default

DEFAULT = "rfc"
SACK = "sack"
SECTIONS = ("link", "loss", "flow", SACK, "cc", "westwood")
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Choice:
    """A setting's value and why it is that."""

    value: Any
    reason: str


@dataclass(frozen=True)
class Profile:
    """The settings of a source, by section and key: all of them, and which it chose itself."""

    name: str
    title: str
    sections: Mapping[str, Mapping[str, Choice]]
    own: Mapping[str, Mapping[str, Choice]]

    def defaults(self, section: str) -> dict[str, Any]:
        """The values of a section, by key."""
        return {key: choice.value for key, choice in self.sections[section].items()}


def names() -> list[str]:
    """The profiles there are."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


@cache
def get(name: str) -> Profile:
    """The profile of this name."""
    if name not in names():
        raise InputError(f"unknown profile, {suggestion(name, names())}", key="profile", value=name)
    data = files.read_toml(_FOLDER / f"{name}.toml")
    title = data.pop("title")
    chosen = {
        section: {key: Choice(**choice) for key, choice in choices.items()}
        for section, choices in data.items()
    }
    if name == DEFAULT:
        own = {section: {**chosen.get(section, {}), **_declared(section)} for section in SECTIONS}
        return Profile(name, title, own, own)
    base = get(DEFAULT).sections
    sections = {section: {**base[section], **chosen.get(section, {})} for section in SECTIONS}
    sections[SACK] = chosen.get(SACK, {})
    return Profile(name, title, sections, chosen)


def _declared(section: str) -> dict[str, Choice]:
    """The defaults of a section's settings; those of `cc` are the protocols' own."""
    if section not in ("link", "flow"):
        return {}
    settings = settings_of(section).items()
    values = {key: Choice(written_default(one), one.why) for key, one in settings if one.why}
    return {key: choice for key, choice in values.items() if choice.value is not None}
