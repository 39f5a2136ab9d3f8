# SPDX-License-Identifier: BSD-3-Clause
"""Scenarios enforce the declared bounds of core/settings.h and engine/settings.hpp."""

from __future__ import annotations

import pytest
from pydantic import TypeAdapter

from westwood.catalogue import SETTINGS, Setting, settings_of
from westwood.scenario.declared import type_of

UNIT = {  # the unit of a declared bound in a scenario
    "SPAN": "us",
    "TIME": "ps",
    "TIME_OR_NEVER": "ps",
    "RATE": "bps",
    "BYTES": "B",
    "SIZE_OR_ALL": "B",
    "SEGMENTS": "p",
    "SSTHRESH": "p",
}


def bound(setting: Setting, number: float) -> object:
    """Returns a number in the declaration's unit as a scenario writes it."""
    if setting.kind in UNIT:
        return f"{number}{UNIT[setting.kind]}"
    return number / 1000 if setting.field.endswith("_permille") else number


@pytest.mark.parametrize("section", sorted({one.section for one in SETTINGS}))
def test_every_setting_enforces_its_declared_bounds(section: str) -> None:
    for key, setting in settings_of(section).items():
        if setting.kind in ("SWITCH", "CHOICE"):
            continue
        reads = TypeAdapter(type_of(setting)).validate_python
        reads(bound(setting, setting.least))
        is_none = setting.kind.endswith("_OR_NONE") and setting.least == 1
        for beyond in [setting.most + 1] if is_none else [setting.least - 1, setting.most + 1]:
            with pytest.raises(ValueError):
                pytest.fail(f"{key} = {reads(bound(setting, beyond))} is beyond its bounds")
