# SPDX-License-Identifier: BSD-3-Clause
"""Converts the values of a sweep to the values of a table's column."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from westwood.errors import InputError, show


def check_sweep(sweep: Mapping[str, Sequence[Any]]) -> None:
    """Raises InputError if a key has a value twice, which would count its runs twice."""
    for key, values in sweep.items():
        for value, times in Counter(column_values(values)).items():
            if times > 1:
                raise InputError("expected each value once", key=key, value=value)


def _written(value: Any) -> Any:
    """Returns a value without the contents of a control's file, which its name stands for."""
    if not isinstance(value, dict) or "source" not in value:
        return value
    rest = {key: value[key] for key in value if key != "source"}
    return rest["name"] if rest.keys() == {"name"} else rest


def column_values(values: Sequence[Any]) -> list[Any]:
    """Returns values that a column of one type can hold."""
    if all(isinstance(value, int) and not isinstance(value, bool) for value in values):
        return list(values)
    if all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in values):
        return [float(value) for value in values]
    for key in ("kind", "name"):  # if it tells the tables apart
        kinds = [value.get(key) if isinstance(value, dict) else value for value in values]
        if all(isinstance(kind, str) for kind in kinds) and len(set(kinds)) == len(values):
            return kinds
    written = map(_written, values)
    texts = [value if isinstance(value, str) else show(value) for value in written]
    if len(set(texts)) < len(texts):  # long lists can have the same beginning
        numbers = {text: f" ({n})" for n, text in enumerate(dict.fromkeys(map(repr, values)), 1)}
        if len(numbers) > len(set(texts)):
            return [
                f"{text}{numbers[repr(value)]}" for text, value in zip(texts, values, strict=True)
            ]
    return texts
