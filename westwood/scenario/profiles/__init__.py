# SPDX-License-Identifier: BSD-3-Clause
"""Profiles: named sets of default settings, one per source, each setting with its reason.

The profile `rfc` has the defaults of core/settings.h and engine/settings.hpp, except the receive
window, which follows from the path (plan/routes.hpp); rfc.toml adds the few that the engine lacks.
Any other profile is a file of the settings in which it differs, from `rfc` or the profile that it
names as `base`: a table SECTION.KEY with `value` and `reason` for each. The sections are:

    link, flow    defaults of a scenario's links and flows
    loss          defaults of a link's losses
    cc            defaults of a flow's congestion control
    cubic         the same of CUBIC only
    westwood      the recovery of protocols that don't fix their own
    sack          what flows with SACK override in `flow`, and in `recovery` the recovery of
                  protocols with SACK; profiles don't inherit this section from `rfc`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from westwood import _engine, files
from westwood.control.catalogue import settings_of
from westwood.errors import InputError, suggestion
from westwood.scenario.declared import written_default

DEFAULT = "rfc"
SACK = "sack"
SECTIONS = ("link", "loss", "flow", SACK, "cc", "cubic", "westwood")
OF_THE_PATH = "receive_window"  # follows from the path, unless a profile's file sets it
_FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Choice:
    """A setting's value with the reason for it."""

    value: Any
    reason: str


@dataclass(frozen=True)
class Profile:
    """All settings of a profile by section and key, and those that it sets itself."""

    name: str
    title: str
    sections: Mapping[str, Mapping[str, Choice]]
    choices: Mapping[str, Mapping[str, Choice]]

    @cached_property
    def supplied(self) -> _engine.Profile:
        """The defaults as completion needs them."""
        return _engine.Profile({section: self.defaults(section) for section in SECTIONS})

    def defaults(self, section: str) -> dict[str, Any]:
        """Returns the values of a section by key."""
        return dict(self._values[section])

    @cached_property
    def _values(self) -> Mapping[str, Mapping[str, Any]]:
        return {
            section: {key: choice.value for key, choice in choices.items()}
            for section, choices in self.sections.items()
        }


def names() -> list[str]:
    """Returns the names of all profiles."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


@cache
def get(name: str) -> Profile:
    """Returns the profile of this name."""
    if name not in names():
        raise InputError(f"unknown profile, {suggestion(name, names())}", key="profile", value=name)
    data = files.read_toml(_FOLDER / f"{name}.toml")
    title, base = data.pop("title"), data.pop("base", DEFAULT)
    chosen = {
        section: {key: Choice(**choice) for key, choice in choices.items()}
        for section, choices in data.items()
    }
    if name == DEFAULT:
        settings = {
            section: {**chosen.get(section, {}), **_declared(section)} for section in SECTIONS
        }
        return Profile(name, title, settings, settings)
    known = get(base).sections
    sections = {section: {**known[section], **chosen.get(section, {})} for section in SECTIONS}
    if base == DEFAULT:
        sections[SACK] = chosen.get(SACK, {})
    return Profile(name, title, sections, chosen)


def _declared(section: str) -> dict[str, Choice]:
    """Returns the declared defaults of `link` or `flow`; protocols have their own for `cc`."""
    if section not in ("link", "flow"):
        return {}
    settings = settings_of(section).items()
    values = {
        key: Choice(written_default(setting), setting.why)
        for key, setting in settings
        if setting.why and key != OF_THE_PATH
    }
    return {key: choice for key, choice in values.items() if choice.value is not None}
