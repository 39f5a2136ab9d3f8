# SPDX-License-Identifier: BSD-3-Clause
"""tools/mutants: a mutant that a test detects is caught, and a useless test lets it survive."""

import ast
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tools.mutants import core, cxx, cxx_code, py_code, verdict, westwood
from tools.mutants.c_code import Mutant, declarations
from tools.mutants.c_code import mutants as mutants_of

HEADER = """\
/* a < b is not code, nor is "a < b" */
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
    return [
        alternative for alternatives in mutants_of("limit.h", text) for alternative in alternatives
    ]


def becoming(line: str, text: str = HEADER) -> Mutant:
    (only,) = [mutant for mutant in all_of(text) if mutant.becomes == line]
    return only


def test_only_code_has_mutants_one_change_each():
    assert sorted(mutant.becomes for mutant in all_of(HEADER)) == [
        "#define WW_LEAST 1u",
        "#define WW_LEAST 3u",
        "if (!(a < WW_LEAST)) return WW_LEAST;",
        "if (a <= WW_LEAST) return WW_LEAST;",
        "if (a >= WW_LEAST) return WW_LEAST;",
        "return a <= most ? most : a;",
        "return a >= most ? most : a;",
    ]


def test_a_mutant_is_recognised_after_its_line_moves():
    moved = becoming("return a <= most ? most : a;", "\n\n" + HEADER)
    assert moved.number == becoming("return a <= most ? most : a;").number + 2
    assert moved.key == becoming("return a <= most ? most : a;").key


def test_declarations_keep_everything_except_bodies():
    text = declarations(HEADER)
    assert 'extern "C" uint32_t ww_limit(uint32_t a, uint32_t most);' in text
    assert "#define WW_LEAST 2u" in text
    assert "return" not in text


def verdicts(folder: Path, test: str, listed: set[tuple[str, ...]] | None = None) -> dict[str, str]:
    """Returns the outcome of each mutant of HEADER with a program of this test."""
    headers = folder / "core"
    headers.mkdir()
    (headers / "limit.h").write_text(HEADER)
    program = folder / "limit_test.cpp"
    program.write_text(f'#include "../../core/limit.h"\nint main() {{ {test} }}\n')
    tests = core.Tests(headers, [program])
    tests.build()
    judged = [core.judge(tests, mutant, listed or set(), prove=False) for mutant in all_of(HEADER)]
    return {verdict_.mutant.becomes: verdict_.what for verdict_ in judged}


@pytest.fixture(autouse=True)
def build(tmp_path, monkeypatch):
    if not (shutil.which("gcc") and shutil.which("clang")):
        pytest.skip("needs gcc and clang")
    monkeypatch.setattr(core, "BUILD", tmp_path / "build")


SAME = "return a >= most ? most : a;"  # gives the same number at `most`
ALSO_SAME = "if (a <= WW_LEAST) return WW_LEAST;"


def test_a_sharp_test_catches_all_effective_mutants(tmp_path):
    listed = {becoming(SAME).key, becoming(ALSO_SAME).key}
    verdict_of = verdicts(tmp_path, SHARP, listed)
    uncounted = {line for line, what in verdict_of.items() if what in verdict.NOT_COUNTED}
    assert uncounted == {SAME, ALSO_SAME}
    assert {what for line, what in verdict_of.items() if line not in uncounted} == {core.CAUGHT[0]}


def test_a_useless_test_lets_them_survive(tmp_path):
    verdict_of = verdicts(tmp_path, USELESS)
    assert verdict_of["if (a >= WW_LEAST) return WW_LEAST;"] == verdict.SURVIVED
    assert verdict_of["#define WW_LEAST 3u"] == verdict.SURVIVED, "a declaration, compiled anew"


def test_the_report_fails_below_the_required_share(capsys):
    mutant = becoming("return a <= most ? most : a;")
    caught = [verdict.Verdict(mutant, core.CAUGHT[0])] * 19
    survivor = verdict.Verdict(mutant, verdict.SURVIVED)
    same = verdict.Verdict(mutant, verdict.NOT_COUNTED[1])
    assert verdict.report("core", [*caught, survivor, same, same], 0.95) == 0
    assert "20 mutants" in capsys.readouterr().out
    assert verdict.report("core", [*caught, survivor, survivor], 0.95) == 1


def test_a_seed_keeps_its_first_score(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text("<!-- mutants -->\n<!-- end of mutants -->\n")
    monkeypatch.setattr(verdict, "RECORD", tmp_path / "scores.json")
    monkeypatch.setattr(verdict, "PAGE", page)
    mutant = becoming("return a <= most ? most : a;")
    caught, survivor = (
        verdict.Verdict(mutant, verdict.CAUGHT),
        verdict.Verdict(mutant, verdict.SURVIVED),
    )
    verdict.record("core", 7, [survivor, caught])
    verdict.record("core", 7, [caught, caught])
    (row,) = [line for line in page.read_text().splitlines() if "`core/`" in line]
    cells = [cell.strip() for cell in row.split("|")]
    assert cells[2:5] == ["7", "1 of 2 (50.0%)", "2 of 2 (100.0%)"] and cells[6] == "0"


def test_enough_mutants_are_judged_and_none_once_the_time_is_up():
    def judge(mutant: Mutant) -> verdict.Verdict:
        return verdict.Verdict(
            mutant, core.CAUGHT[0] if mutant.new == ">=" else verdict.NOT_COMPILED
        )

    several = all_of(HEADER) * 3
    assert sum(verdict_.counts for verdict_ in verdict.judged(several, judge, 2, 2, False)) == 2
    assert verdict.judged(several, judge, 2, 2, False, until=time.monotonic()) == []


CLASS = """\
namespace ww {
struct Queue : Base {
    explicit Queue(int limit) : limit_(limit), waiting_{0} { assert(limit > 0); }
    bool is_full() const { return waiting_ >= limit_; }
    template <class T>
    auto add(T&& many) -> int;
    int waiting_[2] = {0, 1};
    static constexpr int kMost = 7;
    enum class Kind : unsigned { short_one = 1, long_one = 2 };
};
}  // namespace ww
template <class T>
auto ww::Queue::add(T&& many) -> int {
    const auto each = [&](int one) { return one + 1; };
    return waiting_[0] = std::min(each(2), many);
}
"""


def test_cplusplus_functions_are_found_with_their_bodies():
    text_of = {body.name: CLASS[body.first : body.last + 1] for body in cxx_code.bodies(CLASS)}
    assert list(text_of) == ["Queue", "is_full", "add"]
    assert text_of["is_full"] == "{ return waiting_ >= limit_; }"
    assert text_of["add"].startswith("{\n    const auto each") and text_of["add"].endswith(
        "many);\n}"
    )


def test_initial_values_are_distinguished_from_constants():
    assert [CLASS[first:last] for first, last in cxx_code.first_values(CLASS)] == ["= {0, 1}"]


def test_a_file_holds_all_mutants_and_its_original_code(tmp_path):
    text = """\
