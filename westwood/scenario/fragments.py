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
_GAIN = 4  # the most that zlib's best level saves over its fastest; 2.7 of lists of numbers
_DEFLATE = -15  # zlib's window bits for raw DEFLATE, which browsers can unpack


def of_scenario(scenario: Scenario, most: int = _LARGEST_LINK) -> str:
    """Returns the fragment of a scenario; raises InputError if it has more characters."""
    if scenario.name in presets() and scenario == Scenario.preset(scenario.name):
        return of_preset(scenario.name)
    return packed(scenario.given(), scenario.name, most)


def of_preset(name: str) -> str:
    """Returns the fragment of a preset."""
    return f"#preset={name}"


def packed(given: Mapping[str, Any], name: str, most: int = _LARGEST_LINK) -> str:
    """Returns the fragment of a scenario's given settings."""
    text = _text(given).encode()
    word = "" if len(zlib.compress(text, 1)) > _GAIN * most else _deflated(text)
    if not word or len(word) > most:
        problem = "its lists of numbers are too long for a link, expected a smaller scenario"
        raise InputError(problem, value=name)
    return f"#t={word}"


def _deflated(text: bytes) -> str:
    pack = zlib.compressobj(9, zlib.DEFLATED, _DEFLATE)
    data = pack.compress(text) + pack.flush()
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def plain(scenario: Scenario) -> dict[str, Any]:
    """Returns a scenario's given settings as JSON has them."""
    content: dict[str, Any] = json.loads(_text(scenario.given()))
    return content


def _text(given: Mapping[str, Any]) -> str:
    return json.dumps(named_links.spelled_out(given), default=_jsonable, separators=(",", ":"))


def _jsonable(value: Any) -> Any:
    return value.model_dump(exclude_none=True) if isinstance(value, BaseModel) else list(value)
