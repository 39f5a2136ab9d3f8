# SPDX-License-Identifier: BSD-3-Clause
"""Makes the one-token mutants of C and C++ files: another operator, constant or condition.

Comments, strings, includes, assertions and the conditions of #if are not mutated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

TOKEN = re.compile(
    r"""
    (?P<skip>  /\*.*?\*/ | //[^\n]* | \\\n | \s+ )
  | (?P<line>  ^\#[ \t]*(?!define\b)\w+[^\n]* )
  | (?P<define> \#[ \t]*define[ \t]+\w+(?:\([^)]*\))? )
  | (?P<assertion> \b(?:static_)?assert\( .*? \); )
  | (?P<text>  "(?:\\.|[^"\\])*" | '(?:\\.|[^'\\])*' )
  | (?P<real>  0[xX][0-9a-fA-F]+[pP][-+]?[0-9]+ | [0-9]+(?:\.[0-9]+)?[eE][-+]?[0-9]+
             | [0-9]+\.[0-9]+ )
  | (?P<number> 0[xX][0-9a-fA-F]+[uUlL]* | [0-9][0-9']*[uUlL]* )
  | (?P<name>  [A-Za-z_]\w* )
  | (?P<sign>  <<= | >>= | \.\.\. | -> | \+\+ | -- | << | >> | <= | >= | == | != | && | \|\|
             | [-+*/%&|^]= | \#\# | . )
    """,
    re.X | re.S | re.M,
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
    **{"min": ("max",), "max": ("min",)},  # std::
}
# Without spaces around them these are brackets, signs, pointers and references in our layout.
SPACED = frozenset(("<", ">", "*", "&", "&&", "-", "+"))
NO_CODE = frozenset(("skip", "line", "define", "assertion", "text"))
END_OF_MACRO = re.compile(r"(?<!\\)\n|\Z")
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
    number: int  # of the line, from 1
    function: str  # that contains it; "" for a declaration
    was: str  # the line before the change; `becomes` is the line after it
    becomes: str

    @property
    def key(self) -> tuple[str, str, str, str]:
        """Identifies the mutant by its text, independent of the lines above it."""
        return self.file, self.function, self.was, self.becomes

    def applied(self, text: str) -> str:
        """Returns the text of the file with this change."""
        return text[: self.start] + self.new + text[self.end :]

    def __str__(self) -> str:
        place = f"{self.file}:{self.number}" + (f" ({self.function})" if self.function else "")
        return f"{place}\n    - {self.was}\n    + {self.becomes}"


def tokens(text: str, macros: bool = True) -> Iterator[Token]:
    """Yields the tokens of the code; `macros`: includes those in macro definitions."""
    end_of_macro = -1
    for match in TOKEN.finditer(text):
        if match.lastgroup == "define" and not macros:
            end_of_macro = END_OF_MACRO.search(text, match.end()).start()  # type: ignore[union-attr]
        if match.lastgroup not in NO_CODE and match.start() > end_of_macro:
            yield Token(str(match.lastgroup), match.group(), match.start())


def closing(following: list[Token], opens: str, closes: str) -> int:
    """Returns the position after the bracket that closes the first one in `following`."""
    depth = 0
    for token in following:
        depth += (token.text == opens) - (token.text == closes)
        if depth == 0:
            return token.start
    raise ValueError(f"unclosed {opens}")


def functions(text: str) -> Iterator[tuple[str, int, int]]:
    """Yields the name of every function, and the positions of its body's braces."""
    code = list(tokens(text))
    for match in FUNCTION.finditer(text):
        brace = match.end() - 1
        body = [token for token in code if token.start >= brace]
        yield match["name"], brace, closing(body, "{", "}")


def declarations(text: str) -> str:
    """Returns a C++ header that declares the functions instead of defining them."""
    parts, done = [], 0
    for _, first, last in functions(text):
        parts.append(text[done:first].rstrip() + ";")
        done = last + 1
    whole = "".join(parts) + text[done:]
    return re.sub(r"^(?:static inline|WW_LOOP)\b", 'extern "C"', whole, flags=re.M)


def numbers_near(text: str) -> list[str]:
    digits = re.match(r"0[xX][0-9a-fA-F]+|[0-9']+", text)
    assert digits
    suffix, value = text[digits.end() :], int(digits.group().replace("'", ""), 0)
    form = "{:#x}" if digits.group().lower().startswith("0x") else "{}"
    return [form.format(near) + suffix for near in (value - 1, value + 1) if near >= 0]


def changes(code: list[Token], place: int) -> Iterator[tuple[int, int, list[str]]]:
    """Yields start, end and replacements of the texts that one token's mutants change."""
    token = code[place]
    end = token.start + len(token.text)
    if token.kind == "number":
        yield token.start, end, numbers_near(token.text)
    elif token.kind == "real":
        yield token.start, end, [f"(0.5 * {token.text})", f"({token.text} + 1)"]
    elif token.text == "if" and code[place + 1].text == "(":
        opens = code[place + 1].start
        yield opens, opens + 1, ["(!("]
    elif token.text in NAMES or token.text in OPERATORS:
        yield token.start, end, [*(NAMES | OPERATORS)[token.text]]


def mutants(
    file: str, text: str, bodies: list[tuple[str, int, int]] | None = None, spaced: bool = False
) -> list[list[Mutant]]:
    """Returns the mutants of a file, grouped by token.

    bodies: the functions' names and the positions of their braces. spaced: mutates operators of
    SPACED only between spaces.
    """
    code = list(tokens(text))
    if bodies is None:
        bodies = list(functions(text))
    mutants = []
    for place, token in enumerate(code):
        if spaced and token.text in SPACED and not is_spaced(text, token):
            continue
        for start, end, texts in changes(code, place):
            name = next((name for name, first, last in bodies if first < start < last), "")
            mutants.append(
                [mutant(file, text, *negated(text, start, end, new, code), name) for new in texts]
            )
    return mutants


def is_spaced(text: str, token: Token) -> bool:
    end = token.start + len(token.text)
    return text[token.start - 1].isspace() and text[end].isspace()


def negated(text: str, start: int, end: int, new: str, code: list[Token]) -> tuple[int, int, str]:
    """Extends "(!(" to a whole condition, without the variable that it declares."""
    if new != "(!(":
        return start, end, new
    last = closing([token for token in code if token.start >= start], "(", ")")
    start = text.rfind(";", start, last) + 1 or start
    if text[start - 1] == ";":
        return start, last, f" !({text[start:last]})"
    return start, last, f"(!{text[start:last]})"


def mutant(file: str, text: str, start: int, end: int, new: str, function: str) -> Mutant:
    """Returns the mutant of a change, with the lines before and after it."""
    first = text.rfind("\n", 0, start) + 1
    last = text.find("\n", end)
    was, becomes = text[first:last], text[first:start] + new + text[end:last]
    number = text.count("\n", 0, start) + 1
    return Mutant(file, start, end, new, number, function, tidy(was), tidy(becomes))


def tidy(lines: str) -> str:
    return " ".join(lines.replace("\\\n", "\n").strip().rstrip("\\").split())


def of_folder(folder: Path) -> list[list[Mutant]]:
    """Returns the mutants of all headers of a folder, grouped by token."""
    return [
        alternatives
        for path in sorted(folder.glob("*.h"))
        for alternatives in mutants(path.name, path.read_text())
    ]
