# SPDX-License-Identifier: BSD-3-Clause
"""Checks the English of pages, comments and docstrings: `check_prose.py`; `--write` lowers limits.

A page's sentences have fewer than 18 words on average, and none has more than 45. No text has a
phrase of PHRASES, no page a word of OLD_WORDS, and no docstring begins with "Is". Texts older than
these rules are listed in tools/prose.toml with their numbers, which may only fall: `--write` lowers
the number of a page or file that improved, and removes a clean one from the list.
"""

from __future__ import annotations

import ast
import io
import re
import sys
import tokenize
import tomllib
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LISTED = ROOT / "tools" / "prose.toml"
MEAN_LIMIT, LONGEST = 18.0, 45
# "That one" as a pronoun stands at the end of a clause, or before its verb.
PHRASES = (r"\bheld against\b", r"\bthat one(?=[.,;:)]| (?:is|was|has|does|of|by|which|for)\b)")
# Old words in pages, for: competing, metric, depends on, search run, fast path, parallel, hop.
OLD_WORDS = r"\b(?:beside|harms?|hang(?:s|ing)? on|expeditions?|calm|lanes?|legs?|supplied)\b"
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "docs/**/*.md")
ROOMS = ("core", "engine", "wire", "bindings", "lab", "westwood", "ns3", "linux", "proofs")
HELPERS = ("tests", "bench", "tools")
C_FAMILY = {".h", ".hpp", ".c", ".cc", ".cpp", ".js"}
OURS = Path(__file__).name  # it contains the phrases

_NOT_PROSE = re.compile(
    r"\A---\n.*?^---$|^(?P<fence>`{3,}|:{3,}|~{3,}).*?^(?P=fence)\s*$|<!--.*?-->|\$\$.*?\$\$"
    r"|^[ \t]*\|[^\n]*$|^#[^\n]*$|^    [^\n]*$|!\[.*?\]\(.*?\)",
    re.M | re.S,
)
_CODE_BLOCK = re.compile(
    r"^(?P<fence>`{3,}|:{3,}).*?^(?P=fence)\s*$|<!--.*?-->|`[^`]*`", re.M | re.S
)
_CODE, _MATH, _LINK = re.compile(r"`[^`]*`"), re.compile(r"\$[^$\n]+\$"), re.compile(r"\]\([^)]*\)")
_ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Z0-9`\[])")
_WORD = re.compile(r"[A-Za-z0-9][^\s]*")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|al|Fig|No)\.")
_MARK = re.compile(r"^\s*(?:#+|//+|/?\*+/?)|\*/", re.M)
_C_COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.M | re.S)


def sentences(page: str) -> list[list[str]]:
    """Returns the words of each sentence of a Markdown page, without tables, code and headings."""
    text = _NOT_PROSE.sub("\n\n", page)
    text = _LINK.sub("]", _MATH.sub("X", _CODE.sub("Code", text)))
    text = _ABBREVIATED.sub(lambda found: found[0].replace(".", ""), text)
    parts = (part for block in _ITEM.split(text) for part in _END.split(" ".join(block.split())))
    return [words for part in parts if len(words := _WORD.findall(part)) > 1]


def mean_length(page: str) -> float:
    """Returns the mean number of words of a page's sentences; 0 without sentences."""
    lengths = [len(words) for words in sentences(page)]
    return sum(lengths) / len(lengths) if lengths else 0.0


def longest(page: str) -> int:
    """Counts the sentences of a page with more than LONGEST words."""
    return sum(len(words) > LONGEST for words in sentences(page))


def docstrings(text: str) -> Iterator[str]:
    """Yields the docstrings of a Python file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (said := ast.get_docstring(node)):
            yield said


def comments(path: Path, text: str) -> Iterator[str]:
    """Yields the comments and docstrings of a source file."""
    if path.suffix == ".py":
        yield from docstrings(text)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    else:
        yield from _C_COMMENT.findall(text)


def faults(path: Path, text: str) -> int:
    """Counts the phrases to avoid in a page or file, and the docstrings that begin with "Is"."""
    said = [text] if path.suffix == ".md" else list(comments(path, text))
    joined = "; ".join(" ".join(_MARK.sub(" ", one).lower().split()) for one in said) + ";"
    count = sum(len(re.findall(phrase, joined)) for phrase in PHRASES)
    if path.suffix == ".md":
        count += len(re.findall(OLD_WORDS, _CODE_BLOCK.sub("", text).lower()))
    starts = docstrings(text) if path.suffix == ".py" else ()
    return count + sum(one.startswith("Is ") for one in starts)


def measured() -> dict[str, dict[str, float]]:
    """Measures all pages and files; returns what breaks the rules, by section and file."""
    found: dict[str, dict[str, float]] = {"mean": {}, "long": {}, "phrases": {}}
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    sources = (path for room in ROOMS + HELPERS for path in sorted((ROOT / room).rglob("*")))
    for path in pages:
        text, name = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
        if (mean := round(mean_length(text), 1)) >= MEAN_LIMIT:
            found["mean"][name] = mean
        if count := longest(text):
            found["long"][name] = count
    files = [path for path in sources if path.suffix in C_FAMILY | {".py"} and path.name != OURS]
    for path in pages + files:
        if count := faults(path, path.read_text(encoding="utf-8")):
            found["phrases"][str(path.relative_to(ROOT))] = count
    return found


UNITS = {
    "mean": f"words a sentence, expected under {MEAN_LIMIT:g}",
    "long": f"sentences of more than {LONGEST} words",
    "phrases": 'times "held against", "that one" or a docstring that begins with "Is"',
}


def complaints(
    found: dict[str, dict[str, float]], listed: dict[str, dict[str, float]]
) -> Iterator[str]:
    """Yields the values that are worse than their listed numbers."""
    for section, unit in UNITS.items():
        known = listed.get(section, {})
        for name, value in found[section].items():
            if value > known.get(name, 0):
                yield f"{name}: {value:g} {unit}" + (f" ({known[name]:g})" if name in known else "")


def better(
    found: dict[str, dict[str, float]], listed: dict[str, dict[str, float]]
) -> Iterator[str]:
    """Yields the pages and files that are better than their listed numbers."""
    for section in UNITS:
        for name, value in listed.get(section, {}).items():
            if value > found[section].get(name, 0):
                yield name


def written(found: dict[str, dict[str, float]]) -> str:
    """Returns the list as TOML."""
    head = "# SPDX-License-Identifier: BSD-3-Clause\n# What tools/check_prose.py still allows.\n"
    parts = (
        f"\n[{section}] # {UNITS[section]}\n"
        + "".join(f'"{name}" = {value:g}\n' for name, value in sorted(found[section].items()))
        for section in UNITS
    )
    return head + "".join(parts)


def main(arguments: list[str]) -> int:
    found = measured()
    listed = tomllib.loads(LISTED.read_text(encoding="utf-8"))
    wrong = list(complaints(found, listed))
    if "--write" in arguments and not wrong:
        LISTED.write_text(written(found), encoding="utf-8")
    elif names := set(better(found, listed)):
        print(f"better than listed: {', '.join(sorted(names))}: tools/check_prose.py --write")
    print("\n".join(wrong) or "the prose follows the rules, or its exceptions are listed")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