constexpr int least(int a, int b) { return a < b ? a : b; }
struct Counter {
    int count = 3;
    int next() { return count++; }
};
"""
    program = "int main() { return least(5, 2) * 16 + Counter().next(); }"
    path = tmp_path / "least.hpp"
    path.write_text(text)
    chosen = [mutant for mutant in cxx_mutants(path) if mutant.becomes in EXPECTED]
    source = tmp_path / "main.cpp"
    numbered = dict(enumerate(chosen, 1))
    source.write_text(cxx.SWITCH + cxx.schema(path, numbered) + program)
    file = tmp_path / "made"
    subprocess.run(["g++", "-std=c++20", "-w", source, "-o", file], check=True)
    codes = [
        subprocess.run([file], env={"WW_MUTANT": str(number)}).returncode
        for number in range(len(chosen) + 1)
    ]
    assert codes == [2 * 16 + 3, *(EXPECTED[mutant.becomes] for mutant in chosen)]


EXPECTED = {
    "constexpr int least(int a, int b) { return a >= b ? a : b; }": 5 * 16 + 3,
    "int count = 2;": 2 * 16 + 2,
    "int count = 4;": 2 * 16 + 4,
}


def cxx_mutants(path: Path) -> list[Mutant]:
    return [mutant for several in cxx_code.of_folder(path.parent) for mutant in several]


PYTHON = """\
from dataclasses import dataclass

