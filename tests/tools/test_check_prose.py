# SPDX-License-Identifier: BSD-3-Clause
"""The prose linter counts words as a reader does."""

from pathlib import Path

import pytest

from tools import check_prose

PAGE = """---
title: not prose
---
<!-- no prose -->
# A heading is not a sentence

One sentence has five words. A second, with `code that counts once` and [a link](its.md), has more!

- An item without a full stop
- Another one, e.g. this

| a table | is not | prose |

```sh
no prose
```

$$ x = y $$
"""


def test_it_counts_the_words_of_sentences_only():
    lengths = [len(words) for words in check_prose.sentences(PAGE)]
    assert lengths == [5, 9, 6, 4]
    assert check_prose.mean_length(PAGE) == 6.0
    assert check_prose.mean_length("# Only a heading\n") == 0


def test_it_counts_overlong_sentences():
    long = "Word " + "word " * check_prose.LONGEST + "end."
    assert len(list(check_prose.long_sentences(f"{long} Short one."))) == 1


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
def test_it_finds_phrases_in_comments_and_not_in_code(name, text, count):
    assert len(list(check_prose.phrases(Path(name), text))) == count


@pytest.mark.parametrize(
    ("page", "count"),
    [
        ("It runs. It stops.", 1),
        ("It runs. The other stops. It rests.", 0),
        ("It runs.\n\nIt stops.", 0),
        ("- It runs.\n- It stops.", 0),
        ("Goodput is BBRv1's.", 1),
        ("Goodput is below Reno's, and CUBIC's is above.", 2),
        ("CUBIC's or Reno's goodput is Linux's default.", 0),
    ],
)
def test_it_finds_monotony_and_possessives_without_a_noun(page, count):
    assert len(list(check_prose.monotone(page))) == count


def test_a_complaint_says_what_was_expected():
    page = "Word " * (check_prose.LONGEST + 1) + "beside it.\n"
    assert list(check_prose.complaints(Path("a.md"), page)) == [
        f"{check_prose.LONGEST + 3:.1f} words a sentence, expected under 22",
        '"Word Word Word Word Word Word ...": expected at most 45 words in a sentence',
        '"beside": expected plain English',
    ]
    assert list(check_prose.complaints(Path("a.py"), '"""Is a module."""\n')) == [
        '"Is a module.": expected plain English'
    ]
