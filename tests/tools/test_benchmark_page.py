# SPDX-License-Identifier: BSD-3-Clause
"""The page of Westwood-CUBIC has the benchmark's rows, and cheap ones have today's values."""

from __future__ import annotations

from tools import benchmark_page
from tools.pages import FIGURE, quoted, table_of
from westwood.markup import markdown_row

CHEAP = ("point-clean", "point-thin")


def test_the_page_has_what_the_command_finds_now(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    shown = table_of("benchmark", benchmark_page.PAGE.page.read_text(encoding="utf-8"))
    for entry in benchmark_page.measured("--only", ",".join(CHEAP)):
        assert markdown_row(benchmark_page.cells(entry)) in shown.splitlines()


def test_a_missed_bound_is_bold_and_counted():
    point = {"judged": 0.5, "low": 0.4, "high": None}
    entry = {
        "criterion": "loss", "says": "part: share", "points": [point], "bound": 0.6,
        "at_most": False, "verdict": "fails",
    }  # fmt: skip
    point = {"judged": 12.34, "low": 0.4, "high": 20.0}
    kept = {**entry, "criterion": "queue", "points": [point], "bound": 20, "at_most": True}
    assert benchmark_page.table([entry, kept]) == (
        "1 of 2 bounds are missed, in bold; for 1 of them the whole interval is beyond the bound.\n"
        "\n"
        "| row | what it measures | value | 95 % interval | bound |\n"
        "| --- | --- | ---: | --- | --- |\n"
        "| `loss` | share | **0.500** | 0.400 to - | at least 0.6 |\n"
        "| `queue` | share | 12.3 | 0.400 to 20.0 | at most 20 |\n"
    )


def test_the_text_quotes_the_table():
    text = benchmark_page.PAGE.page.read_text(encoding="utf-8")
    cells = (line.split("|") for line in table_of("benchmark", text).splitlines() if "`" in line)
    values = {cell[1].strip(" `"): float(cell[3].strip(" *")) for cell in cells}
    assert FIGURE.search(text) and quoted({"benchmark": values}, text) == text
