# SPDX-License-Identifier: BSD-3-Clause
"""Writes records as the lines of a journal and reads them: JSON, each line with a checksum.

    {"point": 0, "seed": 1, "rows": [...], "checksum": "3f0c29a1b7d45e68"}

The checksum is the first 16 digits of the SHA-256 of the line without it. A last line without a
line end was cut off when a process died, and is ignored.
"""

from __future__ import annotations

import errno
import hashlib
import json
import math
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from westwood.results import disk

_DIGITS = 16
_LONGEST = 1 << 28  # bytes of a line
_BEFORE, _AFTER = b', "checksum": "', b'"}'
_TAIL = len(_BEFORE) + _DIGITS + len(_AFTER)


@dataclass
class Read:
    """Holds a journal's records and the number of its damaged lines."""

    records: list[dict[str, Any]] = field(default_factory=list)
    damaged: int = 0
    end: int = 0  # of the last complete line, in bytes


def json_ready(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the record with None for each number that readers of JSON can't use."""
    return {key: finite_or_none(value) for key, value in record.items()}


def from_json(record: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the record with NaN instead of None; the inverse of `json_ready`."""
    return {key: math.nan if value is None else value for key, value in record.items()}


def finite_or_none(value: Any) -> Any:
    """Returns None for a number that readers of JSON can't use: NaN or an infinite one."""
    if isinstance(value, dict):
        return json_ready(value)
    if isinstance(value, list | tuple):
        return [*map(finite_or_none, value)]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def line_of(record: Mapping[str, Any]) -> bytes:
    """Returns a record as a line with its checksum."""
    whole = json.dumps(record).encode("ascii")
    return whole[:-1] + _BEFORE + _checksum(whole) + _AFTER + b"\n"


def read(path: Path) -> Read:
    """Reads the intact records of a journal, line by line; raises OSError for an endless line."""
    journal = Read()
    with disk.opened(path) as file, os.fdopen(file, "rb", closefd=False) as stream:
        while (line := stream.readline(_LONGEST)).endswith(b"\n"):
            journal.end += len(line)
            if (record := _record(line[:-1])) is not None:
                journal.records.append(record)
            else:
                journal.damaged += 1
    if len(line) == _LONGEST:
        raise OSError(errno.EFBIG, f"has a line of more than {_LONGEST} bytes")
    return journal


def _record(line: bytes) -> dict[str, Any] | None:
    whole, tail = line[:-_TAIL] + b"}", line[-_TAIL:]
    if tail != _BEFORE + _checksum(whole) + _AFTER:
        return None
    try:
        record = json.loads(whole)
    except (ValueError, RecursionError):
        return None
    return record if isinstance(record, dict) else None


def _checksum(whole: bytes) -> bytes:
    return hashlib.sha256(whole).hexdigest()[:_DIGITS].encode("ascii")
