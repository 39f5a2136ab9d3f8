# SPDX-License-Identifier: BSD-3-Clause
"""Defines which settings of a control can be varied, within the bounds of core/settings.h.

Values are whole numbers in the unit of the core's field, switches or words; `written` converts them
for a scenario. In an optional setting, 0 means "none" and comes before the least value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from westwood import _engine, files
from westwood.control import catalogue
from westwood.errors import InputError, suggestion
from westwood.experiments.control import ANY_PATH
from westwood.experiments.optimiser import Value, Values
from westwood.scenario import Scenario
from westwood.scenario.declared import accepted, read, to_field
from westwood.scenario.flows import configured
from westwood.scenario.paths.environment import scenario
from westwood.units import TIME_UNITS, format_time

_LOG_FROM = 100  # ranges that span this ratio are searched in the logarithm


@dataclass(frozen=True)
class Parameter:
    """A varied setting, with a range from `low` to `high` or with `choices`."""

    setting: catalogue.Setting
    default: Value  # the control's own in the profile, or the fixed value
    low: int = 0
    high: int = 0
    choices: tuple[Value, ...] = ()

    @property
    def key(self) -> str:
        """Key in a scenario's `cc`."""
        return self.setting.name

    @property
    def is_logarithmic(self) -> bool:
        """Returns whether the search uses the logarithm of the value."""
        return self.low > 0 and self.high >= _LOG_FROM * self.low

    def has(self, value: Value) -> bool:
        """Returns whether a value is within the range; a default may lie outside."""
        return value in self.choices if self.choices else self.low <= int(value) <= self.high

    def ends(self) -> tuple[Value, ...]:
        """Returns the ends of the range, or the words."""
        return self.choices or tuple(dict.fromkeys((self.low, self.high)))

    def written(self, value: Value) -> Any:
        """Returns a value in the form that a scenario uses."""
        return written(self.setting, value)

    def shown(self) -> str:
        """Returns the range as text."""
        if self.choices:
            return ", ".join(str(self.written(choice)) for choice in self.choices)
        return f"{self.written(self.low)} to {self.written(self.high)}"


def written(setting: catalogue.Setting, value: Value) -> Any:
    """Converts a value of the core's field for a scenario."""
    if isinstance(value, (bool, str)):
        return value
    if setting.kind.endswith("_OR_NONE") and value < setting.least:
        value = 0
    if setting.kind == "SPAN":
        return format_time(value * TIME_UNITS["us"])
    return value / 1000 if setting.field.endswith("_permille") else value


def check_protocol(name: str) -> None:
    """Raises InputError unless it is a congestion control."""
    if not catalogue.is_protocol(name):
        problem = catalogue.unknown_protocol(name)
        raise InputError(problem, key="--cc", value=name)


def defaults(protocol: str, held: Mapping[str, Any]) -> Values:
    """Returns the control's settings in the profile with the fixed ones, in the core's units."""
    path_scenario: Scenario = scenario(ANY_PATH, protocol, held)
    built = configured(path_scenario.flow[0].cc)
    return {
        key: getattr(built, setting.field)
        for key, setting in catalogue.settings_of_protocol(protocol).items()
    }


def parameters(
    protocol: str, vary: Sequence[str], held: Mapping[str, Any]
) -> tuple[Parameter, ...]:
    """Reads `--vary KEY[=LOW:HIGH|A,B...]`; without it all settings that are not fixed vary."""
    check_protocol(protocol)
    known, now = catalogue.settings_of_protocol(protocol), defaults(protocol, held)
    ranges: dict[str, str] = {}
    for option in vary:
        key, equals, text = (part.strip() for part in option.partition("="))
        if key not in known:
            problem = f"no setting of {protocol}, {suggestion(key, known)}"
            raise InputError(problem, key="--vary", value=option)
        if equals and not text:
            raise _expected(known[key], option)
        if key in held or key in ranges:
            raise InputError("is given twice, expected once", key="--vary", value=option)
        ranges[key] = text
    chosen = ranges or dict.fromkeys((key for key in known if key not in held), "")
    if not chosen:
        raise InputError("nothing is left to vary", key="--set", value=list(held))
    return tuple(_parameter(known[key], now[key], text) for key, text in chosen.items())


