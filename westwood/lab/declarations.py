# SPDX-License-Identifier: BSD-3-Clause
"""Collects the data of the laboratory's page: declarations, profiles, presets and claims.

tools/lab.py builds them into the page, so that nothing is declared twice.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import Any

from westwood import __version__, _engine, files
from westwood.control import catalogue
from westwood.papers.checks import SETTING_BOUNDS
from westwood.papers.checks.bounds import Swept
from westwood.papers.claims import claims
from westwood.papers.studies import STUDIES
from westwood.results.columns import columns
from westwood.scenario import profiles
from westwood.scenario.declared import written_field
from westwood.scenario.preset_files import presets, presets_folder


def declarations(verdicts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Returns all data as values for JSON; `verdicts` are the results of `reproduce` by claim."""
    return {
        "version": __version__,
        "protocols": [
            {
                "name": protocol.name,
                "algorithm": protocol.algorithm,
                "label": protocol.label,
                "colour": protocol.style.color,
                "source": protocol.source,
            }
            for protocol in catalogue.PROTOCOLS.values()
        ],
        "queues": [_kind(queue.name, queue.title) for queue in catalogue.QUEUES.values()],
        "losses": [_kind(loss.name, loss.title) for loss in catalogue.LOSSES.values()],
        "impairments": [_kind(name, title) for name, title in catalogue.IMPAIRMENTS.items()],
        "apps": [
            {
                "name": application.kind,
                "title": application.what,
                "settings": [*map(_declared, application.settings)],
            }
            for application in catalogue.APPLICATIONS.values()
        ],
        "app_settings_together": _engine.APP_SETTINGS_TOGETHER,
        "profiles": {name: _profile(name) for name in profiles.names()},
        "presets": {name: _preset(name, verdicts) for name in presets()},
        "columns": [
            {
                "name": column.name,
                "head": column.head.replace("\n", " "),
                "what": column.what,
                "scale": column.scale,
                "digits": column.digits,
                "if_several": column.if_several,
                "if_known": column.if_known,
            }
            for column in columns()
        ],
        "window_columns": list(catalogue.WINDOW_COLUMNS),
        "event_kinds": list(_engine.EVENT_KINDS),
        "drop_kinds": list(_engine.DROP_KINDS),
        "observed": list(_engine.OBSERVED),
    }


def _kind(name: str, title: str) -> dict[str, Any]:
    """Returns a kind of queue, loss or impairment with its settings."""
    settings = [_declared(setting) for setting in catalogue.settings_of(name).values()]
    return {"name": name, "title": title, "settings": settings}


def _declared(setting: catalogue.Setting) -> dict[str, Any]:
    """Returns a setting with its bounds in the unit of its field.

    If it has no default in scenarios, it is `needed`, and the page starts at `usual`.
    """
    return {
        "key": setting.name,
        "kind": setting.kind,
        "usual": written_field(setting, setting.fallback),
        "needed": not setting.why,
        "least": setting.least,
        "most": setting.most,
        "choices": list(setting.choices),
        "what": setting.what,
    }


def _profile(name: str) -> dict[str, Any]:
    """Returns a profile's defaults by section."""
    profile = profiles.get(name)
    sections = {section: profile.defaults(section) for section in profiles.SECTIONS}
    return {"title": profile.title, "sections": sections}


def _preset(name: str, verdicts: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    path = presets_folder() / f"{name}.toml"
    comment = re.findall(
        r"^# ?(.*)$", path.read_text(encoding="utf-8").partition("\nname")[0], re.M
    )
    studies = {key: study for key, study in STUDIES.items() if name in study.scenarios}
    ids = [claim for study in studies.values() for claim in study.claims]
    scenario = files.read_toml(path)
    return {
        "scenario": scenario,
        "about": " ".join(comment[1:]),
        "title": next((study.title for study in studies.values()), ""),
        "claims": [
            {
                "id": claim,
                "paper": claims()[claim].paper.title,
                "where": claims()[claim].where,
                "says": claims()[claim].says,
                "quote": claims()[claim].quote,
                "measure": claims()[claim].measure,
                "bounds": _bounds(claim, name, scenario),
                **verdicts.get(claim, {"verdict": "", "explanation": ""}),
            }
            for claim in ids
        ],
    }


def _bounds(claim: str, name: str, scenario: Mapping[str, Any]) -> dict[str, Any] | str:
    """Returns the criterion of a claim in this scenario, or why there is none."""
    bounds = claims()[claim].undecidable or SETTING_BOUNDS[claim]
    here = bounds if isinstance(bounds, str) else bounds[name]
    return here if isinstance(here, str) else _json_value(here, scenario)


def _json_value(value: Any, scenario: Mapping[str, Any], key: str = "") -> Any:
    """Returns a value for JSON: infinity becomes None, a `Swept` the sweep's value."""
    if isinstance(value, Swept):
        return scenario["sweep"][key][value.place]
    if is_dataclass(value):
        value = vars(value)
    if isinstance(value, Mapping):
        return {name: _json_value(entry, scenario, name) for name, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_value(entry, scenario) for entry in value]
    return None if value == math.inf else value
