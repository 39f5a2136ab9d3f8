# SPDX-License-Identifier: BSD-3-Clause
"""Every command that a page shows exists, and has the options that the page gives it."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from westwood.cli.commands import app

ROOT = Path(__file__).parents[3]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "SECURITY.md",
    *map(str, sorted(ROOT.glob("docs/**/*.md"))),
)
BLOCK = re.compile(r"^```(?:sh|console)\n(.*?)^```", re.M | re.S)
TYPED = re.compile(r"^(?:\$ )?(?:sudo )?(?:\S*/)?westwood (.*)$|&& (?:\S*/)?westwood (.*)$", re.M)
INLINE = re.compile(r"`(?:sudo )?westwood ([^`]+)`")
ENDS = {"&&", "||", "|", ";", ">", "--", "..."}
WRONG = {"compare --capacity"}  # CONTRIBUTING.md shows the message that it leads to


def lines(page: str) -> Iterator[str]:
    """Yields what follows `westwood` wherever a page has a command."""
    text = (ROOT / page).read_text(encoding="utf-8")
    for block in BLOCK.findall(text):
        for found in TYPED.findall(block.replace("\\\n", " ")):
            yield from filter(None, found)
    yield from INLINE.findall(text)


def problem(line: str) -> str:
    """Returns the part of a command line that does not exist; "" if all of it exists."""
    command: Any = typer.main.get_command(app)
    words = shlex.split(line.split("...")[0], comments=True)
    path = []
    while words and (names := getattr(command, "commands", {})):
        name = words.pop(0)
        if name.startswith("-"):
            return "" if name in ("-h", "--help", "--version", "--install-completion") else name
        if name.isupper():
            return ""  # COMMAND stands for any
        wrong = [one for one in name.split("|") if one not in names]
        if wrong:
            return f"{' '.join(path)} {wrong[0]}"
        if "|" in name:
            return ""
        path.append(name)
        command = names[name]
    known = {name for one in command.params for name in (*one.opts, *one.secondary_opts)}
    for word in words:
        if word in ENDS:
            break
        option = word.partition("=")[0]
        if option.startswith("--") and option not in known | {"--help"}:
            return f"{' '.join(path)} {option}"
    return ""


@pytest.mark.parametrize("page", PAGES, ids=lambda page: Path(page).name)
def test_what_a_page_types_exists(page: str) -> None:
    found = {line: problem(line) for line in lines(page)}
    assert {line: one for line, one in found.items() if one and one not in WRONG} == {}


def test_mistakes_are_seen() -> None:
    assert len(list(lines("README.md"))) > 5
    assert problem("try HOST") == " try"
    assert problem("kernel doctor|lode") == "kernel lode"
    assert problem("run table1 --sed 3 | head") == "run --sed"
    assert problem("path emulate --rate 2Mbps -- curl --silent") == ""
