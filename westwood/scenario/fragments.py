# SPDX-License-Identifier: BSD-3-Clause
"""Encodes a scenario as the URL fragment of a link to the laboratory."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel

from westwood.errors import InputError
from westwood.scenario import named_links
from westwood.scenario.preset_files import presets
from westwood.scenario.scenario import Scenario

_LARGEST_LINK = 1_000_000  # characters; every browser accepts as many
_DEFLATE = -15  # zlib's window bits for raw DEFLATE, which browsers can unpack


def of_scenario(scenario: Scenario) -> str:
    """Returns the fragment of a scenario; raises InputError if it is too long for a link."""
    if scenario.name in presets() and scenario == Scenario.preset(scenario.name):
        return of_preset(scenario.name)
    return packed(scenario.given(), scenario.name)


def of_preset(name: str) -> str:
    """Returns the fragment of a preset."""
    return f"#preset={name}"


def packed(given: Mapping[str, Any], name: str) -> str:
    """Returns the fragment of a scenario's given settings."""
    text = _text(given)
    pack = zlib.compressobj(9, zlib.DEFLATED, _DEFLATE)
    data = pack.compress(text.encode()) + pack.flush()
    word = base64.urlsafe_b64encode(data).decode().rstrip("=")
    if len(word) > _LARGEST_LINK:
        problem = "its lists of numbers are too long for a link, expected a smaller scenario"
        raise InputError(problem, value=name)
    return f"#t={word}"


def plain(scenario: Scenario) -> dict[str, Any]:
    """Returns a scenario's given settings as JSON has them."""
    content: dict[str, Any] = json.loads(_text(scenario.given()))
    return content


def _text(given: Mapping[str, Any]) -> str:
    return json.dumps(named_links.spelled_out(given), default=_jsonable, separators=(",", ":"))


def _jsonable(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else list(value)
