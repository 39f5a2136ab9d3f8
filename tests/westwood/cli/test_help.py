# SPDX-License-Identifier: BSD-3-Clause
"""What a newcomer meets first: bare commands, -h, completion, the manual page."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from tools import manual
from westwood.cli.commands import app
from westwood.experiments.validation import TIMES


def commands(group: Any, *words: str) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Walks over the commands, and the commands within them."""
    yield words, group
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *words, name)


def titles(text: str) -> list[str]:
    return re.findall(r"^([A-Z].*):$", text, re.M)


MOST_IN_A_GROUP = 9
ALL = dict(commands(typer.main.get_command(app)))


@pytest.mark.parametrize(
    "words", [words for words, command in ALL.items() if hasattr(command, "commands")]
)
def test_a_bare_command_shows_its_help(words, westwood):
    called = westwood(*words)
    assert (called.code, called.err) == (0, "")
    assert called.out.splitlines()[0].startswith(" ".join(["Usage: westwood", *words]))
    assert "\\n" not in called.out and titles(called.out)[-1] == "Options"


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_fits_80_columns_and_cuts_no_sentence(words, westwood, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    called = westwood(*words, "-h")
    assert (called.code, called.err) == (0, "")
    assert max(map(len, called.out.splitlines())) <= 80
    cut = [line for line in called.out.splitlines()[1:] if line.endswith("...")]
    assert cut == [], "the first sentence of a command's help is its line in the list"


GROUPS = [
    words for words, command in ALL.items() if len(words) == 1 and hasattr(command, "commands")
]


@pytest.mark.parametrize("words", GROUPS, ids=" ".join)
def test_a_group_says_in_a_line_each_what_its_commands_decide(words, westwood, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    out = westwood(*words, "-h").out
    lines = out.partition("\nCommands:\n")[2].partition("\n\n")[0].splitlines()
    assert [line.split()[0] for line in lines] == list(ALL[words].commands)
    assert all(line.endswith(".") for line in lines)


@pytest.mark.parametrize(
    ("words", "takes"),
    [(["reproduce"], "14 000 runs"), (["validate", "--engine", "quinn"], "half a minute")],
)
def test_a_long_command_asks_at_a_terminal_and_only_there(words, takes, westwood, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(
        "typer.confirm",
        lambda text, **settings: asked.append(text),  # None, as a no
    )
    monkeypatch.setattr("westwood.cli.console.at_terminal", lambda: True)
    called = westwood(*words)
    assert (called.code, called.out) == (0, "") and not list(Path.cwd().iterdir())
    assert takes in asked[0]


def test_the_page_says_how_long_each_engine_takes():
    page = (Path(__file__).parents[3] / "docs" / "cli.md").read_text(encoding="utf-8")
    section = page.partition("\n## validate\n")[2].partition("\n## ")[0]
    assert all(f"| {time} |" in section for time in set(TIMES.values()))


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_help_is_a_sentence_an_example_and_options_in_groups(words, westwood):
    out = westwood(*words, "-h").out
    above = out.partition("\n\n")[2].partition("Options:")[0]
    assert re.match(r"  [A-Z](?:[^.]|\.\d)+\.\n", above), "one sentence"
    assert f"Example: westwood {' '.join(words)}" in " ".join(above.split())
    options = [param for param in ALL[words].params if param.param_type_name == "option"]
    if len(options) > MOST_IN_A_GROUP:
        assert len(titles(out)) > 2, "many options are in groups"


def test_the_first_level_has_five_panels(westwood):
    panels = titles(westwood("-h").out)
    assert panels == [
        "Daily",
        "Your Linux and your path",
        "Other simulators",
        "Write and judge a congestion control",
        "Papers",
        "Options",
    ]
    assert len(ALL[()].commands) <= 15


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("run tabl", {"table1"}),
        ("run table1 --cc westwoodn", {"westwoodnr", "westwoodnr+"}),
        ("compare --cc reno,westwoodn", {"reno,westwoodnr", "reno,westwoodnr+"}),
        ("compare --engine l", {"linux", "linux-um"}),
        ("rep", {"report", "reproduce"}),
    ],
)
def test_the_shell_completes_names(words, expected):
    asked = {
        "_WESTWOOD_COMPLETE": "complete_bash",
        "COMP_WORDS": f"westwood {words}",
        "COMP_CWORD": str(len(words.split())),
    }
    main = "import sys; from westwood.cli import main; sys.argv = ['westwood']; main()"
    done = subprocess.run(
        [sys.executable, "-c", main], env={**os.environ, **asked}, capture_output=True, text=True
    )
    assert set(done.stdout.split()) == expected, done.stderr


def test_the_manual_page_is_of_this_help():
    assert manual.PAGE.read_text() == manual.page(), "make manual"
