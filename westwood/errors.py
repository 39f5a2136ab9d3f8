# SPDX-License-Identifier: BSD-3-Clause
"""The errors this package raises on purpose, and the words they are made of."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, time
from pathlib import PurePath

# Characters that a message repeats of a value or a key, of a file's name, and in all: whatever was
# written, it is one line that can be read.
_SHOWN, _SHOWN_OF_NAME, _SHOWN_IN_ALL = 60, 300, 1000


class WestwoodError(Exception):
    """Is the base of what the command line reports in one line instead of a traceback."""

    exit_code = 1

    def __str__(self) -> str:
        said = ", ".join(map(_words, self.args))
        return one_line(shortened(said, _SHOWN_IN_ALL)) or type(self).__name__


class RunError(WestwoodError):
    """Says that a run could not be finished, through no fault of the input."""


class Interrupted(WestwoodError):
    """The user stopped it; the message says what was kept."""

    exit_code = 130


class UnavailableError(WestwoodError):
    """This machine or this version lacks what was asked for; the message has the remedy."""

    exit_code = 77


class ImpossibleResult(RuntimeWarning):
    """A number that no run can have: an engine's fault, and printed as it was measured."""


class InputError(WestwoodError, ValueError):
    """Something the user wrote is wrong: which file, which key, which value, what was expected.

    `str()` is a single line: ``FILE:LINE: KEY = VALUE: PROBLEM``, each part only where it is known.
    `others` are further errors that were found with it.
    """

    exit_code = 2
    line: int | None = None  # of the source

    def __init__(
        self,
        problem: str,
        *,
        key: str = "",
        value: object = ...,
        source: str = "",
        others: Sequence[InputError] = (),
    ) -> None:
        self.problem, self.key, self.source = _words(problem), _words(key), _words(source)
        self.value, self.others = value, tuple(others)
        super().__init__(problem)

    def __str__(self) -> str:
        key, source = shortened(self.key, _SHOWN), shortened(self.source, _SHOWN_OF_NAME)
        source += f":{self.line}" if source and self.line else ""
        setting = f"{one_line(key)} = " if key and self.value is not ... else ""
        setting += show(self.value) if self.value is not ... else one_line(key)
        problem = one_line(shortened(self.problem, _SHOWN_IN_ALL)) or "is wrong"
        return ": ".join(part for part in (one_line(source), setting, problem) if part)

    def located(
        self,
        *,
        key: str | None = None,
        source: str | None = None,
        others: Sequence[InputError] | None = None,
    ) -> InputError:
        """Returns this error with the place filled in; a source also in those that came with it."""
        return InputError(
            self.problem,
            key=self.key if key is None else key,
            value=self.value,
            source=self.source if source is None else source,
            others=others or [one.located(source=source) for one in self.others],
        )

    def placed(self, line_of: Callable[[str], int | None]) -> InputError:
        """Returns this error, and those that came with it, with the lines of their keys."""
        error = self.located()
        for one in (error, *error.others):
            one.line = line_of(one.key)
        return error


def _words(part: object) -> str:
    """A part of a message; whatever else stands in its place is shown as a value."""
    return part if isinstance(part, str) else show(part)


def shortened(text: str, most: int) -> str:
    """Leaves out the middle of a text of more than so many characters."""
    if len(text) <= most:
        return text
    end = (most - 3) // 4  # of a file's name, the part that tells it from others
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def one_line(text: str) -> str:
    """Takes out of `text` what could break a line or a terminal."""
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def show(value: object) -> str:
    """Writes a value as the user would in TOML, on one line, shortened."""
    text = ""
    try:
        for piece in _toml_like(value):
            text += piece
            if len(text) > _SHOWN:  # the rest is not looked at
                return text[: _SHOWN - 3] + "..."
    except ValueError:  # Python refuses to print integers of 4300 digits
        return "(a value too large to print)"
    except Exception:  # a user's object may do anything when it is to print itself
        return f"({_kind(value)})"
    return text


def _toml_like(value: object) -> Iterator[str]:
    if isinstance(value, bool):
        yield "true" if value else "false"
    elif isinstance(value, str):
        yield f'"{one_line(value[:_SHOWN])}"'
    elif isinstance(value, dict):
        yield "{ " if value else "{"
        for place, (key, inner) in enumerate(value.items()):
            yield f"{', ' if place else ''}{one_line(str(key)[:_SHOWN])} = "
            yield from _toml_like(inner)
        yield " }" if value else "}"
    elif isinstance(value, (list, tuple)):
        yield "["
        for place, inner in enumerate(value):
            yield ", " if place else ""
            yield from _toml_like(inner)
        yield "]"
    elif value is None or isinstance(value, (int, float, date, time, PurePath)):
        yield one_line(str(value))
    else:
        text = str(value[:_SHOWN] if isinstance(value, bytes) else value)
        yield f"({_kind(value)}) {one_line(text)}"


def _kind(value: object) -> str:
    return type(value).__name__


_PLUS = re.compile(r"[-_ ]?plus\b")  # as a protocol's name is spoken
_MOST_NAMES, _SOME_NAMES = 32, 8  # that a line lists


def suggestion(word: object, known: Iterable[str]) -> str:
    """Returns what to say about a word that is not among the known ones."""
    names = list(known)
    written = _PLUS.sub("+", str(word)[:80].lower())
    near = difflib.get_close_matches(written, names, n=1, cutoff=0.6)
    if near:
        return f'did you mean "{near[0]}"?'
    if len(names) <= _MOST_NAMES:
        return "expected one of: " + ", ".join(names)
    some = difflib.get_close_matches(written, names, n=_SOME_NAMES, cutoff=0)
    return f"expected one of {len(names)} names such as: " + ", ".join(sorted(some))
