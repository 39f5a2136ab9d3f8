# SPDX-License-Identifier: BSD-3-Clause
"""Finds the function bodies of C++ files, which may hold several mutants at once.

It reads tokens and counts brackets, which is enough for our own code in clang-format's layout.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tools.mutants.c_code import Mutant, Token, closing, mutants, tokens

SCOPES = frozenset(("namespace", "class", "struct", "union"))
FIXED = frozenset(("constexpr", "enum", "using", "template", "operator", "default", "virtual"))
QUALIFIERS = frozenset(("const", "noexcept", "override", "final", "mutable"))


@dataclass(frozen=True)
class Body:
    """The text between the braces of a function."""

    name: str
    first: int  # position of its opening brace
    last: int  # and of its closing one
    is_constexpr: bool


def bodies(text: str) -> list[Body]:
    """Returns the bodies of all functions in order."""
    code = list(tokens(text, macros=False))
    place, listed = 0, []
    declaration: list[Token] = []
    while place < len(code):
        token = code[place]
        if token.text in (";", "}") or (token.text == ":" and is_access(declaration)):
            declaration = []
        elif token.text == "{":
            kind = kind_of(declaration)
            if kind == "scope":
                declaration = []
            else:
                last = closing(code[place:], "{", "}")
                while code[place].start < last:
                    place += 1
                if kind == "function":
                    listed.append(body(declaration, token.start, last))
                    declaration = []
                else:
                    declaration.append(code[place])
        else:
            declaration.append(token)
        place += 1
    return listed


def is_access(declaration: list[Token]) -> bool:
    return [token.text for token in declaration] in (["public"], ["private"], ["protected"])


def without_template(declaration: list[Token]) -> list[Token]:
    """Drops a leading `template <...>` and `extern`."""
    if not declaration or declaration[0].text != "template":
        return declaration
    depth = 0
    for place, token in enumerate(declaration):
        depth += token.text.count("<") - token.text.count(">")
        if depth == 0 and place > 0:
            return declaration[place + 1 :]
    return []


def kind_of(declaration: list[Token]) -> str:
    """Returns what the brace after a declaration opens: a scope, a function or a value."""
    words = [token.text for token in without_template(declaration)]
    if words and words[0] in SCOPES and "(" not in words:
        return "scope"
    if words and words[0] in SCOPES and words[-1] != ")":  # struct alignas(64) Name {
        return "scope"
    if not words or words[0] == "enum" or words[-1] == "=" or "(" not in words:
        return "value"
    if "=" in words[: words.index("(")]:
        return "value"
    while words[-1] in QUALIFIERS:
        words.pop()
    if words[-1] in (")", "}") or "->" in words:
        return "function"
    return "value"  # of a member in a constructor's initializer list


def body(declaration: list[Token], first: int, last: int) -> Body:
    words = [token.text for token in without_template(declaration)]
    opens = next(
        place for place, word in enumerate(words) if word == "(" and words[place - 1] != "alignas"
    )
    return Body(words[opens - 1], first, last, "constexpr" in words[:opens])


def first_values(text: str) -> list[tuple[int, int]]:
    """Returns start and end of the initial values of members and variables."""
    code = list(tokens(text, macros=False))
    inside = [(body.first, body.last) for body in bodies(text)]
    places = []
    start, open_values = 0, 0
    for place, token in enumerate(code):
        if token.text not in (";", "{", "}") or any(a < token.start < b for a, b in inside):
            continue
        words = [token.text for token in code[start:place]]
        if token.text == "{" and "enum" in words:
            inside.append((token.start, closing(code[place:], "{", "}") + 1))
            continue
        if "=" in words:  # none of its braces ends the declaration
            open_values += (token.text == "{") - (token.text == "}")
            if open_values > 0 or token.text == "}":
                continue
            if token.text == ";" and not FIXED & set(words) and "(" not in words:
                places.append((code[start + words.index("=")].start, token.start))
        start, open_values = place + 1, 0
    return places


def of_folder(folder: Path) -> list[list[Mutant]]:
    """Returns the mutants of all C++ files below a folder, grouped by token.

    The order is by the files' names alone, so a file that moves does not change a seed's sample.
    It mutates functions and the initial values of members. Constants, tables and enumerations are
    not mutated: they are compiled into too many places to be selected at run time.
    """
    listed = []
    paths = [*folder.rglob("*.hpp"), *folder.rglob("*.cpp")]
    for path in sorted(paths, key=lambda path: (path.name, path)):
        text = path.read_text()
        places = [(body.name, body.first, body.last) for body in bodies(text)]
        values = first_values(text)
        for alternatives in mutants(str(path.relative_to(folder)), text, places, spaced=True):
            mutant = alternatives[0]
            is_value = any(first < mutant.start < last for first, last in values)
            if mutant.function or (is_value and text[mutant.start].isalnum()):
                listed.append(alternatives)
    return listed
