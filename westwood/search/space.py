# SPDX-License-Identifier: BSD-3-Clause
"""What can be varied of a congestion control: its settings, within what core/settings.h declares.

Values are in the unit of the core's field, whole numbers, switches or words; `written` turns them
into what a scenario has. A setting that may be none has 0 for it, and all below its least value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from westwood import files
from westwood.catalogue import PROTOCOLS, Setting, settings_in_order, settings_of_protocol
from westwood.errors import InputError, suggestion
from westwood.scenario import Scenario
from westwood.scenario.declared import accepted, read, to_field
from westwood.scenario.flows import configured
from westwood.search.environment import PROFILE, Environment, scenario
from westwood.units import TIME_UNITS, format_time

Value = bool | int | str
Values = dict[str, Value]  # by the setting's key
_LOG_FROM = 100  # a range so many times its lower end is varied in its logarithm
_ANY_PATH = Environment(1_000_000, 10_000, 10, 1_000_000, 0)


@dataclass(frozen=True)
class Parameter:
    """Is a setting that is varied: from `low` to `high`, or among the `choices`."""

    setting: Setting
    default: Value  # the control's own in the profile, or what it is held at
    low: int = 0
    high: int = 0
    choices: tuple[Value, ...] = ()

    @property
    def key(self) -> str:
        """Its key in a scenario's `cc`."""
        return self.setting.name

    @property
    def is_logarithmic(self) -> bool:
        """Says whether equal ratios of the value count alike."""
        return self.low > 0 and self.high >= _LOG_FROM * self.low

    def has(self, value: Value) -> bool:
        """Says whether a value is within the range; a default may not be."""
        return value in self.choices if self.choices else self.low <= int(value) <= self.high

    def ends(self) -> tuple[Value, ...]:
        """The ends of the range, or the words."""
        return self.choices or tuple(dict.fromkeys((self.low, self.high)))

    def written(self, value: Value) -> Any:
        """Writes a value as a scenario has it."""
        return written(self.setting, value)

    def shown(self) -> str:
        """Writes the range."""
        if self.choices:
            return ", ".join(str(self.written(one)) for one in self.choices)
        return f"{self.written(self.low)} to {self.written(self.high)}"


def written(setting: Setting, value: Value) -> Any:
    """Writes a value of the core's field as a scenario has it."""
    if isinstance(value, (bool, str)):
        return value
    if setting.kind.endswith("_OR_NONE") and value < setting.least:
        value = 0
    if setting.kind == "SPAN":
        return format_time(value * TIME_UNITS["us"])
    return value / 1000 if setting.field.endswith("_permille") else value


def check_protocol(name: str) -> None:
    """InputError unless it is a congestion control that has settings."""
    if name not in PROTOCOLS:
        problem = f"unknown protocol, {suggestion(name, PROTOCOLS)}"
        raise InputError(problem, key="--cc", value=name)
    if not settings_of_protocol(name):
        raise InputError("has no settings to vary, expected another", key="--cc", value=name)


