# SPDX-License-Identifier: BSD-3-Clause
"""Defines the errors that this package raises on purpose, and formats their messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import date, time
from pathlib import PurePath

# Characters that steer a terminal, end a line or change the direction of text.
STEERING = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
# The most characters of a value or key, of a file's name, and of a whole message, so that any input
# gives one readable line.
_SHOWN, _SHOWN_OF_NAME, _SHOWN_IN_ALL = 60, 300, 1000


class WestwoodError(Exception):
    """Base class of the errors of this package; the message is always one line.

    Attributes
    ----------
    exit_code : int
        Exit code of the command line.

    Examples
    --------
    >>> from westwood import WestwoodError, simulate
    >>> try:
    ...     simulate("tabel1")
    ... except WestwoodError as error:
    ...     print(error)
    scenario = "tabel1": neither a file nor a scenario of the package, did you mean "table1"?
    """

    exit_code = 1

    def __str__(self) -> str:
        message = ", ".join(map(_words, self.args))
        return one_line(shortened(message, _SHOWN_IN_ALL)) or type(self).__name__


class RunError(WestwoodError):
    """Raised when a run fails though its input was valid.

    Examples
    --------
    >>> from westwood import RunError
    >>> print(RunError("table1, seed 1: out of memory"), RunError.exit_code)
    table1, seed 1: out of memory 1
    """


class Interrupted(WestwoodError):
    """Raised when the user stops a command; the message says what was kept."""

    exit_code = 130


class Resumable(Interrupted):
    """Raised when the same command continues with --resume."""


class UnavailableError(WestwoodError):
    """Raised when this machine or version lacks a feature; the message says the remedy.

    Examples
    --------
    >>> from westwood import UnavailableError
    >>> try:
    ...     raise UnavailableError("engine ns2 needs ns-2: apt-get install ns2")
    ... except UnavailableError as error:
    ...     print(error, error.exit_code)
    engine ns2 needs ns-2: apt-get install ns2 77
    """

    exit_code = 77


class ImpossibleResult(RuntimeWarning):
    """Warns of a result that no run can have; an engine's bug, reported as measured."""


class InputError(WestwoodError, ValueError):
    """Raised for invalid input: an argument, a setting or a file.

    The message is one line, ``FILE:LINE: KEY = VALUE: PROBLEM``; a part that is unknown is left
    out.

    Parameters
    ----------
    problem : str
        What is wrong, and what was expected.
    key : str, default ""
        The argument or setting, such as `tcp.cc`.
    value : object, optional
        What was given for it.
    source : str, default ""
        The file that has it.
    others : sequence of InputError, optional
        Further errors that were found with this one.

    Attributes
    ----------
    problem, key, source : str
        The parts of the message.
    value : object
        What was given; `...` if that is unknown.
    others : tuple of InputError
        Further errors that were found with this one.
    line : int or None
        The line of the file.

    Examples
    --------
    >>> from westwood import InputError, Scenario
    >>> try:
    ...     Scenario.preset("path").with_settings({"path.rate": "fast"})
    ... except InputError as error:
    ...     print(error)
    ...     print(error.key, error.value)
    path: path.rate = "fast": expected a rate such as "2Mbps"
    path.rate fast
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
        """Returns this error with another place.

        Parameters
        ----------
        key : str, optional
            Instead of this error's key.
        source : str, optional
            Instead of this error's source, also in `others`.
        others : sequence of InputError, optional
            Instead of this error's others.

        Returns
        -------
        InputError
            A new error.

        Examples
        --------
        >>> from westwood import InputError
        >>> print(InputError("expected a time", value="fast").located(key="path.delay"))
        path.delay = "fast": expected a time
        """
        return InputError(
            self.problem,
            key=self.key if key is None else key,
            value=self.value,
            source=self.source if source is None else source,
            others=others or [other_error.located(source=source) for other_error in self.others],
        )

    def placed(self, line_of: Callable[[str], int | None]) -> InputError:
        """Returns this error and its others with the lines of their keys.

        Parameters
        ----------
        line_of : callable
            Returns the line of a key (int), or None.

        Returns
        -------
        InputError
            A new error.

        Examples
        --------
        >>> from westwood import InputError
        >>> error = InputError("expected a time", key="path.delay", source="mine.toml")
        >>> print(error.placed({"path.delay": 7}.get))
        mine.toml:7: path.delay: expected a time
        """
        error = self.located()
        for placed_error in (error, *error.others):
            placed_error.line = line_of(placed_error.key)
        return error


def _words(part: object) -> str:
    """Returns text as it is and anything else as `show` writes it."""
    return part if isinstance(part, str) else show(part)


def shortened(text: str, most: int) -> str:
    """Leaves out the middle of a text longer than `most` characters."""
    if len(text) <= most:
        return text
    end = (most - 3) // 4  # the end of a path identifies the file best
    return f"{text[: most - 3 - end]}...{text[-end:]}"


def one_line(text: str) -> str:
    """Escapes characters that could break a line or a terminal."""
    import json

    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def visible(text: str) -> str:
    """Escapes characters that steer a terminal or hide text; line ends stay."""
    return STEERING.sub(lambda match: match[0] if match[0] == "\n" else one_line(match[0]), text)


def show(value: object) -> str:
    """Writes a value as in TOML, on one line, shortened."""
    text = ""
    try:
        for piece in _toml_like(value):
            text += piece
            if len(text) > _SHOWN:
                return text[: _SHOWN - 3] + "..."
    except ValueError:  # Python refuses to print integers of more than 4300 digits
        return "(a value too large to print)"
    except Exception:  # a user's __str__ may raise anything
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


_PLUS = re.compile(r"[-_ ]?plus\b")  # "westwood plus" means westwood+
_MOST_NAMES, _SOME_NAMES = 32, 8  # names listed in a message


def suggestion(word: object, known: Iterable[str], otherwise: str = "") -> str:
    """Returns a hint for an unknown word: the nearest known word, or `otherwise`, or the words."""
    import difflib  # slow to import, and rarely needed

    names = list(known)
    written = _PLUS.sub("+", str(word)[:80].lower())
    near = difflib.get_close_matches(written, names, n=_SOME_NAMES, cutoff=0.6)
    if near:  # bbr4 is nearer to bbr3 than to bbr, whose characters it has all
        same = (name for name in near if len(name) == len(written))
        wrong_letter = (name for name in same if sum(map(str.__ne__, name, written)) == 1)
        return f'did you mean "{next(wrong_letter, near[0])}"?'
    if otherwise:
        return otherwise
    if len(names) <= _MOST_NAMES:
        return "expected one of: " + ", ".join(names)
    some = difflib.get_close_matches(written, names, n=_SOME_NAMES, cutoff=0)
    return f"expected one of {len(names)} names such as: " + ", ".join(sorted(some))
