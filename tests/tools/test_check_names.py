# SPDX-License-Identifier: BSD-3-Clause
"""Names that say nothing are refused, and what older packages owe only falls."""

import tomllib

import pytest

from tools import check_names


@pytest.mark.parametrize(
    "source",
    [
        "found = 1",
        "x = [one for one in y]",
        "f = lambda its: 1",
        "def _at(): ...",
        "class put: ...",
        "def f(*, own): ...",
        "with f() as made: ...",
        "import a as met",
        "try: ...\nexcept E as said: ...",
        "match x:\n    case [lacking]: ...",
        "if of := 1: ...",
        "for a, (b, even) in c: ...",
        "async def go(): ...",
    ],
)
def test_a_name_that_says_nothing_is_refused(source):
    assert len(check_names.refused(source)) == 1


def test_words_that_are_no_names_are_left_alone():
    assert not check_names.refused("x.found = a.of(one, made=1)  # its own\ny = 'said'")


@pytest.mark.parametrize(
    ("suffix", "source", "names"),
    [
        (".cpp", "auto found = one;  // its own", ["found", "one"]),
        (".c", 'struct a *own = at->of;  /* made */ char *p = "one";', ["own", "at"]),
        (".hpp", "v.at(1); a::of(2); p->put(3);", []),
        (".js", "for (const made of rows) `one ${of}`", ["made"]),
        (".rs", "let said = 'x'; of(1);", ["said", "of"]),
        (".md", "one of its own", []),
    ],
)
def test_other_languages_are_read_without_comments_and_literals(suffix, source, names):
    assert [name for _, name in check_names.refused(source, suffix)] == names


def test_a_room_may_have_no_more_than_it_owes(tmp_path):
    (tmp_path / "westwood" / "cli").mkdir(parents=True)
    (tmp_path / "westwood" / "cli" / "a.py").write_text("rows = 1\nfound = 2\none = 3\n")
    named = check_names.places(["westwood/cli/a.py"], tmp_path)
    assert named == {"westwood": ["westwood/cli/a.py:2: found", "westwood/cli/a.py:3: one"]}
    assert not check_names.complaints(named, {"westwood": 2})
    for owed in ({"westwood": 1}, {}):
        (complaint,) = check_names.complaints(named, owed)
        assert complaint.startswith("westwood: 2 names") and "a.py:3: one" in complaint
    assert check_names.lowered(named, {"westwood": 9, "tests": 4}) == {"westwood": 2}
    assert check_names.lowered(named, {"westwood": 1}) == {"westwood": 1}
    assert check_names.lowered(named, {}) == {}


def test_the_list_of_debts_is_that_of_rooms_that_exist():
    owed = tomllib.loads(check_names.OWED.read_text(encoding="utf-8"))
    assert all((check_names.ROOT / room).is_dir() for room in owed)
    assert not check_names.complaints(check_names.places(check_names.tracked()), owed)
