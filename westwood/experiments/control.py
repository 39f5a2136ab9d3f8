# SPDX-License-Identifier: BSD-3-Clause
"""A congestion control as each command that judges takes it: looked up and checked once."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from westwood.control import loading
from westwood.control.catalogue import (
    OF_STACKS,
    controls_of_stack,
    is_protocol,
    label,
    unknown_protocol,
)
from westwood.errors import InputError, show
from westwood.scenario.paths.environment import Environment, scenario
from westwood.scenario.stacks import split

ANY_PATH = Environment(1_000_000, 10_000, 10, 1_000_000, 0)


@dataclass(frozen=True)
class Control:
    """A congestion control and its settings, as scenarios have them."""

    cc: str  # a name, a file, or a stack's such as quinn:bbr
    settings: Mapping[str, Any] = field(default_factory=dict)
    is_again: bool = False  # compares a control with itself on other seeds
    noun: ClassVar[str] = "control"  # over a column of several

    @property
    def text(self) -> str:
        """Returns the protocol's name and the settings that differ."""
        changed = ", ".join(f"{key}={value}" for key, value in self.settings.items())
        named = f"{self.cc} ({changed})" if changed else self.cc
        return f"{named}, other seeds" if self.is_again else named

    @property
    def label(self) -> str:
        """Returns its name in figures, with an asterisk if settings differ."""
        return label(self.cc) + ("*" if self.settings else "")

    @property
    def changed(self) -> list[str]:
        """Returns the settings that differ, each as --set takes it without `cc.`."""
        return [f"{key}={written(value)}" for key, value in self.settings.items()]

    @property
    def styled(self) -> str:
        """Returns the control in whose style figures draw it."""
        return self.cc

    def check(self, settings: Mapping[str, Any]) -> None:
        """Raises InputError for a setting that it lacks, or a wrong value."""
        settings_given(self.cc, settings)

    def identity(self) -> dict[str, Any]:
        """Returns what distinguishes it from another, the text of a file included."""
        return {**loading.identity(self.cc), "settings": dict(self.settings)}

    def command(self, verb: str, *options: str) -> str:
        """Returns the command line that gives this control to a command of westwood."""
        settings = [f"--set {shlex.quote(f'cc.{setting}')}" for setting in self.changed]
        return " ".join(["westwood", verb, shlex.quote(self.cc), *settings, *options])

    def __hash__(self) -> int:
        return hash(self.text)


def written(value: object) -> str:
    """Returns a setting's value as --set takes it."""
    return value if isinstance(value, str) else show(value)


def control(cc: str, settings: Mapping[str, Any] | None = None, *, key: str = "CC") -> Control:
    """Makes a control with these settings; an error about the name cites `key`."""
    stack, name = split(cc)
    if stack is not None and stack in OF_STACKS and name not in OF_STACKS[stack]:
        known = ", ".join(controls_of_stack(stack))
        raise InputError(f"expected one of {known}", key=key, value=cc)
    if not is_protocol(name):
        raise InputError(unknown_protocol(cc), key=key, value=cc)
    return Control(cc, settings_given(cc, settings or {}))


def settings_given(cc: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Reads a control's settings from options: KEY, or cc.KEY as in a scenario.

    InputError names a wrong one and the right form: cc.KEY.
    """
    settings = {key.removeprefix("cc."): value for key, value in given.items()}
    try:
        scenario(ANY_PATH, cc, settings)
    except InputError as error:
        raise error.located(key=error.key.replace("tcp.cc.", "cc.")) from None
    return settings
