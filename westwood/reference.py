# SPDX-License-Identifier: BSD-3-Clause
"""Makes the reference tables of `westwood list` and docs/ from the declarations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial

from westwood import _engine, markup
from westwood.control import catalogue, gallery
from westwood.engines import NAMES as ENGINES
from westwood.errors import InputError, suggestion
from westwood.results.columns import Column, columns
from westwood.scenario import named_links, presets, profiles
from westwood.scenario.declared import accepted, written_default
from westwood.scenario.preset_files import described
from westwood.scenario.toml_format import toml_value


@dataclass(frozen=True)
class Listing:
    """A table of texts, some with `code` in them."""

    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def markdown(self) -> str:
        """Writes the listing as a Markdown table."""
        return markup.markdown_table(self.heads, self.rows)


def _protocols() -> Listing:
    # Profiles choose Westwood's recovery and the recovery with SACK.
    profiled = {"": "the profile's", "sack": "the profile's, with SACK"}
    rows = tuple(
        (
            f"`{protocol.name}`",
            profiled.get(protocol.recovery, protocol.recovery),
            protocol.ns3,
            protocol.kernel,
            protocol.source,
        )
        for protocol in catalogue.PROTOCOLS.values()
    )
    rows += tuple(
        (f"`{name}`", f"{stack}'s", "", "", f"{stack}'s own, as pinned: --engine {stack}")
        for stack in catalogue.OF_STACKS
        for name in catalogue.controls_of_stack(stack)
    )
    return Listing(("`cc`", "recovery", "in ns-3", "in Linux", "source"), rows)


def _gallery() -> Listing:
    rows = tuple((f"`{entry.name}`", entry.title, entry.what) for entry in gallery.entries())
    return Listing(("`cc`", "control", "what it does"), rows)


def _recoveries() -> Listing:
    rows = tuple(
        (f"`{recovery.name}`", recovery.source) for recovery in catalogue.RECOVERIES.values()
    )
    return Listing(("recovery", "what it does"), rows)


def _default(setting: catalogue.Setting) -> str:
    if not setting.why:
        return "has to be given"
    value = written_default(setting)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _settings(section: str) -> Listing:
    rows = tuple(
        (f"`{key}`", *_setting_cells(setting))
        for key, setting in catalogue.settings_of(section).items()
    )
    return Listing(("key", "what it is", "value", "default"), rows)


def _setting_cells(setting: catalogue.Setting) -> tuple[str, str, str]:
    """Returns a setting's description, its values and its default."""
    return setting.what, accepted(setting), _default(setting)


def _settings_of_kinds(kinds: Iterable[str]) -> Listing:
    rows = tuple(
        (f"`{kind}`", f"`{key}`", *_setting_cells(setting))
        for kind in kinds
        for key, setting in catalogue.settings_of(kind).items()
    )
    return Listing(("kind", "key", "what it is", "value", "default"), rows)


def _settings_of_applications() -> Listing:
    rows = tuple(
        (f"`{app.kind}`", f"`{setting.name}`", *_setting_cells(setting)[:2], _default_of(setting))
        for app in catalogue.APPLICATIONS.values()
        for setting in app.settings
    )
    return Listing(("kind", "key", "what it is", "value", "default"), rows)


def _default_of(setting: catalogue.Setting) -> str:
    """Returns the default of an application's setting, or why there is none."""
    if setting.kind == "SPREAD":
        return str(setting.choices[setting.fallback])
    return setting.why if setting.kind == "TIME_OR_NEVER" else _default(setting)


def _obeyed_by(setting: catalogue.Setting) -> str:
    """Lists the algorithms that use a setting, or those that don't if they are fewer."""
    others = {protocol.algorithm for protocol in catalogue.PROTOCOLS.values()} - set(
        setting.algorithms
    )
    if len(others) < len(setting.algorithms):
        return f"all but {', '.join(sorted(others))}"
    return ", ".join(setting.algorithms)


def _settings_of_cc() -> Listing:
    rows = tuple(
        (f"`{key}`", _obeyed_by(setting), *_setting_cells(setting))
        for key, setting in catalogue.settings_of("cc").items()
    )
    return Listing(("key", "who obeys it", "what it does", "value", "default"), rows)


