# SPDX-License-Identifier: BSD-3-Clause
"""The errors this package raises on purpose, and the words they are made of."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable

_SHOWN = 60  # characters of a value that an error message repeats


class WestwoodError(Exception):
    """Is the base of what the command line reports in one line instead of a traceback."""

    exit_code = 1


class RunError(WestwoodError):
    """Says that a run could not be finished, through no fault of the input."""


class Interrupted(WestwoodError):
    """The user stopped it; the message says what was kept."""

    exit_code = 130


class UnavailableError(WestwoodError):
    """This machine or this version lacks what was asked for; the message has the remedy."""

    exit_code = 77


class InputError(WestwoodError, ValueError):
    """Something the user wrote is wrong: which file, which key, which value, what was expected.

    `str()` is a single line: ``FILE: KEY = VALUE: PROBLEM``, each part only where it is known.
    """

    exit_code = 2

    def __init__(
        self, problem: str, *, key: str = "", value: object = ..., source: str = ""
    ) -> None:
        self.problem, self.key, self.value, self.source = problem, key, value, source
        super().__init__(problem)

    def __str__(self) -> str:
        setting = f"{one_line(self.key)} = " if self.key and self.value is not ... else ""
        setting += show(self.value) if self.value is not ... else one_line(self.key)
        return ": ".join(part for part in (one_line(self.source), setting, self.problem) if part)

    def located(self, *, key: str | None = None, source: str | None = None) -> InputError:
        """Returns this error with the place filled in."""
        return InputError(
            self.problem,
            key=self.key if key is None else key,
            value=self.value,
            source=self.source if source is None else source,
        )


def one_line(text: str) -> str:
    """Takes out of `text` what could break a line or a terminal."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def show(value: object) -> str:
    """Writes a value as the user would in TOML, on one line, shortened."""
    try:
        text = _toml_like(value)
    except (ValueError, RecursionError):  # Python refuses to print integers of 4300 digits
        text = "(a value too large to print)"
    return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."


def _toml_like(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{one_line(value)}"'
    if isinstance(value, dict):
        pairs = (f"{one_line(str(k))} = {_toml_like(v)}" for k, v in value.items())
        return "{ " + ", ".join(pairs) + " }" if value else "{}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_toml_like(v) for v in value) + "]"
    return one_line(str(value))


_MOST_NAMES, _SOME_NAMES = 32, 8  # that a line lists


def suggestion(word: object, known: Iterable[str]) -> str:
    """Returns what to say about a word that is not among the known ones."""
    names = list(known)
    written = str(word)[:80].lower()
    near = difflib.get_close_matches(written, names, n=1, cutoff=0.6)
    if near:
        return f'did you mean "{near[0]}"?'
    if len(names) <= _MOST_NAMES:
        return "expected one of: " + ", ".join(names)
    some = difflib.get_close_matches(written, names, n=_SOME_NAMES, cutoff=0)
    return f"expected one of {len(names)} names such as: " + ", ".join(sorted(some))
