# SPDX-License-Identifier: BSD-3-Clause
"""Reads plain values of options without pydantic, which typer would import for them.

What is not plain is left to typer, with its checks and messages. A version of typer that converts
in another way is not changed.
"""

from __future__ import annotations

import re
from typing import Any

_WHOLE = re.compile(r"-?[0-9]{1,18}")


class _PlainValue:
    """Takes the place of a parameter's conversion until a value needs that."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = annotation

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Converts a value as typer does."""
        if value is None:
            return () if param.multiple or param.nargs == -1 else None
        if self._annotation is str and _is_text(value):
            return value
        if self._annotation == list[str] and all(map(_is_text, value)):
            return list(value)
        if self._annotation is int and (type(value) is int or _is_whole(value)):
            return int(value)
        param._runtime_param = None
        return param.get_runtime_param().coerce(value, param=param, ctx=ctx)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value.isascii()


def _is_whole(value: object) -> bool:
    return isinstance(value, str) and _WHOLE.fullmatch(value) is not None


def prepared(parameters: list[Any]) -> list[Any]:
    """Returns these parameters of a command, which now read plain values here."""
    for parameter in parameters:
        described: Any = getattr(parameter, "type_descriptor", None)
        if getattr(parameter, "_runtime_param", ...) is None and not described.is_ranged:
            parameter._runtime_param = _PlainValue(described.annotation)
    return parameters
