# SPDX-License-Identifier: BSD-3-Clause
"""The hard cases on the page of Westwood-CUBIC have today's values."""

from __future__ import annotations

from dataclasses import replace

from tools import benchmark_page, hard_cases
from tools.pages import table_of
from westwood.evaluation.answer import At
from westwood.markup import markdown_row
from westwood.results.verdicts import Verdict

SHOWN = table_of("cases", benchmark_page.PAGE.page.read_text(encoding="utf-8")).splitlines()
CURE = "run: python -m tools.pages cases"


def test_the_page_has_every_case_and_the_first_of_each_kind_has_todays_value():
    names = [point.name for criterion in hard_cases.CASES for point in criterion.points]
    assert [line.split(" | ")[0].removeprefix("| ") for line in SHOWN[4:]] == names, CURE
    first = [replace(criterion, points=criterion.points[:1]) for criterion in hard_cases.CASES]
    for cells in hard_cases.rows(hard_cases.measured(first)):
        assert markdown_row(cells) in SHOWN, CURE


def test_a_value_beyond_its_bound_is_bold_and_counted():
    (answer,) = hard_cases.measured([replace(hard_cases.CASES[0], points=[])])
    within = At("a", 0.9, 0, 0, 0.9, 0.9, 0.9, Verdict.MEETS, 16)
    points = (within, replace(within, name="b", judged=0.8))
    table = hard_cases.table([replace(answer, points=points)])
    assert table.startswith("1 of 2 cases are beyond their bound, in bold.\n\n| case |")
    assert "| 0.9 |" in table and "| **0.8** |" in table
