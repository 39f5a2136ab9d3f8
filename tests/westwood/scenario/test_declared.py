# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios enforce the bounds that core/, engine/ and plan/ declare."""

import pytest
from pydantic import TypeAdapter

from westwood.control.catalogue import APPLICATIONS, SETTINGS, Setting, settings_of
from westwood.scenario.declared import type_of, written_field
from westwood.scenario.flows import App

UNIT = {  # the unit of a declared bound in a scenario
    "SPAN": "us",
    "TIME": "ps",
    "TIME_OR_NEVER": "ps",
    "RATE": "bps",
    "BYTES": "B",
    "SIZE": "B",
    "SIZE_OR_ALL": "B",
    "SEGMENTS": "p",
    "SSTHRESH": "p",
}


def bound(setting: Setting, number: float) -> object:
    """Returns a number in the declaration's unit as a scenario writes it."""
    if setting.kind in UNIT:
        return f"{number}{UNIT[setting.kind]}"
    return number / 1000 if setting.field.endswith("_permille") else number


@pytest.mark.parametrize("section", sorted({setting.section for setting in SETTINGS}))
def test_every_setting_enforces_its_declared_bounds(section):
    for key, setting in settings_of(section).items():
        if setting.kind in ("SWITCH", "CHOICE"):
            continue
        reads = TypeAdapter(type_of(setting)).validate_python
        reads(bound(setting, setting.least))
        is_none = setting.kind.endswith("_OR_NONE") and setting.least == 1
        for beyond in [setting.most + 1] if is_none else [setting.least - 1, setting.most + 1]:
            with pytest.raises(ValueError):
                pytest.fail(f"{key} = {reads(bound(setting, beyond))} is beyond its bounds")


@pytest.mark.parametrize("kind", APPLICATIONS)
def test_the_model_of_an_application_has_the_declared_settings(kind):
    reads, settings = TypeAdapter(App).validate_python, APPLICATIONS[kind].settings
    needed = {
        setting.name: written_field(setting, setting.fallback)
        for setting in settings
        if not setting.why
    }
    model = reads({"kind": kind, **needed})
    assert set(type(model).model_fields) == {"kind", *(setting.name for setting in settings)}
    defaults = {
        setting.name: written_field(setting, setting.fallback)
        for setting in settings
        if setting.why
    }
    assert defaults.items() <= model.model_dump().items()
    for key in needed:
        with pytest.raises(ValueError, match=r"is missing|Field required"):
            reads({"kind": kind, **{name: needed[name] for name in needed.keys() - {key}}})


@pytest.mark.parametrize("kind", APPLICATIONS)
def test_every_setting_of_an_application_enforces_its_declared_bounds(kind):
    reads, settings = TypeAdapter(App).validate_python, APPLICATIONS[kind].settings
    periods = {setting.name: "2s" for setting in settings if setting.name in ("on", "off")}
    needed = {
        declared.name: written_field(declared, declared.fallback)
        for declared in settings
        if not declared.why
    }
    given = {"kind": kind, **needed, **periods}
    for app_setting in settings:
        if app_setting.kind == "SPREAD":
            continue
        rates = app_setting.kind == "RATES"
        for beyond in (app_setting.least - 1, app_setting.most + 1):
            value = f"{beyond}bps" if rates else bound(app_setting, beyond)
            with pytest.raises(ValueError, match=r"expected|negative|should be"):
                reads({**given, app_setting.name: [value] if rates else value})
