# SPDX-License-Identifier: BSD-3-Clause
"""Reads what users name, within bounds: every file that comes from outside is opened here.

Only regular files are read, and no more of one than its size says: a pipe or a device may never
end, and a file of /proc does not say how much is in it. A file is bounded before it is parsed, for
a parser may take thousands of times its size.
"""

from __future__ import annotations

import codecs
import errno
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any

from westwood.errors import InputError, one_line, show

TOML_BYTES = 2 << 20  # more than a network of 10 000 links takes
MOST_KEY_PARTS = 8  # of a TOML key: the parser's memory grows with their square
MOST_DOTS = 200_000  # in a TOML file's keys and numbers: a part of a key takes it a kilobyte
NUMBERS_BYTES = 32 << 20  # of a file with a number a line: four million numbers
JSON_BYTES = 256 << 20
_MOST_DIGITS = 18  # of a number: all of them fit 64 bits


def check(path: Path) -> int:
    """Raises InputError unless it is a regular file; its size. For what another library opens."""
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(error) from None
    except ValueError:  # a NUL in its name, or half a character
        raise InputError("no such file") from None
    return _regular(status)


def read(path: Path, most: int) -> bytes:
    """Reads a regular file of at most so many bytes."""
    check(path)  # before it is opened: opening can change what a device does
    try:
        with open(path, "rb", buffering=0, opener=_at_once) as file:
            size = _regular(os.fstat(file.fileno()))
            if size > most:
                raise InputError(f"has {size} bytes, expected at most {most}")
            pieces, left = [], size + 1
            while left > 0 and (piece := file.read(left)):
                pieces.append(piece)
                left -= len(piece)
    except OSError as error:
        raise _unreadable(error) from None
    if left <= 0:
        raise InputError("has more in it than its size says, expected an ordinary file")
    return b"".join(pieces)


def _at_once(name: str, flags: int) -> int:
    """Opens without waiting for whoever is to write into a pipe that took the file's place."""
    return os.open(name, flags | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC)


def _regular(status: os.stat_result) -> int:
    mode = status.st_mode
    if stat.S_ISDIR(mode):
        raise InputError("is a folder, expected a file")
    if stat.S_ISFIFO(mode):
        raise InputError("is a pipe, expected a file: write what comes through it into one")
    if not stat.S_ISREG(mode):
        raise InputError("is a device or a socket, expected a file")
    return status.st_size


def _unreadable(error: OSError) -> InputError:
    if error.errno == errno.ENOENT:
        return InputError("no such file")
    return InputError(f"can't be read: {error.strerror or error}")


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file's tables."""
    content = read(path, TOML_BYTES)
    try:
        return toml(content.decode("utf-8-sig"))  # editors may put a mark before it
    except UnicodeDecodeError as error:
        raise InputError(f"is not TOML: byte {error.start + 1} is not UTF-8") from None
    except RecursionError:
        raise InputError("is not TOML that we can read: nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:  # also a date that doesn't exist
        raise InputError(f"is not TOML: {one_line(str(error))}") from None


# What dots and brackets mean nothing in: strings and comments, also those that do not end.
_NO_STRUCTURE = re.compile(
    r'"""(?:\\.?|[^\\])*?(?:"{3,5}|\Z)'
    r"|'''.*?(?:'{3,5}|\Z)"
    r'|"(?:\\.|[^"\\\n])*"?'
    r"|'[^'\n]*'?"
    r"|\#[^\n]*",
    re.DOTALL,
)
_PART = r"[^\s.=\[\]{},]"
_LONG_KEY = re.compile(rf"(?<!{_PART})(?:{_PART}++[ \t]*+\.[ \t]*+){{{MOST_KEY_PARTS}}}")


def toml(text: str) -> dict[str, Any]:
    """Parses TOML; ValueError (InputError, where we are stricter) or RecursionError if it can't."""
    if len(text) > TOML_BYTES:
        raise InputError(f"has {len(text)} characters, expected at most {TOML_BYTES}")
    structure = _NO_STRUCTURE.sub("_", text)
    if structure.count(".") > MOST_DOTS:
        raise InputError(f"expected at most {MOST_DOTS} dots in keys and numbers")
    found = _LONG_KEY.search(structure)
    if found:
        raise InputError(f"expected keys of at most {MOST_KEY_PARTS} parts", key=found[0])
    return tomllib.loads(text)


def read_json(path: Path) -> Any:
    """Reads a JSON file; ValueError if it is none."""
    return json.loads(read(path, JSON_BYTES).decode("utf-8"))


class Numbers(tuple[int, ...]):
    """Are the numbers of a file: never changed, so that copies of a scenario share them."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Numbers:
        return self


_LINE_END = re.compile(rb"\r\n?")
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER = rb"[ \t]*+(?:[0-9]{1,%d}(?![0-9])[ \t]*+)?" % _MOST_DIGITS
_ANOTHER_LINE = re.compile(rb"^(?!%b$)(%b)([^\n]*)" % (_NUMBER, _NUMBER), re.MULTILINE)


def numbers(path: Path) -> Numbers:
    """Reads whole numbers, one a line; empty lines and what follows a # don't count."""
    content = read(path, NUMBERS_BYTES).removeprefix(codecs.BOM_UTF8)
    if b"\r" in content:
        content = _LINE_END.sub(b"\n", content)
    if b"#" in content:
        content = _COMMENT.sub(b"", content)
    if wrong := _ANOTHER_LINE.search(content):
        line = 1 + content.count(b"\n", 0, wrong.start())
        column = 1 + len(wrong[1])
        found = show(wrong[0].strip().decode("utf-8", "replace"))
        problem = f"expected a whole number in line {line}, column {column}, found {found}"
        raise InputError(problem)
    if not (words := content.split()):
        raise InputError("expected a whole number a line, found none")
    return Numbers(map(int, words))
