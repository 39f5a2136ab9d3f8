# SPDX-License-Identifier: BSD-3-Clause
"""Links by name: sets of settings from one source each, every setting with its reason.

`kind = "starlink"` in a link's table stands for the settings of starlink.toml. Another key of the
table replaces the set's. A file has a title, its source, whether `forward` is the user's
downstream, and a table for each key of a link:

    forward = "downstream"

    [rate]
    value = "49Mbps"
    reason = "..."
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from westwood import files
from westwood.errors import InputError, suggestion

KIND = "kind"  # the key of a link's table that names a set
_FOLDER = Path(__file__).parent
_SIDES = ("forward", "backward")
# Recordings of both directions replace a setting.
_REPLACED = {"trace": ("rate", "backward_rate"), "delays": ("delay",)}


@dataclass(frozen=True)
class NamedLink:
    """Holds a link's settings by key, the reason of each, and their source."""

    name: str
    title: str
    source: str
    is_downstream: bool  # `forward` goes to the user
    settings: Mapping[str, Any]
    reasons: Mapping[str, str]


def names() -> list[str]:
    """Returns the names of all sets."""
    return sorted(file.stem for file in _FOLDER.glob("*.toml"))


@cache
def get(name: str) -> NamedLink:
    """Returns the set of this name."""
    if name not in names():
        raise InputError(f"unknown link, {suggestion(name, names())}", key=KIND, value=name)
    data = files.read_toml(_FOLDER / f"{name}.toml")
    title, source = data.pop("title"), data.pop("source")
    is_downstream = data.pop("forward") == "downstream"
    settings = {key: choice["value"] for key, choice in data.items()}
    reasons = {key: choice["reason"] for key, choice in data.items()}
    return NamedLink(name, title, source, is_downstream, settings, reasons)


def spelled_out(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns a scenario's settings with those of the sets in place of their names."""
    links = given.get("link")
    if not isinstance(links, (list, tuple)):
        return dict(given)
    full_links = [
        _spelled_out(link) if isinstance(link, Mapping) and KIND in link else link for link in links
    ]
    return {**given, "link": full_links}


def supplied(given: Mapping[str, Any]) -> set[str]:
    """Returns the keys of a link that any set would supply, because the link has not set them."""
    return {key for name in names() for key in get(name).settings} - given.keys()


def _spelled_out(link: Mapping[str, Any]) -> dict[str, Any]:
    name = link[KIND]
    link_name = link["name"] if isinstance(link.get("name"), str) else "link"
    if not isinstance(name, str):
        expected = "expected the name of a link: " + ", ".join(names())
        raise InputError(expected, key=f"{link_name}.{KIND}", value=name)
    try:
        settings = dict(get(name).settings)
    except InputError as error:
        raise error.located(key=f"{link_name}.{KIND}") from None
    for table, keys in _REPLACED.items():
        recorded = link.get(table)
        if isinstance(recorded, Mapping) and all(recorded.get(side) for side in _SIDES):
            for key in keys:
                settings.pop(key, None)
    return {**settings, **{key: value for key, value in link.items() if key != KIND}}
