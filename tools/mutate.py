# SPDX-License-Identifier: BSD-3-Clause
"""The one-token mutants of C headers: in each an operator, constant or condition is another.

Comments, strings, includes and the conditions of #if are not code, and have none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(
    r"""
    (?P<skip>  /\*.*?\*/ | //[^\n]* | \\\n | \s+ )
  | (?P<line>  \#[ \t]*(?!define\b)\w+[^\n]* )
  | (?P<define> \#[ \t]*define[ \t]+\w+(?:\([^)]*\))? )
  | (?P<text>  "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
  | (?P<number> 0[xX][0-9a-fA-F]+[uUlL]* | [0-9]+[uUlL]* )
  | (?P<name>  [A-Za-z_]\w* )
  | (?P<sign>  <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
             | [-+*/%&|^]= | \#\# | . )
    """,
    re.X | re.S,
)
OPERATORS: dict[str, tuple[str, ...]] = {
    **{"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<")},
    **{"==": ("!=",), "!=": ("==",), "&&": ("||",), "||": ("&&",), "!": ("",), "~": ("",)},
    **{"+": ("-",), "-": ("+",), "*": ("/",), "/": ("*",), "%": ("*",), "<<": (">>",)},
    **{">>": ("<<",), "&": ("|",), "|": ("&",), "^": ("|",), "++": ("--",), "--": ("++",)},
    **{"+=": ("-=", "="), "-=": ("+=", "="), "*=": ("/=",), "|=": ("&=",), "&=": ("|=",)},
}
NAMES: dict[str, tuple[str, ...]] = {
    **{"true": ("false",), "false": ("true",), "UINT32_MAX": ("0",), "UINT16_MAX": ("0",)},
    **{"ww_min_u32": ("ww_max_u32",), "ww_max_u32": ("ww_min_u32",)},
}
FUNCTION = re.compile(
    r"^(?:static inline|WW_LOOP)\s+[^;{}#]*?\b(?P<name>\w+)\([^;{}#]*\)\s*\{", re.M
)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    start: int


@dataclass(frozen=True)
class Mutant:
    """One change: text[start:end] of the header `file` becomes `new`."""

    file: str
    start: int
    end: int
    new: str
    number: int  # the line's, from 1
    function: str  # that it is in; "" for a declaration
    was: str  # the line, before and after
    becomes: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Names the mutant by what it says, whatever stands above it in the file."""
        return self.file, self.function, self.was, self.becomes

    def __str__(self) -> str:
        place = f"{self.file}:{self.number}" + (f" ({self.function})" if self.function else "")
        return f"{place}\n    - {self.was}\n    + {self.becomes}"


def tokens(text: str) -> Iterator[Token]:
    for match in TOKEN.finditer(text):
        if match.lastgroup not in ("skip", "line", "define", "text"):
            yield Token(str(match.lastgroup), match.group(), match.start())


def closing(following: list[Token], opens: str, closes: str) -> int:
    """Returns where the bracket that `following` begins with is closed."""
    depth = 0
    for token in following:
        depth += (token.text == opens) - (token.text == closes)
        if depth == 0:
            return token.start
    raise ValueError(f"a {opens} that nothing closes")


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the name of every function, and where its body's braces are."""
    code = list(tokens(text))
    for match in FUNCTION.finditer(text):
        brace = match.end() - 1
        body = [token for token in code if token.start >= brace]
        yield match["name"], brace, closing(body, "{", "}")


def declarations(text: str) -> str:
    """Returns a header for C++ with its functions declared instead of defined."""
    parts, done = [], 0
    for _, first, last in functions(text):
        parts.append(text[done:first].rstrip() + ";")
        done = last + 1
    whole = "".join(parts) + text[done:]
    return re.sub(r"^(?:static inline|WW_LOOP)\b", 'extern "C"', whole, flags=re.M)


def numbers_near(text: str) -> list[str]:
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9]+", text)
    assert digits
    suffix, value = text[digits.end() :], int(digits.group(), 0)
    form = "{:#x}" if digits.group().lower().startswith("0x") else "{}"
    return [form.format(near) + suffix for near in (value - 1, value + 1) if near >= 0]


def changes(code: list[Token], place: int) -> Iterator[tuple[int, int, list[str]]]:
    """Yields from where to where the text may become what, at one token."""
    token = code[place]
    end = token.start + len(token.text)
    if token.kind == "number":
        yield token.start, end, numbers_near(token.text)
    elif token.text == "if":
        opens = code[place + 1].start
        yield opens, opens + 1, ["(!("]
    elif token.text in NAMES or token.text in OPERATORS:
        yield token.start, end, [*(NAMES | OPERATORS)[token.text]]


def mutants(file: str, text: str) -> list[list[Mutant]]:
    """Returns the mutants of a header, those of one token together."""
    code = list(tokens(text))
    bodies = list(functions(text))
    found = []
    for place in range(len(code)):
        for start, end, texts in changes(code, place):
            name = next((name for name, first, last in bodies if first < start < last), "")
            found.append([mutant(file, text, start, end, new, name, code) for new in texts])
    return found


def mutant(
    file: str, text: str, start: int, end: int, new: str, function: str, code: list[Token]
) -> Mutant:
    if new == "(!(":  # a condition is negated as a whole
        last = closing([token for token in code if token.start >= start], "(", ")")
        end, new = last, f"(!{text[start:last]})"
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    was, becomes = text[first:last], text[first:start] + new + text[end:last]
    number = text.count("\n", 0, start) + 1
    return Mutant(file, start, end, new, number, function, tidy(was), tidy(becomes))


def tidy(lines: str) -> str:
    return " ".join(lines.replace("\\\n", "\n").strip().rstrip("\\").split())


def of_folder(folder: Path) -> list[list[Mutant]]:
    """Returns the mutants of all headers of a folder, those of one token together."""
    return [
        alternatives
        for path in sorted(folder.glob("*.h"))
        for alternatives in mutants(path.name, path.read_text())
    ]
