# SPDX-License-Identifier: BSD-3-Clause
"""Reads the controls of flows that come from files: `cc = "./mine.c"`; or of stacks: `"quinn:bbr"`.

Reading a scenario loads the file. From then on the scenario names the file's contents, `source`,
so that its hash is complete and a change of the file does not change the scenario.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood.control import loading
from westwood.control.catalogue import PROTOCOLS, settings_of_protocol, unknown_protocol
from westwood.errors import InputError, suggestion
from westwood.scenario.stacks import STACK, split

if TYPE_CHECKING:
    from pydantic import BaseModel

OF_EACH_CONTROL = "cc."  # before a setting of every flow whose control has it
_SOURCE, _PARAMETERS = "source", "parameters"
_KEYS = (".cc", ".cc.name")  # end the keys of a sweep over controls


def embedded(given: Mapping[str, Any], folder: Path, *, kept: bool = False) -> dict[str, Any]:
    """Loads the controls that flows and the sweep name, relative to `folder`; names the contents.

    kept: a results folder names them, so only what was compiled here before is loaded.
    """
    settings = dict(given)
    flows, sweep = given.get("flow"), given.get("sweep")
    if isinstance(flows, (list, tuple)):
        settings["flow"] = [_embedded(flow, folder, kept=kept) for flow in flows]
    if isinstance(sweep, Mapping):
        settings["sweep"] = {
            key: [_swept(value, folder, key, kept=kept) for value in values]
            if isinstance(values, (list, tuple)) and str(key).endswith(_KEYS)
            else values
            for key, values in sweep.items()
        }
    return settings


def settled(settings: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Does the same for settings by key."""
    values: dict[str, Any] = {}
    for key, value in settings.items():
        values[key] = _settled(value, folder, key) if key.endswith(".cc") else value
        if key.endswith(".cc.name"):
            table = _settled(value, folder, key)
            for part in (_SOURCE, STACK):
                of_table = table.get(part) if isinstance(table, Mapping) else None
                values[key.removesuffix("name") + part] = of_table
            if isinstance(table, Mapping) and table.get(_SOURCE, table.get(STACK)):
                values[key] = table["name"]
    return values


def flows_with(key: str, value: object, flows: Iterable[Mapping[str, Any]]) -> list[str]:
    """Returns the names of the flows whose control has the setting that `cc.KEY` addresses."""
    protocols = {flow["name"]: _name_of(flow.get("cc")) for flow in flows}
    names = [name for name, protocol in protocols.items() if has_setting(protocol, key)]
    if not names:
        known = [
            OF_EACH_CONTROL + setting for name in protocols.values() for setting in _settings(name)
        ]
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
        ccs += values if key.endswith(_KEYS) else []
    tables = [cc if isinstance(cc, Mapping) else {"name": cc} for cc in ccs]
    named = {str(split(table.get("name"))[1]): table.get(_SOURCE) for table in tables}
    return {name: source for name, source in named.items() if loading.is_file(name)}


def of_files(named: Mapping[str, str | None]) -> list[loading.Control]:
    """Returns the controls in C with these names and contents."""
    return [
        loading.of_source(source, name, runs=False)
        for name, source in named.items()
        if not name.endswith(loading.PYTHON)
    ]


def texts(controls: Iterable[loading.Control]) -> dict[str, str]:
    """Returns the contents of controls by the names that their files have in results folders."""
    return {control.file: loading.text_of(control) for control in controls}


def _embedded(flow: Any, folder: Path, *, kept: bool) -> Any:
    if not isinstance(flow, Mapping) or "cc" not in flow:
        return flow
    key = f"{flow.get('name', 'flow')}.cc"
    return {**flow, "cc": _settled(flow["cc"], folder, key, kept=kept)}


def _swept(cc: Any, folder: Path, key: str, *, kept: bool) -> Any:
    """Names the contents of a file among the values of a sweep, which stay as they are written."""
    table = _settled(cc, folder, key, kept=kept)
    if not isinstance(table, Mapping) or table.get(_SOURCE) is None:
        return cc
    written = cc if isinstance(cc, Mapping) else {"name": cc}
    return {**written, _SOURCE: table[_SOURCE]}


def _settled(cc: Any, folder: Path, key: str, *, kept: bool = False) -> Any:
    table = {"name": cc} if isinstance(cc, str) else cc
    if not isinstance(table, Mapping):
        return cc
    written = table.get("name")
    stack, control = split(written)
    if stack is not None:
        table = {**table, "name": control, STACK: stack}
    if loading.is_file(control):
        return {**table, _SOURCE: _source_of(table, folder, key, kept=kept)}
    if stack is not None and control not in PROTOCOLS:
        raise InputError(unknown_protocol(written), key=key, value=written)
    return cc if stack is None else table


def _source_of(table: Mapping[str, Any], folder: Path, key: str, *, kept: bool) -> str:
    name, source = str(table["name"]), table.get(_SOURCE)
    try:
        if source is None and not kept:
            return loading.load(name, folder).source
        source = None if source is None else str(source)
        return loading.of_source(source, name, folder, runs=kept).source
    except InputError as error:
        raise error.located(key=key) from None


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
    if source is None:
        control = loading.named(str(name))
    else:
        control = loading.of_source(str(source), str(name), runs=False)
    known = {parameter.name: parameter for parameter in control.parameters}
    for key, value in given.items():
        if key in known:
            _check(known[key], value)
        elif key not in model.model_fields:
            problem = f"no such setting, {suggestion(key, settings_of_protocol(str(name)))}"
            raise InputError(problem, key=key, value=value)
    parameters = {key: value for key, value in given.items() if key in known}
    others = {key: value for key, value in given.items() if key not in known}
    return {**others, _SOURCE: control.source, _PARAMETERS: parameters}


def _check(parameter: loading.Parameter, value: object) -> None:
    low, high = parameter.least, parameter.most
    whole = isinstance(value, int) and not isinstance(value, bool)
    if not whole or not low <= int(str(value)) <= high:
        problem = f"expected a whole number from {low} to {high}"
        raise InputError(problem, key=parameter.name, value=value)
