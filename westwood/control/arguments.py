# SPDX-License-Identifier: BSD-3-Clause
"""Checks the arguments of public functions: a wrong one raises InputError.

    @checked(seed=whole(0, 2**64 - 1), trace=switch)
    def simulate(scenario, seed=1, *, trace=False): ...

A check converts a value to the type the function expects, so numpy scalars and paths as text work
too. It raises InputError on a wrong value; the error then names the argument.
"""

from __future__ import annotations

import functools
import inspect
import math
import operator
import os
import sys
from collections.abc import Callable, Mapping
from datetime import date, time
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

from westwood.control.python import PythonControl, table_of
from westwood.errors import InputError, suggestion

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[Any], Any]
_DEEPEST, _MOST_TABLES, _MOST_ITEMS = 12, 1_000_000, 10_000_000
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
_PLAIN = {str, int, float, bool}
_LONGEST_PATH = 4096  # characters: the limit on Linux
_SCALARS = (str, int, float, Decimal, Fraction, date, time)


def checked(**checks: Check) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Returns a decorator that checks the named arguments, and their names, before each call."""

    def wrap(function: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(function)
        parameters = signature.parameters.values()
        ordered = [taken.name for taken in parameters if taken.kind in _POSITIONAL]

        @functools.wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if not kwargs and len(args) == len(ordered) == len(signature.parameters):
                pairs = zip(ordered, args, strict=True)
                taken = [_taken(name, value, checks) for name, value in pairs]
                return function(*taken)  # type: ignore[call-arg]
            try:
                given = signature.bind(*args, **kwargs)
            except TypeError as error:
                raise _misnamed(function, signature, kwargs, error) from None
            for name in signature.parameters:
                if name in checks and name in given.arguments:
                    given.arguments[name] = _taken(name, given.arguments[name], checks)
            return function(*given.args, **given.kwargs)

        return call

    return wrap


def _taken(name: str, value: object, checks: Mapping[str, Check]) -> Any:
    return checked_value(name, value, checks[name]) if name in checks else value


def _misnamed(
    function: Callable[..., object],
    signature: inspect.Signature,
    named: Mapping[str, object],
    error: TypeError,
) -> InputError:
    """Returns the error for arguments that the function does not take."""
    known = [name for name in signature.parameters if name != "self"]
    for name, value in named.items():
        if name not in known:
            problem = f"no such argument, {suggestion(name, known)}"
            return InputError(problem, key=name, value=value)
    called = function.__qualname__.removesuffix(".__init__")
    return InputError(f"{called}: {error}, expected {', '.join(known)}")


def check_fields(record: object, **checks: Check) -> None:
    """Checks the named fields of a frozen dataclass; for its `__post_init__`."""
    for name, check in checks.items():
        object.__setattr__(record, name, checked_value(name, getattr(record, name), check))


def checked_value(name: str, value: object, check: Check) -> Any:
    """Checks and converts an argument; its InputError names the argument."""
    try:
        return check(value)
    except InputError as error:
        key = ".".join(part for part in (name, error.key) if part)
        raise error.located(key=key) from None


def check_seed(seed: int) -> None:
    """Raises InputError for `--seed` unless every engine accepts the seed."""
    if not 0 <= seed < 2**64:
        raise InputError("expected a whole number from 0 to 2^64 - 1", key="--seed", value=seed)


def whole(least: int, most: int) -> Check:
    """Accepts a whole number, including numpy's, between the bounds."""

    def check(value: object) -> int:
        try:
            number = operator.index(value)  # type: ignore[arg-type]
        except Exception:
            raise InputError("expected a whole number", value=value) from None
        if isinstance(value, bool) or not least <= number <= most:
            raise InputError(f"expected a whole number from {least} to {most}", value=value)
        return number

    return check


def number(least: float, most: float = math.inf, *, above: bool = False) -> Check:
    """Accepts a finite number between the bounds; with `above`, the lower one is excluded."""

    def check(value: object) -> float:
        ok = isinstance(value, (int, float)) and not isinstance(value, bool)
        try:
            checked_number = float(value) if ok else float(operator.index(value))  # type: ignore[arg-type]
        except Exception:
            checked_number = math.nan
        ok = (
            not isinstance(value, bool)
            and math.isfinite(checked_number)
            and least <= checked_number <= most
        )
        if not ok or (above and checked_number == least):
            words = f"{'more than' if above else 'of at least'} {least:g}"
            words += f" and at most {most:g}" if most < math.inf else ""
            raise InputError(f"expected a number {words}", value=value)
        return checked_number

    return check


def switch(value: object) -> bool:
    """Accepts True or False, including numpy's."""
    if not isinstance(value, bool) and type(value).__name__ not in ("bool", "bool_"):
        raise InputError("expected True or False", value=value)
    return bool(value)


