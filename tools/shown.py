# SPDX-License-Identifier: BSD-3-Clause
"""Writes the output of the commands that pages show: python -m tools.shown [PAGE...].

A Markdown page may mark two kinds of places:

    <!-- shown -->                   the console block below: each line `$ westwood ...` is run, and
                                     its output follows the line, up to a line "..." of the page
    <!-- drawn: westwood run ... --> the picture below: the command is run with --figure

With --check nothing is written, and the exit code is 1 if a console block is out of date.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGES = ("README.md", *sorted(str(page.relative_to(ROOT)) for page in ROOT.glob("docs/**/*.md")))
BLOCK = re.compile(r"(?<=^<!-- shown -->\n```console\n).*?(?=^```$)", re.M | re.S)
PICTURE = re.compile(r"^<!-- drawn: (westwood .*?) -->\n!\[.*?\]\((.*?)\)", re.M | re.S)
COLUMNS = "100"  # of the terminal in the pages


def run(command: str, *more: str) -> str:
    """Runs `westwood ...` in an empty folder; returns its output without trailing blanks."""
    program, *words = shlex.split(command, comments=True)
    environment = os.environ | {"COLUMNS": COLUMNS, "NO_COLOR": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [Path(sys.executable).parent / program, *words, *more],
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            text=True,
            check=False,
        )
    if done.returncode != 0 and not (done.returncode == 1 and done.stdout):  # 1: a test case failed
        raise subprocess.CalledProcessError(done.returncode, command)
    return "".join(f"{line.rstrip()}\n" for line in done.stdout.rstrip().splitlines())


def commands_of(block: str) -> list[str]:
    """Returns the commands of a console block, with lines joined after a backslash."""
    joined = block.replace("\\\n", "")
    return [line.removeprefix("$ ") for line in joined.splitlines() if line.startswith("$ ")]


_TYPED = re.compile(r"^\$ (?:.*\\\n)*.*\n", re.M)
_REST = "...\n"


def typed(block: str) -> list[str]:
    """Returns the commands as written, with their continuation lines."""
    return _TYPED.findall(block)


def written(block: str) -> str:
    """Returns a console block with the present output of its commands.

    Where a page ends an output with "...", it keeps as many lines as are shown.
    """
    parts = zip(typed(block), commands_of(block), _TYPED.split(block)[1:], strict=True)
    return "".join(
        as_typed + _as_long_as(shown, run(command)) for as_typed, command, shown in parts
    )


def _as_long_as(shown: str, output: str) -> str:
    if not shown.endswith(_REST):
        return output
    lines = shown.count("\n") - 1
    return "".join(output.splitlines(keepends=True)[:lines]) + _REST


def draw(page: Path, text: str) -> None:
    """Draws the pictures that a page shows."""
    for command, picture in PICTURE.findall(text):
        run(" ".join(command.split()), "--figure", str(page.parent / picture))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing")
    parser.add_argument("pages", nargs="*", default=PAGES, metavar="PAGE")
    chosen = parser.parse_args()
    stale = False
    for name in chosen.pages:
        page = ROOT / name
        text = page.read_text(encoding="utf-8")
        now = BLOCK.sub(lambda match: written(match[0]), text)
        if chosen.check and now != text:
            print(f"{name}: out of date: python -m tools.shown {name}")
            stale = True
        elif not chosen.check:
            page.write_text(now, encoding="utf-8")
            draw(page, now)
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
