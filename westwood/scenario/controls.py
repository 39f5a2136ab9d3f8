# SPDX-License-Identifier: BSD-3-Clause
"""Reads the controls of flows that come from files: `cc = "./mine.c"`; or of stacks: `"quinn:bbr"`.

Reading a scenario loads the file. From then on the scenario names the file's contents, `source`,
so that its hash is complete and a change of the file does not change the scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.catalogue import PROTOCOLS, settings_of_protocol, unknown_protocol
from westwood.control import loading
from westwood.errors import InputError, suggestion
from westwood.scenario.stacks import STACK, split

if TYPE_CHECKING:
    from pydantic import BaseModel

OF_EACH_CONTROL = "cc."  # before a setting of every flow whose control has it
_SOURCE, _PARAMETERS = "source", "parameters"


def embedded(given: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Loads the controls that flows name, relative to `folder`, and names their contents."""
    flows = given.get("flow")
    if not isinstance(flows, (list, tuple)):
        return dict(given)
    return {**given, "flow": [_embedded(one, folder) for one in flows]}


def settled(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Does the same for settings by key."""
    made: dict[str, Any] = {}
    for key, value in settings.items():
        made[key] = _settled(value, folder, key) if key.endswith(".cc") else value
        if key.endswith(".cc.name"):
            table = _settled(value, folder, key) if isinstance(value, str) else value
            for part in (_SOURCE, STACK):
                of_table = table.get(part) if isinstance(table, Mapping) else None
                made[key.removesuffix("name") + part] = of_table
            if isinstance(value, str) and isinstance(table, Mapping):
                made[key] = table["name"]
    return made


def flows_with(key: str, value: object, flows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the flows whose control has the setting that `cc.KEY` addresses."""
    protocols = {flow["name"]: _name_of(flow.get("cc")) for flow in flows}
    names = [name for name, protocol in protocols.items() if has_setting(protocol, key)]
    if not names:
        known = [OF_EACH_CONTROL + one for name in protocols.values() for one in _settings(name)]
        problem = f"no flow's control has this setting, {suggestion(key, known)}"
        raise InputError(problem, key=key, value=value)
    return names


def has_setting(protocol: str, key: str) -> bool:
    """Returns whether the protocol uses the setting that `cc.KEY` addresses."""
    return key.removeprefix(OF_EACH_CONTROL) in _settings(protocol)


def _settings(protocol: str) -> Mapping[str, object]:
    known = loading.is_file(protocol) or protocol in PROTOCOLS
    return settings_of_protocol(protocol) if known else {}


def _name_of(cc: Any) -> str:
    name = cc.get("name") if isinstance(cc, Mapping) else cc
    return name if isinstance(name, str) else ""


def files(given: Mapping[str, Any]) -> dict[str, str | None]:
    """Returns the names of the files that a scenario's flows and sweep name as controls.

    With each stand the contents that the scenario asks for, or None.
    """
    ccs = [flow.get("cc") for flow in given.get("flow", ()) if isinstance(flow, Mapping)]
    for key, values in given.get("sweep", {}).items():
        ccs += values if key.endswith((".cc", ".cc.name")) else []
    tables = [cc if isinstance(cc, Mapping) else {"name": cc} for cc in ccs]
    return {
        str(one["name"]): one.get(_SOURCE) for one in tables if loading.is_file(one.get("name"))
    }


def _embedded(flow: Any, folder: Path) -> Any:
    if not isinstance(flow, Mapping) or "cc" not in flow:
        return flow
    return {**flow, "cc": _settled(flow["cc"], folder, f"{flow.get('name', 'flow')}.cc")}


def _settled(cc: Any, folder: Path, key: str) -> Any:
    table = {"name": cc} if isinstance(cc, str) else cc
    if not isinstance(table, Mapping):
        return cc
    stack, control = split(table.get("name"))
    if stack is not None:
        if control not in PROTOCOLS:
            written = table.get("name")
            raise InputError(unknown_protocol(written), key=key, value=written)
        return {**table, "name": control, STACK: stack}
    if not loading.is_file(table.get("name")):
        return cc
    return {**table, _SOURCE: _source_of(table, folder, key)}


def _source_of(table: Mapping[str, Any], folder: Path, key: str) -> str:
    name, source = str(table["name"]), table.get(_SOURCE)
    try:
        if source is None:
            return loading.load(name, folder).source
        return loading.of_source(str(source), name, folder).source
    except InputError as error:
        raise error.located(key=key) from None


def split_out(flows: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Names the controls' files without their folders; returns their contents by name."""
    made: dict[str, str] = {}
    for flow in flows:
        cc = flow["cc"]
        if not loading.is_file(cc["name"]) or cc["name"].endswith(loading.PYTHON):
            continue
        control = loading.of_source(cc[_SOURCE], cc["name"])
        name, text = Path(cc["name"]).name, control.code.decode()
        if made.get(name, text) != text:
            name = f"{control.source}-{name}"
        made[name] = text
        flow["cc"] = {**cc, "name": name}
    return made


def with_parameters(given: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Returns a table `cc` with the control's own parameters in a table, checked."""
    if _PARAMETERS in given:
        raise InputError("unknown key, expected the parameters themselves", key=_PARAMETERS)
    name = given.get("name")
    if not loading.is_file(name):
        if given.get(_SOURCE) is not None:
            raise InputError("is for controls in files", key=_SOURCE, value=given[_SOURCE])
        return dict(given)
    source = given.get(_SOURCE)
    control = loading.named(str(name)) if source is None else loading.of_source(source, str(name))
    known = {one.name: one for one in control.parameters}
    for key, value in given.items():
        if key in known:
            _check(known[key], value)
        elif key not in model.model_fields:
            problem = f"no such setting, {suggestion(key, settings_of_protocol(str(name)))}"
            raise InputError(problem, key=key, value=value)
    own = {key: value for key, value in given.items() if key in known}
    others = {key: value for key, value in given.items() if key not in known}
    return {**others, _SOURCE: control.source, _PARAMETERS: own}


def _check(parameter: loading.Parameter, value: object) -> None:
    low, high = parameter.least, parameter.most
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not low <= int(str(value)) <= high:
        problem = f"expected a whole number from {low} to {high}"
        raise InputError(problem, key=parameter.name, value=value)
