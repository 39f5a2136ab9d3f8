# SPDX-License-Identifier: BSD-3-Clause
"""Reads lists of numbers from files: lost packets, delivery opportunities and delays.

Reading a scenario copies the numbers into it, so that the scenario and its hash are complete.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from westwood import files
from westwood.errors import InputError

MOST_NUMBERS = 10_000_000  # in all files of a scenario
_MOST_WRITTEN = 10_000  # numbers in a list in TOML, which is slow to read
# The keys of a link that may name a file instead of listing its numbers, and the files' words.
_PLACES = {
    ("loss", "packets"): "packets",
    ("trace", "forward"): "forward",
    ("trace", "backward"): "backward",
    ("delays", "forward"): "delays-forward",
    ("delays", "backward"): "delays-backward",
}

_TABLES, _LISTS = {table for table, _ in _PLACES}, {key for _, key in _PLACES}


def embedded(given: Mapping[str, Any], folder: Path, *, kept: bool = False) -> dict[str, Any]:
    """Replaces file names, relative to `folder`, by their numbers in the links' tables.

    kept: a results folder names them, so they must be in it.
    """
    links = given.get("link")
    if not isinstance(links, (list, tuple)) or not any(map(_names_a_file, links)):
        return dict(given)
    read = _Files(folder, kept=kept)
    taken = [_embedded(link, read) if isinstance(link, Mapping) else link for link in links]
    return {**given, "link": taken}


def _names_a_file(link: Any) -> bool:
    if not isinstance(link, Mapping):
        return False
    tables = [link[name] for name in _TABLES if name in link]
    return any(isinstance(table, Mapping) and _has_text(table) for table in tables)


def _has_text(table: Mapping[str, Any]) -> bool:
    return any(isinstance(table.get(key), str) for key in _LISTS)


class _Files:
    """Reads each file once, and limits the numbers in all files."""

    def __init__(self, folder: Path, *, kept: bool) -> None:
        self._folder, self._kept = folder, kept
        self._read: dict[str, files.Numbers] = {}
        self._count = 0

    def numbers(self, name: str) -> files.Numbers:
        """Returns the numbers in a file."""
        path = self._folder / name
        if self._kept and (Path(name).name != name or path.is_symlink()):
            raise InputError("expected a file of the results folder")
        if name not in self._read:
            self._read[name] = files.numbers(path)
            self._count += len(self._read[name])
            if self._count > MOST_NUMBERS:
                raise InputError(f"expected at most {MOST_NUMBERS} numbers in all files together")
        return self._read[name]


def split_out(links: Iterable[dict[str, Any]], name: str) -> dict[str, str]:
    """Moves long lists out of the links' tables; returns the files' contents by name.

    The names are NAME-LINK-WORD.txt, where NAME is the scenario file's.
    """
    texts = {}
    for link in links:
        for (table, key), word in _PLACES.items():
            inner = link.get(table, {})
            if len(inner.get(key, ())) > _MOST_WRITTEN:
                file = f"{name}-{link['name']}-{word}.txt"
                texts[file] = "\n".join(map(str, inner[key])) + "\n"
                link[table] = {**inner, key: file}
    return texts


def _embedded(link: Mapping[str, Any], read: _Files) -> dict[str, Any]:
    taken = dict(link)
    for table, key in _PLACES:
        inner = taken.get(table)
        if isinstance(inner, Mapping) and isinstance(inner.get(key), str):
            try:
                taken[table] = {**inner, key: read.numbers(inner[key])}
            except InputError as error:
                name = taken["name"] if isinstance(taken.get("name"), str) else "link"
                address = f"{name}.{table}.{key}"
                raise InputError(error.problem, key=address, value=inner[key]) from None
    return taken