def text(value: object) -> str:
    """Accepts a string."""
    if not isinstance(value, str):
        raise InputError("expected text", value=value)
    return str(value)


def table(value: object) -> Mapping[Any, Any]:
    """Accepts a table of keys and values."""
    if not isinstance(value, Mapping):
        raise InputError("expected a table of keys and values", value=value)
    return value


def path(value: object) -> Path:
    """Accepts a path, as text or as an object."""
    checked_path = value
    if isinstance(value, os.PathLike):
        try:
            checked_path = os.fspath(value)
        except Exception:
            checked_path = None
    if not isinstance(checked_path, str) or not _is_path(checked_path):
        raise InputError("expected the path of a file", value=value)
    return Path(checked_path)


def _is_path(name: str) -> bool:
    try:
        return len(name) <= _LONGEST_PATH and b"\0" not in os.fsencode(name)
    except UnicodeEncodeError:  # a lone surrogate
        return False


def instance(kind: type) -> Check:
    """Accepts an instance of this class."""

    def check(value: object) -> object:
        if not isinstance(value, kind):
            raise InputError(f"expected a {kind.__name__}", value=value)
        return value

    return check


def frame(value: object) -> object:
    """Accepts a frame of polars."""
    polars = sys.modules.get("polars")  # a frame has imported it
    if polars is None or not isinstance(value, polars.DataFrame):
        raise InputError("expected a polars DataFrame", value=value)
    return value


def has(*names: str) -> Check:
    """Accepts an object with these attributes."""

    def check(value: object) -> object:
        for name in names:
            if not hasattr(value, name):
                raise InputError(f"expected an object with {name}", value=value)
        return value

    return check


def optional(check: Check) -> Check:
    """Accepts None or whatever the check accepts."""
    return lambda value: None if value is None else check(value)


def each(check: Check, most: int) -> Check:
    """Accepts an iterable, except text and mappings, of at most `most` checked values."""

    def check_all(values: object) -> list[Any]:
        try:
            if isinstance(values, (str, bytes, Mapping)):
                raise TypeError
            one_by_one = iter(values)  # type: ignore[call-overload]
        except Exception:
            raise InputError("expected a list", value=values) from None
        checked_entries = []
        for value in one_by_one:  # may be infinite
            checked_entries.append(check(value))
            if len(checked_entries) > most:
                raise InputError(f"expected at most {most}")
        return checked_entries

    return check_all


def builtin_table(given: object, kept: tuple[type, ...] = ()) -> dict[str, Any]:
    """Copies a table of TOML-like values; converts numpy scalars and arrays to Python's types.

    Values of the types `kept` are not copied. An error names the key of the wrong value.
    """
    if not isinstance(given, Mapping):
        raise InputError("expected a table of keys and values", value=given)
    if set(map(type, given)) <= {str} and set(map(type, given.values())) <= _PLAIN:
        return dict(given)
    table, copy = {}, _Copy((*_SCALARS, *kept))
    for key, value in given.items():
        try:
            table[text(key)] = copy.of(value)
        except InputError as error:
            raise error.located(key=key if isinstance(key, str) else "") from None
    return table


class _Copy:
    """Copies nested tables and lists, up to a total count, so self-references can't hang it."""

    def __init__(self, scalars: tuple[type, ...]) -> None:
        self._scalars = scalars
        self._left = _MOST_TABLES

    def of(self, value: Any, depth: int = 0) -> Any:
        if value is None or isinstance(value, self._scalars):
            return value
        self._left -= 1
        if depth > _DEEPEST or self._left < 0:
            problem = f"expected at most {_MOST_TABLES} tables and lists, {_DEEPEST} in each other"
            raise InputError(problem)
        if type(value) is dict or isinstance(value, Mapping):  # the first test is faster
            copy = {text(key): self.of(inner, depth + 1) for key, inner in value.items()}
            named = copy.get("name")
            return copy | named if type(named) is dict else copy  # a class, with its parameters
        if type(value) in (list, tuple, range):
            if len(value) > _MOST_ITEMS:
                raise InputError(f"expected a list of at most {_MOST_ITEMS}")
            if set(map(type, value)) <= {int, float, str}:  # maybe a million, so it must be fast
                return list(value)
            return [self.of(inner, depth + 1) for inner in value]
        if type(value).__module__ == "numpy" and hasattr(value, "tolist"):
            return self.of(value.tolist(), depth + 1)
        if isinstance(value, type) and issubclass(value, PythonControl):
            return table_of(value)
        if isinstance(value, PythonControl):
            problem = f"expected the class {type(value).__name__} itself, not an instance"
            raise InputError(problem)
        raise InputError("expected text, a number, a list or a table", value=value)
