# SPDX-License-Identifier: BSD-3-Clause
"""Reads numbers from files: packets that are lost, times at which a link can send.

A scenario that names such a file takes the numbers in when it is read: what was run is then all in
the scenario, and in its hash.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from westwood.errors import InputError, show

LARGEST_BYTES = 64 * 2**20  # that a file may have: more than a day of a 100 Mb/s trace
# The keys of a link where the name of a file may stand for the numbers in it.
_PLACES = (("loss", "packets"), ("trace", "forward"), ("trace", "backward"))


def embedded(link: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Puts numbers in place of files' names, relative to `folder`, into the link's table."""
    taken = dict(link)
    for table, key in _PLACES:
        inner = taken.get(table)
        if isinstance(inner, Mapping) and isinstance(inner.get(key), str):
            try:
                taken[table] = {**inner, key: numbers(folder / inner[key])}
            except InputError as error:
                name = taken["name"] if isinstance(taken.get("name"), str) else "link"
                address = f"{name}.{table}.{key}"
                raise InputError(error.problem, key=address, value=inner[key]) from None
    return taken


def numbers(path: Path) -> list[int]:
    """Reads whole numbers, one a line; empty lines and what follows a # don't count."""
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise InputError(f"expected a file of at most {LARGEST_BYTES >> 20} MiB")
        lines = path.read_bytes().decode("utf-8").splitlines()
    except OSError as error:
        raise InputError(f"can't be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise InputError("expected a text file with a whole number a line") from None
    found = []
    for place, line in enumerate(lines, start=1):
        word = line.partition("#")[0].strip()
        if word.isdecimal() and len(word) <= 18:
            found.append(int(word))
        elif word:
            raise InputError(f"expected a whole number in line {place}, found {show(word)}")
    if not found:
        raise InputError("expected a whole number a line, found none")
    return found