def settings_given(protocol: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """The control's settings as options give them: KEY, or cc.KEY as in a scenario.

    InputError names one that is wrong, and how it is set: cc.KEY.
    """
    found = {key.removeprefix("cc."): value for key, value in given.items()}
    try:
        scenario(_ANY_PATH, protocol, found, PROFILE)
    except InputError as error:
        raise error.located(key=error.key.replace("tcp.cc.", "cc.")) from None
    return found


def defaults(protocol: str, held: Mapping[str, Any]) -> Values:
    """The control's settings in the profile, with those that are held, in the core's units."""
    made: Scenario = scenario(_ANY_PATH, protocol, held, PROFILE)
    built = configured(made.flow[0].cc)
    return {key: getattr(built, one.field) for key, one in settings_of_protocol(protocol).items()}


def parameters(
    protocol: str, vary: Sequence[str], held: Mapping[str, Any]
) -> tuple[Parameter, ...]:
    """Reads `--vary KEY[=LOW:HIGH|A,B...]`; without any, all that are not held are varied."""
    check_protocol(protocol)
    known, now = settings_of_protocol(protocol), defaults(protocol, held)
    ranges: dict[str, str] = {}
    for option in vary:
        key, equals, text = (part.strip() for part in option.partition("="))
        if key not in known:
            problem = f"no setting of {protocol}, {suggestion(key, known)}"
            raise InputError(problem, key="--vary", value=option)
        if equals and not text:
            raise _expected(known[key], option)
        if key in held or key in ranges:
            raise InputError("is said twice, expected once", key="--vary", value=option)
        ranges[key] = text
    chosen = ranges or dict.fromkeys((key for key in known if key not in held), "")
    if not chosen:
        raise InputError("nothing is left to vary", key="--set", value=list(held))
    return tuple(_parameter(known[key], now[key], text) for key, text in chosen.items())


def _parameter(setting: Setting, default: Value, text: str) -> Parameter:
    words: tuple[Value, ...] = (False, True) if setting.kind == "SWITCH" else setting.choices
    if not text:
        least = 0 if setting.kind.endswith("_OR_NONE") else setting.least
        return (
            Parameter(setting, default, choices=words)
            if words
            else Parameter(setting, default, least, setting.most)
        )
    if words:
        chosen = tuple(dict.fromkeys(_value(setting, one, text) for one in text.split(",")))
        return Parameter(setting, default, choices=chosen)
    low, colon, high = text.partition(":")
    first, last = _value(setting, low, text), _value(setting, high if colon else low, text)
    assert isinstance(first, int) and isinstance(last, int)
    if first > last:
        raise InputError("expected LOW:HIGH, the lower first", key="--vary", value=text)
    return Parameter(setting, default, first, last)


def _value(setting: Setting, text: str, whole: str) -> Value:
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


def _expected(setting: Setting, option: str) -> InputError:
    kind = "A,B..." if setting.choices or setting.kind == "SWITCH" else "LOW:HIGH"
    bounds = accepted(setting).replace("`", "")
    return InputError(f"expected KEY={kind} within {bounds}", key="--vary", value=option)


def in_order(
    values: Mapping[str, Value], parameters_: Iterable[Parameter], fallback: Mapping[str, Value]
) -> Values:
    """Puts settings of which one must not exceed another in order, as the core demands.

    Two that are varied change places; one beside a setting that stays is as far as that lets it.
    """
    varied, made = {one.key for one in parameters_}, dict(values)
    for lesser, greater in settings_in_order("cc"):
        first = made.get(lesser, fallback.get(lesser))
        last = made.get(greater, fallback.get(greater))
        if not (isinstance(first, int) and isinstance(last, int)) or first <= last:
            continue
        if lesser in varied and greater in varied:
            made[lesser], made[greater] = last, first
        elif lesser in varied:
            made[lesser] = last
        elif greater in varied:
            made[greater] = first
    return made


def settings(
    values: Mapping[str, Value], parameters_: Iterable[Parameter], held: Mapping[str, Any]
) -> dict[str, Any]:
    """Writes the control's settings as a scenario has them: those held, and what was chosen."""
    chosen = {one.key: one.written(values[one.key]) for one in parameters_ if one.key in values}
    return {**held, **chosen}


def without(
    values: Mapping[str, Value], keys: Iterable[str], fallback: Mapping[str, Value]
) -> tuple[Values, tuple[str, ...]]:
    """Sets settings back to their defaults; with them what may not stand beside those."""
    back = list(keys)
    made = {**values, **{key: fallback[key] for key in back}}
    for pair in settings_in_order("cc"):
        first, last = (made.get(key, fallback.get(key)) for key in pair)
        if isinstance(first, int) and isinstance(last, int) and first > last:
            others = [key for key in pair if key in made and key not in back]
            made |= {key: fallback[key] for key in others}
            back += others
    return made, tuple(back)
