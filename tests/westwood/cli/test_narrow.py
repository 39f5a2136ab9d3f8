# SPDX-License-Identifier: BSD-3-Clause
"""On a terminal of 80 columns no table cuts a name, a number or a word that has to be typed."""

import re
from collections.abc import Callable

import pytest

from westwood.cli.console import LEFT_OUT_FIRST
from westwood.control.catalogue import PROTOCOLS, label, settings_of
from westwood.reference import LISTINGS, listing
from westwood.results.columns import columns

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
QUICK = ("--set", "duration=5s", "--seeds", "2")


@pytest.fixture
def printed(westwood, monkeypatch) -> Callable[..., str]:
    """Returns what a command prints on a terminal of a width, without its colours."""

    def run(width: int, *arguments: str) -> str:
        monkeypatch.setenv("FORCE_COLOR", "1")  # makes rich take the captured output for a terminal
        monkeypatch.setenv("TERM", "xterm")
        monkeypatch.setenv("COLUMNS", str(width))
        text = _STYLE.sub("", westwood(*arguments).printed())
        assert all(len(line) <= width for line in text.splitlines())
        return text

    return run


@pytest.mark.parametrize("width", [80, 100, 120])
@pytest.mark.parametrize("name", [*LISTINGS, "profile linux", "profile rfc"])
def test_a_listing_is_not_cut(name, width, printed):
    text = printed(width, "list", *name.split())
    assert "…" not in text
    words = set(text.split())
    for cells in listing(name).rows:
        assert cells[0].strip("`") in words


def test_the_choices_of_a_setting_are_whole(printed):
    text = printed(80, "list", "cc-settings")
    for setting in settings_of("cc").values():
        for word in setting.choices:
            assert f'"{word}"' in text


def test_the_hosts_names_of_protocols_are_whole(printed):
    text = printed(80, "list", "protocols")
    for protocol in PROTOCOLS.values():
        assert protocol.ns3 in text and protocol.kernel in text


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_of_a_run_leaves_columns_out(width, printed):
    names = ("newreno", "westwood+", "westwood+-ns3")
    text = printed(width, "run", "table1", *QUICK, *(f"--cc={name}" for name in names))
    assert "…" not in text
    table = text.partition("Goodput against")[0]
    rows = [line for line in table.splitlines() if "±" in line]
    assert len(rows) == len(names)
    for name, row in zip(names, rows, strict=True):
        assert label(name) in row and re.search(r"\d ± \d+\.\d{3}", row)
    hint = "A wider terminal or --json also shows: fast recoveries, cwnd segments"
    assert hint in text.replace("\n", " ")


def test_a_terminal_too_narrow_for_any_table_has_its_cells_below_each_other(printed):
    text = printed(30, "run", "table1", *QUICK, "--cc", "westwood+-ns3")
    assert "  Westwood+ (ns-3, 2013)\n" in text and "goodput Mb/s: " in text and "…" not in text


def test_a_wide_terminal_shows_what_a_pipe_does(printed, westwood, monkeypatch):
    commands = (("list", "cc-settings"), ("run", "table1", *QUICK))
    wide = [printed(160, *command) for command in commands]
    monkeypatch.delenv("FORCE_COLOR")
    assert wide == [westwood(*command).out for command in commands]


def test_the_columns_that_are_left_out_are_in_the_table():
    assert set(LEFT_OUT_FIRST) < {column.name for column in columns() if column.head}


def test_a_flow_limited_by_its_application_says_so_in_a_narrow_table(printed):
    slow = 'tcp.app={kind="rate", rate="1Mbps"}'
    text = printed(80, "compare", "--loss", "0", "--cc", "cubic", "--duration", "5s", "--set", slow)
    assert "limited %" in text.partition("A wider terminal")[0]
