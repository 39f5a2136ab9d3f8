# SPDX-License-Identifier: BSD-3-Clause
"""Sets addressed values in a scenario's tables: KEY, NAME.KEY, *.KEY (all flows) or cc.KEY."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from westwood import files
from westwood.control.catalogue import OF_DATAGRAMS, UDP
from westwood.errors import InputError, show, suggestion
from westwood.scenario import controls

EVERY_FLOW = "*"  # in place of a name; skips UDP flows for keys that they don't have


def kind_of(app: object) -> object:
    """Returns the kind of an application, given as a table or as a word."""
    return app.get("kind") if isinstance(app, Mapping) else app


def is_part(key: str, whole: str) -> bool:
    """Returns whether `key` addresses a part of what `whole` addresses."""
    (name, _, rest), (whole_name, _, table) = key.partition("."), whole.partition(".")
    same = name == whole_name or EVERY_FLOW in (name, whole_name)
    return same and rest.startswith(table + ".")


def assign_all(data: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Sets values by their keys; returns them with `NAME.cc.KEY` of each flow for `cc.KEY`.

    It changes the tables of links and flows, but none within them: these are replaced.

    A table is set before its parts, whatever the order, and one flow's setting replaces `cc.KEY`.
    """
    named = any(part["name"] == "cc" for section in ("link", "flow") for part in data[section])
    shared = [key for key in settings if key.startswith(controls.OF_EACH_CONTROL) and not named]
    flow_settings = {key: value for key, value in settings.items() if key not in shared}
    for key in sorted(flow_settings, key=lambda key: key.count(".")):
        assign(data, key, flow_settings[key])
    for key in shared:
        for flow in controls.flows_with(key, settings[key], data["flow"]):
            flow_key = f"{flow}.{key}"
            if flow_key not in flow_settings and f"{EVERY_FLOW}.{key}" not in flow_settings:
                flow_settings[flow_key] = settings[key]
                assign(data, flow_key, settings[key])
    return flow_settings


def assign(data: dict[str, Any], key: str, value: Any) -> None:
    """Sets a value by its key: KEY of the scenario, or NAME.KEY of the link or flow NAME."""
    if key.count(".") >= files.MOST_KEY_PARTS:
        raise InputError(f"expected keys of at most {files.MOST_KEY_PARTS} parts", key=key)
    first, _, rest = key.partition(".")
    parts: dict[str, dict[str, Any]] = {
        part["name"]: part for section in ("link", "flow") for part in data[section]
    }
    if rest and first == EVERY_FLOW:
        flow_section = rest.partition(".")[0]
        of_datagrams = flow_section in OF_DATAGRAMS and flow_section != "cc"
        obey = [
            obeying
            for obeying in data["flow"]
            if of_datagrams or kind_of(obeying.get("app")) != UDP
        ]
        if not obey:
            problem = "has no effect on datagrams, and there is no other flow"
            raise InputError(problem, key=key, value=value)
        for flow in obey:
            _assign_within(flow, rest.split("."), key, value)
    elif rest and first in parts:
        _assign_within(parts[first], rest.split("."), key, value)
    elif not rest and first in ("name", "duration", "seeds", "profile"):
        data[first] = value
    else:
        known = ["duration", "seeds", "profile", *(f"{name}." + "KEY" for name in parts)]
        problem = f"no such setting, {suggestion(key if not rest else first + '.KEY', known)}"
        raise InputError(problem, key=key, value=value)


def _assign_within(table: dict[str, Any], path: Sequence[str], key: str, value: Any) -> None:
    for step in path[:-1]:
        inner = table.get(step, {})
        if step == "cc" and isinstance(inner, str):
            inner = {"name": inner}
        if not isinstance(inner, dict):
            raise InputError(f'"{step}" is {show(inner)}, not a table', key=key, value=value)
        table[step] = table = dict(inner)
    table[path[-1]] = value


def blamed(error: InputError, settings: Mapping[str, Any]) -> InputError:
    """Replaces keys inside a value that the user set by the key of that value."""
    by_text = {
        str(problem): problem
        for problem in (_named(nested_error, settings) for nested_error in (error, *error.others))
    }
    first, *others = by_text.values()
    return first.located(others=others)


def _named(error: InputError, settings: Mapping[str, Any]) -> InputError:
    name = error.key.partition(".")[0]
    for key in sorted(settings, key=len, reverse=True):  # longest first
        first, dot, rest = key.partition(".")
        flow_key = f"{name}.{rest}" if dot and first == EVERY_FLOW else key
        if error.key == flow_key or error.key.startswith(flow_key + "."):
            return error if isinstance(settings[key], dict) else error.located(key=flow_key)
    return error
