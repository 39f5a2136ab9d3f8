# SPDX-License-Identifier: BSD-3-Clause
"""Finds the line of a key in a TOML file, for error messages.

Python's parser keeps no positions. Instead, a binary search finds the shortest beginning of the
file whose parsed data has the key; its last line is the key's line.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from westwood import files
from westwood.errors import InputError

_MOST_PARSED_BYTES = 20 << 20  # in all; takes about a second
_PLACE = re.compile(r"(?P<name>.*)\[(?P<number>\d+)\]")


def placed(error: InputError, file: Path, swept: Collection[str] = ()) -> InputError:
    """Returns the error and its `others` with the lines of their keys in the TOML file.

    Keys in `swept` are looked up in [sweep]. So are those that a swept kind or table should have.
    """
    try:
        text = files.read(file, files.TOML_BYTES).decode("utf-8-sig")
        data = files.toml(text)
    except (ValueError, RecursionError):  # also if the file can't be read or is not TOML
        return error
    beginnings = _Beginnings(text)
    tables = {key: f"{key.removesuffix('kind').removesuffix('.')}." for key in swept}

    def line_of(key: str) -> int | None:
        path = _path(data, key)
        lacks = not path or path[-1] != key.rpartition(".")[2]
        of_sweep = (
            table for table in tables if key == table or (lacks and key.startswith(tables[table]))
        )
        swept_key = next(of_sweep, None)
        return beginnings.line(_path(data, f"sweep.{swept_key}") if swept_key else path)

    return error.placed(line_of)


def _path(data: Mapping[str, Any], key: str) -> tuple[str | int, ...]:
    """Returns the path of a key such as `bottleneck.loss.rate`, as far as it exists."""
    path: list[str | int] = []
    here: Any = data
    words = key.split(".")
    for place, word in enumerate(words):
        whole = ".".join(words[place:])  # a key of [sweep] contains dots
        if place and _has(here, whole):
            return (*path, whole)
        steps = [*_named(data, word)] if place == 0 else []
        for step in steps or _steps(word):
            if not _has(here, step):
                return tuple(path)
            path.append(step)
            here = here[step]
    return tuple(path)


def _named(data: Mapping[str, Any], name: str) -> tuple[str, int] | tuple[()]:
    """Returns the section and index of the table with this name, such as a link or flow."""
    for section, parts in data.items():
        for number, part in enumerate(parts if isinstance(parts, list) else ()):
            if isinstance(part, Mapping) and part.get("name") == name:
                return section, number
    return ()


def _steps(word: str) -> list[str | int]:
    match = _PLACE.fullmatch(word)
    return [word] if not match else [match["name"], int(match["number"]) - 1]


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, int):
        return isinstance(value, list) and step < len(value) and isinstance(value[step], dict)
    return isinstance(value, Mapping) and step in value


class _Beginnings:
    """Parses beginnings of a file, for all keys together until it would take too long."""

    def __init__(self, text: str) -> None:
        self._lines = [f"{line}\n" for line in text.split("\n")]  # TOML's only line ends
        self._left = _MOST_PARSED_BYTES // max(1, len(text))

    def _parsed(self, count: int) -> dict[str, Any] | None:
        self._left -= 1
        with contextlib.suppress(ValueError, RecursionError):
            return files.toml("".join(self._lines[:count]))
        return None  # cut off within a multi-line value

    def line(self, path: tuple[str | int, ...]) -> int | None:
        """Returns the first line of the value at the path, or None if that takes too long."""
        low, high, end = 0, len(self._lines), len(self._lines)
        while path and low < high and self._left > 0:
            middle = count = (low + high) // 2
            while (data := self._parsed(count)) is None and self._left > 0:
                count += 1
            if _is_there(data, path):
                high, end = middle, count
            else:
                low = count + 1
        while end > 1 and self._left > 0 and self._parsed(end - 1) is None:
            end -= 1  # to the first line of a multi-line value
        return end if path and self._left > 0 else None


def _is_there(data: Any, path: tuple[str | int, ...]) -> bool:
    for step in path:
        if not _has(data, step):
            return False
        data = data[step]
    return True