@dataclass(frozen=True)
class Link:
    rate: float = 2.5

    def is_fast(self, least: "int < 3" = 4) -> bool:
        \"\"\"Says whether 1 < 2.\"\"\"
        if not self.rate:
            return True
        return self.rate > least and f"{1 + 1}" is not None
"""


def test_python_mutants_change_computations_only():
    mutants = [change for several in py_code.mutants("link.py", PYTHON) for change in several]
    assert {change.function for change in mutants} == {"Link", "Link.is_fast"}
    assert [change.becomes for change in mutants if change.function == "Link.is_fast"] == [
        'def is_fast(self, least: "int < 3" = 3) -> bool:',
        'def is_fast(self, least: "int < 3" = 5) -> bool:',
        "if not (not self.rate):",
        "if self.rate:",
        "return False",
        'return self.rate > least or f"{1 + 1}" is not None',
        'return self.rate >= least and f"{1 + 1}" is not None',
        'return self.rate <= least and f"{1 + 1}" is not None',
        'return self.rate > least and f"{1 + 1}" is None',
    ]
    for mutant in mutants:
        ast.parse(mutant.applied(PYTHON))


@pytest.mark.parametrize(
    ("number", "lines"),
    [(2, []), (3, [3]), (4, [4, 5]), (5, [4, 5]), (6, [6]), (7, [7, 8]), (8, [7, 8]), (9, [9])],
)
def test_a_statement_has_its_own_lines_only(number, lines):
    text = """\
def least(
    values, most=3):
    if values:
        return min(
            values)
    for value in (1, 2):
        with open(
                "a") as file:
            print(value)
"""
    assert list(py_code.statement(text, number)) == lines


def test_other_code_does_not_change_the_order_of_a_draw_by_text():
    pool = py_code.mutants("link.py", PYTHON)
    drawn = list(verdict.draw_by_text(pool, 1))
    assert sorted(mutant.start for mutant in drawn) == sorted(several[0].start for several in pool)
    fewer = [several for several in pool if several[0].start != drawn[2].start]
    assert list(verdict.draw_by_text(fewer, 1)) == [*drawn[:2], *drawn[3:]]
    assert list(verdict.draw_by_text(pool, 2)) != drawn


@pytest.mark.parametrize(("new", "code"), [("1e6", 0), ("1e7", 1)])
def test_a_warm_process_imports_the_mutant(tmp_path, new, code):
    original = verdict.ROOT / "westwood" / "engines" / "resources.py"
    text = original.read_text(encoding="utf-8")
    mutant, test = tmp_path / "mutant.py", tmp_path / "test_run.py"
    mutant.write_text(text.replace('("MB", 1e6)', f'("MB", {new})'), encoding="utf-8")
    test.write_text(
        "from westwood.engines.resources import format_bytes\n\n"
        'def test_two_megabytes():\n    assert format_bytes(2e6) == "2 MB"\n'
    )
    is_killed, output = westwood.attempt(f"{original}::{mutant}", [str(test)], tmp_path, 60)
    assert is_killed == code and ("FAILED" in output) == bool(code)


@pytest.mark.parametrize("room", ["engine", "westwood"])
def test_named_mistakes_still_apply(room):
    named = verdict.named(room, verdict.ROOT / room)
    assert len({mutant.function for mutant in named}) == len(named) > 0
