# SPDX-License-Identifier: BSD-3-Clause
"""`westwood list` and the tables of docs/ show everything that is declared."""

import pytest

from tools import declared_tables, pages
from westwood import _engine
from westwood.cli import call
from westwood.control.catalogue import (
    IMPAIRMENTS,
    LOSSES,
    OF_STACKS,
    PROTOCOLS,
    QUEUES,
    controls_of_stack,
    settings_of,
)
from westwood.reference import LISTINGS, listing
from westwood.results.columns import columns
from westwood.scenario import presets, profiles


def names(listing_name: str) -> set[str]:
    return {cells[0].strip("`") for cells in listing(listing_name).rows}


def test_no_declaration_is_missing():
    of_stacks = {name for stack in OF_STACKS for name in controls_of_stack(stack)}
    assert names("protocols") == set(PROTOCOLS) | of_stacks
    assert names("presets") == set(presets())
    assert names("profiles") == set(profiles.names())
    assert names("columns") == {column.name for column in columns()}
    for section in ("cc", "flow", "link", *QUEUES):
        assert names(f"{section}-settings") == set(settings_of(section))
    assert names("loss-settings") == set(LOSSES)
    assert names("impairment-settings") == set(IMPAIRMENTS)
    assert names("step-columns") == set(_engine.STEP_COLUMNS)


@pytest.mark.parametrize("name", [*LISTINGS, "profile linux"])
def test_a_listing_has_a_text_in_every_first_and_last_cell(name):
    text = listing(name)
    for cells in text.rows:
        assert len(cells) == len(text.heads) and cells[0] and cells[-1], cells
    assert text.markdown().count("\n") == len(text.rows) + 1


@pytest.mark.parametrize("name", [*LISTINGS, "profile rfc"])
def test_the_command_prints_it(name, capsys):
    assert call(["list", *name.split()]) == 0
    assert listing(name).rows[0][0].strip("`") in capsys.readouterr().out


def test_an_unknown_list_is_one_line(capsys):
    assert call(["list", "protocol"]) == 2
    expected = 'westwood: "protocol": no such list, did you mean "protocols"?\n'
    assert capsys.readouterr().err == expected


@pytest.mark.parametrize("page", declared_tables.PAGES, ids=lambda page: page.name)
def test_a_page_has_the_tables_of_the_declarations(page):
    text = page.read_text(encoding="utf-8")
    for mark, table in declared_tables.tables(text).items():
        assert pages.table_of(mark, text) == table, f"{mark}: make manual"


def test_the_guide_shows_every_listing_and_profile():
    shown = {
        name
        for page in declared_tables.PAGES
        for name in declared_tables.names(page.read_text(encoding="utf-8"))
    }
    assert {*LISTINGS, *(f"profile {name}" for name in profiles.names())} - shown == {"engines"}
