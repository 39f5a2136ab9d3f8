# SPDX-License-Identifier: BSD-3-Clause
"""The cost of keys in the TOML parser is bounded, and no valid TOML is rejected."""

import random
import time
import tomllib
from typing import Any

from westwood import files
from westwood.errors import InputError

PIECES = r"""
a . a.a "a" 'a' "." '.' "a.b" = 1 1.5 [ ] [[ ]] { } , # \ " ' \" \' \\ a=1 .a. "" '' ""
"""


def text_of(choices: random.Random) -> str:
    """Draws a text from TOML's elements, often valid."""
    whole = choices.choice([*"ab", '"""', "'''"])
    pieces = [*PIECES.split(), "\n", "\n", " ", '"""', "'''", "\nk%d = ", whole]
    toml = "".join(choices.choice(pieces) for _ in range(choices.choice([5, 20, 60])))
    dots = choices.choice([".a", " . a", '."a"', ".'.'"]) * choices.choice([1, 7, 8, 20, 300])
    frame = choices.choice(['k = """{}{}"""', "k = '''{}{}'''", "# {1}\nk=1", "k{1} = 1", "[k{1}]"])
    frame = choices.choice([frame, "k = {{ a{1} = 1 }}", "{0}\nk{1} = 1", 'k = "\\"{1}"', "{0}"])
    return frame.format(toml, dots)


def parts(table: Any) -> int:
    """Returns how deeply its tables are nested, which follows from a key's parts."""
    if isinstance(table, dict) and table:
        return 1 + max(parts(inner) for inner in table.values())
    return 0


def test_keys_are_told_from_strings_and_comments(attack):
    """Compares with the parser: exactly the deeply nested tables are rejected."""
    for choices in attack.rounds():
        for _ in range(50):
            text = text_of(choices)
            try:
                expected: Any = tomllib.loads(text)
            except (ValueError, RecursionError):
                expected = None
            start = time.process_time()
            try:
                parsed: Any = files.toml(text)
            except InputError:
                assert expected is None or parts(expected) >= files.MOST_KEY_PARTS, text
                continue
            except (ValueError, RecursionError):
                parsed = None
            assert repr(parsed) == repr(expected), text
            assert time.process_time() - start < 2
            if expected is not None and "{" not in text and "[" not in text:
                assert parts(expected) <= files.MOST_KEY_PARTS + 1, text
