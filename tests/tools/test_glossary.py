# SPDX-License-Identifier: BSD-3-Clause
"""The glossary has at most thirty terms of our own, each with one meaning and in use."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
GLOSSARY = DOCS / "glossary.md"
MOST = 30


def terms(section: str) -> list[tuple[str, str]]:
    """The rows of a table: each term with its meaning."""
    part = GLOSSARY.read_text("utf-8").partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    rows = (line.strip("| ").split(" | ") for line in part.splitlines() if line.startswith("| "))
    return [(term, meaning) for term, meaning in rows if term not in ("term", "---")]


OURS, FIELD = terms("Our terms"), terms("The field's terms")


def test_our_terms_are_few():
    assert 0 < len(OURS) <= MOST


def test_each_term_has_one_meaning():
    names = [name.lower() for term, _ in OURS + FIELD for name in re.split(r", ", term)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("rows", [OURS, FIELD], ids=["ours", "field"])
def test_a_table_is_in_alphabetical_order(rows):
    names = [term.lower() for term, _ in rows]
    assert names == sorted(names)


@pytest.mark.parametrize(("term", "meaning"), OURS + FIELD, ids=[term for term, _ in OURS + FIELD])
def test_a_meaning_is_a_short_line_without_a_full_stop(term, meaning):
    assert 2 <= len(meaning.split()) <= 20 and not meaning.endswith(".")


@pytest.mark.parametrize("term", [term for term, _ in OURS])
def test_another_page_uses_our_term(term):
    pages = (page.read_text("utf-8") for page in DOCS.glob("*.md") if page != GLOSSARY)
    words = r"\s+".join(map(re.escape, term.removesuffix("y").split()))
    assert any(re.search(rf"\b{words}", text, re.I) for text in pages), f"{term}: no page uses it"


# What a line has that uses a word of the glossary in its one meaning, or a word of another field.
MEANT = {
    "pipe": r"RFC 6675|ns-3's pipe|SACK|into a pipe|a pipe into|no pipe|pipe blocked|fill the pipe",
}
GENERATED = {"settings.md", "profiles.md"}
PAGES = sorted(page for page in DOCS.glob("*.md") if page.name not in GENERATED)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_uses_a_word_as_the_glossary_has_it(page):
    paragraphs = re.sub(r"`[^`]*`", "", page.read_text("utf-8")).split("\n\n")
    for word, meant in MEANT.items():
        lines = (each for part in paragraphs for each in re.split(r"\n(?=[|-])", part))
        wrong = [each for each in lines if re.search(rf"\b{word}\b", each, re.I)]
        assert [" ".join(each.split()) for each in wrong if not re.search(meant, each)] == []
