# SPDX-License-Identifier: BSD-3-Clause
"""Checks the English of pages, comments and docstrings.

A page's sentences have fewer than 22 words on average, and none has more than 45. On no page do two
sentences in a row begin with "It", or does a possessive lack its noun ("BBRv1's."). No text has a
phrase of PHRASES, no page a word of OLD_WORDS, and no docstring begins with "Is". Tables that the
code declares may have old words.
"""

from __future__ import annotations

import ast
import io
import itertools
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

from tools.rooms import HELPERS, PRODUCT

ROOT = Path(__file__).resolve().parent.parent
MEAN_LIMIT, LONGEST = 22.0, 45
# "That one" as a pronoun stands at the end of a clause, or before its verb.
PHRASES = (r"\bheld against\b", r"\bthat one(?=[.,;:)]| (?:is|was|has|does|of|by|which|for)\b)")
# Discouraged: competing, metric, depends on, search run, fast path, parallel and hop replace them.
OLD_WORDS = r"\b(?:beside|harms?|hang(?:s|ing)? on|expeditions?|calm|lanes?|legs?|supplied)\b"
_HARM = {"harm", "harms"}  # the term of RFC 9743 and Ware et al. 2019
# Pages that define an old word or quote output that has it.
DEFINED = {
    "evaluation.md": _HARM,
    "glossary.md": _HARM,
    "own-evaluation.md": {*_HARM, "beside"},
    "westwood-cubic.md": {"beside"},
}
PAGES = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "RELEASING.md", "docs/**/*.md")
C_FAMILY = {".h", ".hpp", ".c", ".cc", ".cpp", ".js"}
OURS = Path(__file__).name  # it contains the phrases

_NOT_PROSE = re.compile(
    r"\A---\n.*?^---$|^(?P<fence>`{3,}|:{3,}|~{3,}).*?^(?P=fence)\s*$|<!--.*?-->|\$\$.*?\$\$"
    r"|^[ \t]*\|[^\n]*$|^#[^\n]*$|^    [^\n]*$|!\[.*?\]\(.*?\)",
    re.M | re.S,
)
_CODE_BLOCK = re.compile(
    r"^(?P<fence>`{3,}|:{3,}).*?^(?P=fence)\s*$"
    r"|^<!-- (?P<table>declared: .+?) -->.*?^<!-- end of (?P=table) -->|<!--.*?-->|`[^`]*`",
    re.M | re.S,
)
_CODE, _MATH, _LINK = re.compile(r"`[^`]*`"), re.compile(r"\$[^$\n]+\$"), re.compile(r"\]\([^)]*\)")
_ITEM = re.compile(r"\n\s*\n|\n(?=\s*(?:[-*]|\d+\.) )")
_END = re.compile(r"(?<=[.!?])[\"')*]*\s+(?=[\"'(*]*[A-Z0-9`\[])")
_ONLY_POSSESSIVE = re.compile(
    r"\b[A-Z][\w+-]*(?:'s|s')(?=[.,;:)]|\s(?:is|are|was|were|has|does|where|when|but|on|with)\b)"
)
_WORD = re.compile(r"[A-Za-z0-9][^\s]*")
_ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|al|Fig|No)\.")
_MARK = re.compile(r"^\s*(?:#+|//+|/?\*+/?)|\*/", re.M)
_C_COMMENT = re.compile(r"//.*?$|/\*.*?\*/", re.M | re.S)


def paragraphs(page: str) -> list[list[str]]:
    """Returns the sentences of each paragraph or item of a page, without tables and code."""
    text = _NOT_PROSE.sub("\n\n", page)
    text = _LINK.sub("]", _MATH.sub("X", _CODE.sub("Code", text)))
    text = _ABBREVIATED.sub(lambda match: match[0].replace(".", ""), text)
    return [_END.split(" ".join(block.split())) for block in _ITEM.split(text)]


def sentences(page: str) -> list[list[str]]:
    """Returns the words of each sentence of a Markdown page, without tables, code and headings."""
    parts = (sentence for paragraph in paragraphs(page) for sentence in paragraph)
    return [words for part in parts if len(words := _WORD.findall(part)) > 1]


def monotone(page: str) -> Iterator[str]:
    """Yields each second sentence in a row with "It", and each possessive without its noun."""
    for paragraph in paragraphs(page):
        for earlier, later in itertools.pairwise(paragraph):
            if earlier.startswith("It ") and later.startswith("It "):
                start = " ".join(later.split()[:6])
                yield f'"{start} ...": expected another beginning than "It", as in the one before'
        for match in _ONLY_POSSESSIVE.finditer(" ".join(paragraph)):
            yield f'"{match[0]}": expected the noun after it'


def mean_length(page: str) -> float:
    """Returns the mean number of words of a page's sentences; 0 without sentences."""
    lengths = [len(words) for words in sentences(page)]
    return sum(lengths) / len(lengths) if lengths else 0.0


def long_sentences(page: str) -> Iterator[str]:
    """Yields the start of each sentence with more words than anybody should read at once."""
    for words in sentences(page):
        if len(words) > LONGEST:
            yield " ".join(words[:6])


def docstrings(text: str) -> Iterator[str]:
    """Yields the docstrings of a Python file."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, kinds) and (docstring := ast.get_docstring(node)):
            yield docstring


def comments(path: Path, text: str) -> Iterator[str]:
    """Yields the comments and docstrings of a source file."""
    if path.suffix == ".py":
        yield from docstrings(text)
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    else:
        yield from _C_COMMENT.findall(text)


def phrases(path: Path, text: str) -> Iterator[str]:
    """Yields the phrases to avoid in a page or file, and the docstrings that begin with "Is"."""
    texts = [text] if path.suffix == ".md" else list(comments(path, text))
    joined = "; ".join(" ".join(_MARK.sub(" ", part).lower().split()) for part in texts) + ";"
    for phrase in PHRASES:
        yield from re.findall(phrase, joined)
    if path.suffix == ".md":
        old = re.findall(OLD_WORDS, _CODE_BLOCK.sub("", text).lower())
        yield from (word for word in old if word not in DEFINED.get(path.name, ()))
    for docstring in docstrings(text) if path.suffix == ".py" else ():
        if docstring.startswith("Is "):
            yield docstring.partition("\n")[0]


def complaints(path: Path, text: str) -> Iterator[str]:
    """Yields what breaks the rules in a page or file."""
    if path.suffix == ".md":
        if (mean := mean_length(text)) >= MEAN_LIMIT:
            yield f"{mean:.1f} words a sentence, expected under {MEAN_LIMIT:g}"
        for start in long_sentences(text):
            yield f'"{start} ...": expected at most {LONGEST} words in a sentence'
        yield from monotone(text)
    for phrase in phrases(path, text):
        yield f'"{phrase}": expected plain English'


def main() -> int:
    sources = (path for room in (*PRODUCT, *HELPERS) for path in sorted((ROOT / room).rglob("*")))
    files = [path for path in sources if path.suffix in C_FAMILY | {".py"} and path.name != OURS]
    pages = [page for pattern in PAGES for page in sorted(ROOT.glob(pattern))]
    wrong = [
        f"{path.relative_to(ROOT)}: {complaint}"
        for path in pages + files
        for complaint in complaints(path, path.read_text(encoding="utf-8"))
    ]
    print("\n".join(wrong) or "the prose follows the rules")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
