# SPDX-License-Identifier: BSD-3-Clause
"""tools/mutants.py: what a test sees is caught, and what a useless test does not see survives."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tools import mutants
from tools.mutate import Mutant, declarations
from tools.mutate import mutants as mutants_of

HEADER = """\
/* a < b is no code here, nor in "a < b" */
#include <stdint.h>
#define WW_LEAST 2u
static inline uint32_t ww_limit(uint32_t a, uint32_t most) {
    if (a < WW_LEAST) return WW_LEAST;
    return a > most ? most : a;
}
"""
SHARP = "return ww_limit(1, 9) == 2 && ww_limit(5, 9) == 5 && ww_limit(12, 9) == 9 ? 0 : 1;"
USELESS = "return ww_limit(5, 9) <= 9 ? 0 : 1;"


def all_of(text: str) -> list[Mutant]:
    return [one for alternatives in mutants_of("limit.h", text) for one in alternatives]


def becoming(line: str, text: str = HEADER) -> Mutant:
    (only,) = [one for one in all_of(text) if one.becomes == line]
    return only


def test_only_code_has_mutants_one_change_each() -> None:
    assert sorted(one.becomes for one in all_of(HEADER)) == [
        "#define WW_LEAST 1u",
        "#define WW_LEAST 3u",
        "if (!(a < WW_LEAST)) return WW_LEAST;",
        "if (a <= WW_LEAST) return WW_LEAST;",
        "if (a >= WW_LEAST) return WW_LEAST;",
        "return a <= most ? most : a;",
        "return a >= most ? most : a;",
    ]


def test_a_mutant_is_known_wherever_its_line_stands() -> None:
    moved = becoming("return a <= most ? most : a;", "\n\n" + HEADER)
    assert moved.number == becoming("return a <= most ? most : a;").number + 2
    assert moved.key == becoming("return a <= most ? most : a;").key


def test_declarations_keep_all_but_the_bodies() -> None:
    text = declarations(HEADER)
    assert 'extern "C" uint32_t ww_limit(uint32_t a, uint32_t most);' in text
    assert "#define WW_LEAST 2u" in text
    assert "return" not in text


def verdicts(folder: Path, test: str, listed: set[tuple[str, ...]] | None = None) -> dict[str, str]:
    """Returns what becomes of each mutant of HEADER with a program of this test."""
    core = folder / "core"
    core.mkdir()
    (core / "limit.h").write_text(HEADER)
    program = folder / "limit_test.cpp"
    program.write_text(f'#include "../../core/limit.h"\nint main() {{ {test} }}\n')
    tests = mutants.Tests(core, [program])
    tests.build()
    judged = [mutants.judge(tests, one, listed or set(), prove=False) for one in all_of(HEADER)]
    return {verdict.mutant.becomes: verdict.what for verdict in judged}


@pytest.fixture(autouse=True)
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not (shutil.which("gcc") and shutil.which("clang")):
        pytest.skip("needs gcc and clang")
    monkeypatch.setattr(mutants, "BUILD", tmp_path / "build")


SAME = "return a >= most ? most : a;"  # at `most` it is the same number
ALSO_SAME = "if (a <= WW_LEAST) return WW_LEAST;"


def test_a_sharp_test_catches_all_that_change_something(tmp_path: Path) -> None:
    listed = {becoming(SAME).key, becoming(ALSO_SAME).key}
    found = verdicts(tmp_path, SHARP, listed)
    uncounted = {line for line, what in found.items() if what in mutants.NOT_COUNTED}
    assert uncounted == {SAME, ALSO_SAME}
    assert {what for line, what in found.items() if line not in uncounted} == {mutants.CAUGHT[0]}


def test_a_useless_test_lets_them_survive(tmp_path: Path) -> None:
    found = verdicts(tmp_path, USELESS)
    assert found["if (a >= WW_LEAST) return WW_LEAST;"] == mutants.SURVIVED
    assert found["#define WW_LEAST 3u"] == mutants.SURVIVED, "a declaration, compiled anew"


def test_the_report_fails_below_the_share_that_is_wanted(
    capsys: pytest.CaptureFixture[str],
) -> None:
    one = becoming("return a <= most ? most : a;")
    caught = [mutants.Verdict(one, mutants.CAUGHT[0])] * 19
    survivor = mutants.Verdict(one, mutants.SURVIVED)
    same = mutants.Verdict(one, mutants.NOT_COUNTED[1])
    assert mutants.report([*caught, survivor, same, same], set()) == 0
    assert "20 mutants" in capsys.readouterr().out
    assert mutants.report([*caught, survivor, survivor], set()) == 1
