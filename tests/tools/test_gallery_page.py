# SPDX-License-Identifier: BSD-3-Clause
"""docs/family.md shows the numbers of docs/gallery.json, which are today's simulator's."""

from __future__ import annotations

import json

from tools import gallery_page, pages
from westwood.control import gallery

STORED = json.loads(gallery_page.FILE.read_text(encoding="utf-8"))
CURE = "run: python -m tools.gallery_page"


def test_the_page_has_the_table_of_the_file() -> None:
    text = gallery_page.PAGE.read_text(encoding="utf-8")
    for name, table in gallery_page.tables(STORED).items():
        assert pages.table_of(name, text) == table, CURE


def test_the_file_has_each_control() -> None:
    assert set(STORED["goodput"]) == {*gallery.names(), *gallery_page.BESIDE}, CURE


def test_the_numbers_are_those_of_todays_simulator() -> None:
    assert gallery_page.measured("hybla.c") == STORED["goodput"]["hybla.c"], CURE
