# SPDX-License-Identifier: BSD-3-Clause
"""The command `control show`: prints what a congestion control is, and its settings."""

from __future__ import annotations

from typing import Annotated, Any

from westwood.cli.options import ControlArgument, ControlOption, control_given, option
from westwood.errors import InputError


def show(
    cc: ControlArgument = None,
    cc_: ControlOption = None,
    json: Annotated[bool, option(None, None, "Print one JSON object.", "--json")] = False,
) -> None:
    """Show a control: its source, its hosts, its settings."""
    from westwood.control.catalogue import PROTOCOLS, is_protocol, unknown_protocol
    from westwood.kernel.user_controls import name_of

    name = control_given(cc, cc_)
    if not is_protocol(name):
        raise InputError(unknown_protocol(name), key="CC", value=name)
    protocol, settings = PROTOCOLS[name], _settings(name)
    about = {
        "name": name,
        "source": protocol.source,
        "recovery": protocol.recovery or None,
        "ns3": protocol.ns3 or None,
        "linux": (name_of(name) if name.endswith(".c") else protocol.kernel) or None,
    }
    if json:
        from json import dumps

        print(dumps({**about, "settings": settings}))
    else:
        _print(about, settings)


def _settings(name: str) -> list[dict[str, Any]]:
    """Returns the settings that a control obeys, with its values in the profile rfc."""
    from westwood.control.catalogue import settings_of_protocol
    from westwood.scenario import Scenario
    from westwood.scenario.declared import accepted, written_default, written_field
    from westwood.scenario.flows import configured

    scenario = Scenario.preset("path").with_settings({"profile": "rfc", "tcp.cc": name})
    values = configured(scenario.flows[0].cc)
    rows = []
    for key, setting in settings_of_protocol(name).items():
        value = getattr(values, setting.field)
        written = value if isinstance(value, str) else written_field(setting, value)
        rows.append(
            {
                "setting": key,
                "value": written,
                "default": written_default(setting),
                "accepts": accepted(setting).replace("`", ""),
                "what": setting.what,
            }
        )
    return rows


def _print(about: dict[str, str | None], settings: list[dict[str, Any]]) -> None:
    from westwood.cli import tables

    print(tables.wrapped(f"{about['name']}: {about['source']}", ""))
    recovery = about["recovery"] or "the profile's"
    print(
        f"recovery: {recovery}; in ns-3: {about['ns3'] or 'no'}; in Linux: {about['linux'] or 'no'}"
    )
    print()
    heads = ("setting", "value", "default", "accepts", "what it is")
    rows = tuple(tuple(map(_word, setting.values())) for setting in settings)
    tables.print_texts(tables.Cells(heads, rows), "Settings in the profile rfc")


def _word(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
