# SPDX-License-Identifier: BSD-3-Clause
"""Compares what is found with a file of tests/golden, which `make golden` writes."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parents[1] / "golden"


def assert_golden(name: str, actual: Mapping[str, Any]) -> None:
    """Asserts that the golden file has these values, by name."""
    file = _FOLDER / f"{name}.json"
    if os.environ.get("WW_UPDATE_GOLDEN"):
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(actual, indent=1) + "\n", encoding="utf-8")
    assert actual == json.loads(file.read_text(encoding="utf-8")), f"{file}: make golden"


def digest(value: Any) -> str:
    """Returns a digest of bytes, or of numbers and words with nine digits of each number."""
    content = value if isinstance(value, bytes) else json.dumps(_rounded(value)).encode()
    return hashlib.sha256(content).hexdigest()[:16]


def _rounded(value: Any) -> Any:
    """Returns numbers with nine digits, since the last ones depend on the C library."""
    if isinstance(value, float):
        return float(f"{value:.9g}")
    if isinstance(value, Mapping):
        return {key: _rounded(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(entry) for entry in value]
    return value
