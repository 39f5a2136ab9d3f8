# SPDX-License-Identifier: BSD-3-Clause
"""Opens every file that users name, within size limits.

It reads only regular files, and only as many bytes as their size: a pipe or a device may never end,
and files in /proc report no size. Files are limited before parsing, because a parser's memory can
be thousands of times the file's size.
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

TOML_BYTES = 2 << 20  # enough for a network of 10 000 links
MOST_KEY_PARTS = 8  # of a TOML key; the parser's memory grows with the square of their number
MOST_DOTS = 200_000  # in a TOML file's keys and numbers; the parser takes 1 kB for each key part
NUMBERS_BYTES = 32 << 20  # a file with a number a line: four million numbers
_JSON_BYTES = 256 << 20
_MOST_DIGITS = 18  # any such number fits in 64 bits


def check(path: Path) -> int:
    """Returns a regular file's size, else raises InputError; for files that a library will open."""
    try:
        status = path.stat()
    except OSError as error:
        raise _unreadable(error) from None
    except ValueError:  # a NUL or a lone surrogate in its name
        raise InputError("no such file") from None
    return _regular(status)


def read(path: Path, most: int) -> bytes:
    """Reads a regular file of at most `most` bytes."""
    check(path)  # opening a device can have side effects
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
    """Opens without blocking, in case a pipe has replaced the file."""
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


def is_in_results(path: Path) -> bool:
    """Returns whether a file is in a results folder or one inside, which may be a stranger's."""
    folder = Path(os.path.abspath(path)).parent
    return any(
        os.path.lexists(place / "runs.parquet")
        or all(os.path.lexists(place / name) for name in ("SHA256SUMS", "manifest.json"))
        for place in (folder, folder.parent)
    )


def read_toml(path: Path) -> dict[str, Any]:
    """Reads a TOML file's tables."""
    content = read(path, TOML_BYTES)
    try:
        return toml(content.decode("utf-8-sig"))  # some editors write a byte order mark
    except UnicodeDecodeError as error:
        raise InputError(f"is not TOML: byte {error.start + 1} is not UTF-8") from None
    except RecursionError:
        raise InputError("is nested too deeply") from None
    except InputError:
        raise
    except ValueError as error:  # includes invalid dates
        raise InputError(f"is not TOML: {one_line(str(error))}") from None


# Strings and comments, also unterminated ones: dots and brackets in them have no meaning.
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
    """Parses TOML. Raises ValueError, InputError beyond our limits, or RecursionError."""
    if len(text) > TOML_BYTES:
        raise InputError(f"has {len(text)} characters, expected at most {TOML_BYTES}")
    structure = _NO_STRUCTURE.sub("_", text)
    if structure.count(".") > MOST_DOTS:
        raise InputError(f"expected at most {MOST_DOTS} dots in keys and numbers")
    match = _LONG_KEY.search(structure)
    if match:
        raise InputError(f"expected keys of at most {MOST_KEY_PARTS} parts", key=match[0])
    return tomllib.loads(text)


def read_json(path: Path) -> Any:
    """Reads a JSON file; raises ValueError if it is not JSON."""
    return json.loads(read(path, _JSON_BYTES).decode("utf-8"))


class Numbers(tuple[int, ...]):
    """Holds the numbers of a file; immutable, so that copies of a scenario share them."""

    __slots__ = ()

    def __deepcopy__(self, memo: object) -> Numbers:
        return self


_LINE_END = re.compile(rb"\r\n?")
_COMMENT = re.compile(rb"#[^\n]*")
_NUMBER = rb"[ \t]*+(?:[0-9]{1,%d}(?![0-9])[ \t]*+)?" % _MOST_DIGITS
_ANOTHER_LINE = re.compile(rb"^(?!%b$)(%b)([^\n]*)" % (_NUMBER, _NUMBER), re.MULTILINE)


def numbers(path: Path) -> Numbers:
    """Reads whole numbers, one a line; skips empty lines and comments after #."""
    content = read(path, NUMBERS_BYTES).removeprefix(codecs.BOM_UTF8)
    if b"\r" in content:
        content = _LINE_END.sub(b"\n", content)
    if b"#" in content:
        content = _COMMENT.sub(b"", content)
    if wrong := _ANOTHER_LINE.search(content):
        line = 1 + content.count(b"\n", 0, wrong.start())
        column = 1 + len(wrong[1])
        text = show(wrong[0].strip().decode("utf-8", "replace"))
        problem = f"expected a whole number in line {line}, column {column}, found {text}"
        raise InputError(problem)
    if not (words := content.split()):
        raise InputError("expected a whole number on each line, found none")
    return Numbers(map(int, words))
