# SPDX-License-Identifier: BSD-3-Clause
"""Writes a scenario's settings as TOML."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any


def dumps(data: Mapping[str, Any]) -> str:
    """Returns the settings of `Scenario.resolved` as TOML."""
    lines = [f"{key} = {toml_value(data[key])}" for key in ("name", "duration", "seeds", "profile")]
    for section in ("link", "flow"):
        for part in data[section]:
            lines += ["", f"[[{section}]]"]
            lines += [f"{key} = {toml_value(value)}" for key, value in part.items()]
    if data["sweep"]:
        lines += ["", "[sweep]"]
        lines += [
            f"{json.dumps(key)} = {toml_value(values)}" for key, values in data["sweep"].items()
        ]
    return "\n".join(lines) + "\n"


def toml_value(value: Any) -> str:
    """Returns a value as TOML."""
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml_value(item)}" for key, item in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, (bool, str)):
        return json.dumps(value, ensure_ascii=False)
    return str(value)