def _profile(name: str) -> Listing:
    rows = []
    for section, choices in profiles.get(name).choices.items():
        for key, choice in choices.items():
            value = choice.value["limit"] if isinstance(choice.value, dict) else choice.value
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            rows.append((f"`{section}.{key}`", shown, choice.reason))
    return Listing(("setting", "value", "reason"), tuple(rows))


def _profiles() -> Listing:
    rows = tuple((f"`{name}`", profiles.get(name).title) for name in profiles.names())
    return Listing(("profile", "what it is"), rows)


def _presets() -> Listing:
    rows = tuple((f"`{name}`", described(name)) for name in presets())
    return Listing(("scenario", "what it is"), rows)


def _measured(declared: Iterable[Column | catalogue.MeasuredColumn]) -> Listing:
    rows = tuple((f"`{column.name}`", column.unit, column.what) for column in declared)
    return Listing(("column", "unit", "what it is"), rows)


def _link_columns() -> Listing:
    return _measured(
        column for column in catalogue.DIRECTION_COLUMNS.values() if column.aggregate != "INNER"
    )


def _queue_columns() -> Listing:
    rows = tuple(
        (f"`{kind.name}`", f"`{column.name}`", column.unit, column.what)
        for kind in catalogue.QUEUES.values()
        for column in kind.columns
    )
    return Listing(("kind", "column", "unit", "what it is"), rows)


def _step_columns() -> Listing:
    rows = tuple(
        (f"`{name}`", f"{least:g} to {most:g}", what)
        for name, (least, most, what) in _engine.STEP_COLUMNS.items()
    )
    return Listing(("column", "observed within", "what it is"), rows)


def _links() -> Listing:
    rows: list[tuple[str, ...]] = []
    for link in map(named_links.get, named_links.names()):
        name = f"`{link.name}`"
        rows.append((name, "", link.title, link.source))
        for key, value in link.settings.items():
            rows.append((name, f"`{key}`", f"`{toml_value(value)}`", link.reasons[key]))
    return Listing(("link", "key", "value", "source"), tuple(rows))


def _engines() -> Listing:
    return Listing(("engine", "what it is"), tuple((f"`{n}`", w) for n, w in ENGINES.items()))


def _host_reports() -> Listing:
    rows = tuple((f"`{name}`", *more) for name, *more in catalogue.HOST_REPORTS)
    return Listing(
        ("in the core", "what it is", "simulator", "ns-3", "Linux", "quinn", "noq"), rows
    )


LISTINGS: Mapping[str, Callable[[], Listing]] = {
    "protocols": _protocols,
    "gallery": _gallery,
    "recoveries": _recoveries,
    "presets": _presets,
    "profiles": _profiles,
    "engines": _engines,
    "host-reports": _host_reports,
    "columns": lambda: _measured(columns()),
    "transfer-columns": lambda: _measured(catalogue.FLOW_COLUMNS.values()),
    "message-columns": lambda: _measured(
        column for name, column in catalogue.MESSAGE_COLUMNS.items() if name != "connection"
    ),
    "link-columns": _link_columns,
    "queue-columns": _queue_columns,
    "step-columns": _step_columns,
    "cc-settings": _settings_of_cc,
    "app-settings": _settings_of_applications,
    "flow-settings": lambda: _settings("flow"),
    "links": _links,
    "link-settings": lambda: _settings("link"),
    **{f"{kind}-settings": partial(_settings, kind) for kind in catalogue.QUEUES},
    "loss-settings": partial(_settings_of_kinds, catalogue.LOSSES),
    "impairment-settings": partial(_settings_of_kinds, catalogue.IMPAIRMENTS),
}


def listing(name: str) -> Listing:
    """Returns the listing of this name; `profile NAME` lists a profile's settings and reasons."""
    if name.startswith("profile "):
        return _profile(name.removeprefix("profile "))
    if name not in LISTINGS:
        raise InputError(f"no such list, {suggestion(name, LISTINGS)}", value=name)
    return LISTINGS[name]()
