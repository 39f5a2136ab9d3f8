# SPDX-License-Identifier: BSD-3-Clause
"""Finds lines of a control: where an operation begins, and which loop a line is in."""

from __future__ import annotations

import bisect
import itertools
import re
from collections.abc import Iterator

_NO_CODE = re.compile(r"/\*.*?\*/|//[^\n]*" r'|"(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*'", re.S)
_LOOP = re.compile(r"\b(for|while|do)\b\s*")
_START = re.compile(
    r"\b(?:__)?(?:constructor|destructor|ifunc)(?:__)?\b"
    r'|"\.(?:preinit|init|fini|ctors|dtors)|\b_(?:init|fini)\s*\('
)
_SPLICE = re.compile(r"(?:\\|\?\?/)[ \t]*\n")
_JOINED = r'(?:"\s*")?'.join  # texts that follow each other are one
_INCLUDE = re.compile(
    r"^[ \t\f\v]*(?:#|%:|\?\?=)[ \t\f\v]*(?:include(?:_next)?|import|embed)\b([^\n]*)"
    rf'|(?:{_JOINED(".include")}|{_JOINED(".incbin")})(?:\\[tv]|[\s"])*\\"([^"\\\n]*)'
    r'|\.inc(?:lude|bin)\s+"([^"\n]+)',  # of which a macro makes a text
    re.M | re.I,  # the assembler's have any case
)
_COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*" r'|("(?:\\.|[^"\\\n])*"' r"|'(?:\\.|[^'\\\n])*')", re.S)
_NEARBY = re.compile(r'"[^/"][^"]*"|<[^/>][^>]*>')  # in the folders of the headers
_PAIR = {"(": ")", "{": "}"}


def of_call(text: str, call: str) -> int:
    """Returns the line where the function of an operation begins; 0 if unknown."""
    function = re.search(rf"\.{call}\s*=\s*(\w+)", text)
    if function is None:
        return 0
    match = re.search(rf"^[^\n;]*\b{function[1]}\s*\([^;{{]*\{{", text, re.M)
    return _line_at(text, match.start()) if match else 0


def of_row(text: str, name: str) -> int:
    """Returns the last line that declares a parameter or a quantity; 0 if unknown."""
    declarations = text.partition('#include "control.h"')[0]
    rows = list(re.finditer(rf"\w\(\s*{re.escape(name)}\s*,", declarations))
    return _line_at(text, rows[-1].start()) if rows else 0


def of_table(text: str) -> int:
    """Returns the line of WW_CONTROL; without one, the last line."""
    return _line_at(text.rstrip(), text.rfind("WW_CONTROL("))


def of_start(text: str) -> int:
    """Returns the line that makes a function run when the object is loaded; 0 if unknown."""
    match = _START.search(text)
    return _line_at(text, match.start()) if match else 0


def of_name(text: str, name: str) -> int:
    """Returns the line that declares a variable, or first has a name; 0 if none does."""
    if not name:
        return 0
    code, word = _without_comments(text), rf"(?<!\w){re.escape(name)}(?!\w)"
    match = re.search(rf"\b(?:static|_Thread_local)\b[^;(){{}}]*?{word}\s*[\[=;,]", code)
    match = match or re.search(rf"^(?!\s*extern\b)[\w \t*]+?{word}\s*[\[=;,]", code, re.M)
    match = match or re.search(word, code) or re.search(word, text)
    return _line_at(text, match.end() - 1) if match else 0


def _without_comments(text: str) -> str:
    """Returns the text with spaces for comments and strings."""
    return _NO_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)


def of_foreign_include(text: str) -> tuple[int, str]:
    """Returns line and operand of the first inclusion that may leave the folders of the headers.

    Another file would count for nothing when the object is kept, and could be a device. Without
    one, the line is 0.
    """
    pieces = _SPLICE.split(text)
    starts = list(itertools.accumulate(map(len, pieces[:-1])))
    joined = _COMMENT.sub(_blank, "".join(pieces))
    for match in _INCLUDE.finditer(joined):
        operand = next(filter(None, match.groups()), "").strip()
        if match[1] is None or ".." in operand or not _NEARBY.match(operand):
            above = joined[: match.start()]
            return 1 + len(re.findall(r"[\n\v]", above)) + bisect.bisect(
                starts, len(above)
            ), operand
    return 0, ""


def _blank(match: re.Match[str]) -> str:
    """Returns a comment as the spaces that it is, its ends of lines as \\v; a text as it is."""
    return match[1] or re.sub(r"[^\v]", " ", match[0].replace("\n", "\v"))


def _line_at(text: str, place: int) -> int:
    """Returns the line of a place in the text; -1 is its end."""
    return text[:place].count("\n") + 1 if place >= 0 else text.count("\n") + 1


def of_loop(text: str, line: int) -> int:
    """Returns the line where the innermost loop around a line begins.

    An optimised loop may have the line of a statement before it. So without a loop around the line,
    the next one of the function counts; without any, the line itself.
    """
    code = _without_comments(text)
    loops = list(_loops(code))
    around = [first for first, last in loops if first <= line <= last]
    if around:
        return max(around)
    rest = code.split("\n")[line - 1 :]
    end = line + next((i for i, code_line in enumerate(rest) if code_line.startswith("}")), 0)
    return min((first for first, _ in loops if line < first < end), default=line)


def _loops(code: str) -> Iterator[tuple[int, int]]:
    """Yields the first and the last line of each loop."""
    for match in _LOOP.finditer(code):
        body = match.end() if match[1] == "do" else _end_of_pair(code, match.end())
        body += len(code[body:]) - len(code[body:].lstrip())
        end = _end_of_pair(code, body) if code[body : body + 1] == "{" else code.find(";", body)
        first, last = (code.count("\n", 0, place) + 1 for place in (match.start(), max(end, body)))
        yield first, last


def _end_of_pair(code: str, start: int) -> int:
    """Returns the place after the bracket that closes the one at `start`."""
    opening, depth = code[start : start + 1], 0
    for place in range(start, len(code)):
        if code[place] == opening:
            depth += 1
        elif code[place] == _PAIR.get(opening):
            depth -= 1
            if depth == 0:
                return place + 1
    return len(code)