def _parameter(setting: catalogue.Setting, default: Value, text: str) -> Parameter:
    words: tuple[Value, ...] = (False, True) if setting.kind == "SWITCH" else setting.choices
    if not text:
        least = 0 if setting.kind.endswith("_OR_NONE") else setting.least
        return (
            Parameter(setting, default, choices=words)
            if words
            else Parameter(setting, default, least, setting.most)
        )
    if words:
        chosen = tuple(dict.fromkeys(_value(setting, choice, text) for choice in text.split(",")))
        return Parameter(setting, default, choices=chosen)
    low, colon, high = text.partition(":")
    first, last = _value(setting, low, text), _value(setting, high if colon else low, text)
    assert isinstance(first, int) and isinstance(last, int)
    if first > last:
        raise InputError("expected LOW:HIGH, the lower first", key="--vary", value=text)
    return Parameter(setting, default, first, last)


def _value(setting: catalogue.Setting, text: str, whole: str) -> Value:
    """Reads a value as a scenario's file would, or as a bare word."""
    text = text.strip()
    try:
        parsed = files.toml(f"value = {text}").get("value")
    except (ValueError, RecursionError):
        parsed = text
    if setting.kind == "SWITCH" and not isinstance(parsed, bool):
        raise _expected(setting, f"{setting.name}={whole}")
    try:
        value: Value = to_field(setting, read(setting, parsed))
    except (ValidationError, InputError):
        raise _expected(setting, f"{setting.name}={whole}") from None
    return value


def _expected(setting: catalogue.Setting, option: str) -> InputError:
    kind = "A,B..." if setting.choices or setting.kind == "SWITCH" else "LOW:HIGH"
    bounds = accepted(setting).replace("`", "")
    return InputError(f"expected KEY={kind} within {bounds}", key="--vary", value=option)


def in_order(
    values: Mapping[str, Value], parameters_: Iterable[Parameter], fallback: Mapping[str, Value]
) -> Values:
    """Reorders settings of which one must not exceed another, as the core demands.

    Two varied settings are swapped; a varied one next to a fixed one is clamped.
    """
    varied, settings = {parameter.key for parameter in parameters_}, dict(values)
    for lesser, greater in catalogue.settings_in_order("cc"):
        first = settings.get(lesser, fallback.get(lesser))
        last = settings.get(greater, fallback.get(greater))
        if not (isinstance(first, int) and isinstance(last, int)) or first <= last:
            continue
        if lesser in varied and greater in varied:
            settings[lesser], settings[greater] = last, first
        elif lesser in varied:
            settings[lesser] = last
        elif greater in varied:
            settings[greater] = first
    return settings


def settings(
    values: Mapping[str, Value], parameters_: Iterable[Parameter], held: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the control's settings as a scenario has them: the fixed and the chosen ones.

    Those that have no effect with the others are left out, since a scenario refuses them.
    """
    chosen = {
        parameter.key: parameter.written(values[parameter.key])
        for parameter in parameters_
        if parameter.key in values
    }
    for key, other, word in _engine.SETTINGS_THAT_NEED:
        if {**held, **chosen}.get(other) != word:
            chosen.pop(key, None)
    return {**held, **chosen}


def without(
    values: Mapping[str, Value], keys: Iterable[str], fallback: Mapping[str, Value]
) -> tuple[Values, tuple[str, ...]]:
    """Resets settings to their defaults, along with others that would then conflict."""
    back = list(keys)
    settings = {**values, **{key: fallback[key] for key in back}}
    for pair in catalogue.settings_in_order("cc"):
        first, last = (settings.get(key, fallback.get(key)) for key in pair)
        if isinstance(first, int) and isinstance(last, int) and first > last:
            others = [key for key in pair if key in settings and key not in back]
            settings |= {key: fallback[key] for key in others}
            back += others
    return settings, tuple(back)
