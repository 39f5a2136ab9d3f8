# SPDX-License-Identifier: BSD-3-Clause
"""The prose linter counts words as a reader does, and its list can only shrink."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import check_prose

PAGE = """---
title: not prose
---
<!-- no prose -->
# A heading is no sentence

One sentence has five words. A second, with `code that counts once` and [a link](its.md), has more!

- An item without a full stop
- Another one, e.g. this

| a table | is not | prose |

```sh
no prose
```

$$ x = y $$
"""


def test_it_counts_the_words_of_sentences_only() -> None:
    lengths = [len(words) for words in check_prose.sentences(PAGE)]
    assert lengths == [5, 9, 6, 4]
    assert check_prose.mean_length(PAGE) == 6.0
    assert check_prose.mean_length("# Only a heading\n") == 0


def test_it_counts_overlong_sentences() -> None:
    long = "Word " + "word " * check_prose.LONGEST + "end."
    assert check_prose.longest(f"{long} Short one.") == 1


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        ("a.md", "It was held\nagainst theory, and that one has failed.", 2),
        ("a.md", "Each ACK says that one more segment has arrived.", 0),
        ("a.md", "Harms hang on the flow beside it.", 3),
        ("a.md", "The row `beside-kept`.\n```sh\nrun --only beside\n```\n", 0),
        ("a.py", '"""Is a module."""\nx = "that one"  # that one\n', 2),
        ("a.py", '"""Issues warnings."""\n', 0),
        ("a.cpp", 'char x[] = "that one"; // that one\n/* held against */', 2),
    ],
)
def test_it_finds_phrases_in_comments_and_not_in_code(name: str, text: str, count: int) -> None:
    assert check_prose.faults(Path(name), text) == count


NONE: dict[str, dict[str, float]] = {"mean": {}, "long": {}, "phrases": {}}


def test_a_number_may_only_fall() -> None:
    listed = {**NONE, "phrases": {"a.py": 2.0}}
    for now, worse, better in ((3.0, True, False), (2.0, False, False), (1.0, False, True)):
        found = {**NONE, "phrases": {"a.py": now}}
        complaints = list(check_prose.complaints(found, listed))
        assert [one.startswith("a.py: 3 times") for one in complaints] == [True] * worse
        assert list(check_prose.better(found, listed)) == ["a.py"] * better
    assert list(check_prose.better(NONE, listed)) == ["a.py"]
    (new,) = check_prose.complaints({**NONE, "mean": {"b.md": 18.0}}, NONE)
    assert new.startswith("b.md: 18 words a sentence")
