# SPDX-License-Identifier: BSD-3-Clause
"""Each normative sentence of BBRv3's draft is followed by a line, or there is a reason."""

import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "tests" / "core" / "bbr3_sentences.toml"
SENTENCES = tomllib.loads(LIST.read_text())["sentence"]
COMMENT = re.compile(r"/\*.*?\*/|(?:^[ \t]*//[^\n]*\n)+", re.S | re.M)
FUNCTION = re.compile(r"(?:^|[ ;:,])([A-Z]\w+\(\))")


@cache
def comments(path: str) -> list[str]:
    """Returns a file's comments, each on one line."""
    blocks = COMMENT.findall((ROOT / path).read_text())
    return [" ".join(re.sub(r"(?m)^\s*(/?\*+/?|//)", "", text).split()) for text in blocks]


@pytest.mark.parametrize("row", SENTENCES, ids=lambda row: f"{row['section']} {row['words'][:30]}")
def test_has_a_line_or_a_reason(row):
    assert ("follows" in row) != ("reason" in row)
    if "reason" in row:
        assert row["reason"].endswith(".")
        return
    quotes = [text for text in comments(row["follows"]) if row["words"].rstrip(".") in text]
    section = re.compile(rf"(?<![\d.]){re.escape(row['section'])}(?![\d.]*\d)")
    assert any(section.search(text) for text in quotes), f"no comment of {row['follows']} quotes it"


def test_every_function_that_the_core_names_is_listed():
    listed = {row["words"] for row in SENTENCES}
    for path in sorted((ROOT / "core").glob("bbr3*.h")):
        for text in comments(str(path.relative_to(ROOT))):
            if re.match(r"\d+(\.\d+)+: ", text):
                assert set(FUNCTION.findall(text)) <= listed | {"CheckStartupHighLoss()"}, text


def test_most_of_the_draft_is_followed():
    """Counts the coverage: the other rows are options, QUIC's or the host's."""
    followed = [row for row in SENTENCES if "follows" in row]
    assert (len(followed), len(SENTENCES)) == (96, 127)
