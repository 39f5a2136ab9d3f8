# SPDX-License-Identifier: BSD-3-Clause
"""The outputs of commands in pages are those that the commands print."""

import pytest

from tools import shown

# These take seconds each.
LONG = {"docs/evaluation.md-0", "docs/evaluation.md-1", "docs/your-own-control.md-0"}
NAMED = {
    f"{name}-{number}": block
    for name in shown.PAGES
    for number, block in enumerate(shown.BLOCK.findall((shown.ROOT / name).read_text()))
}
BLOCKS = [
    pytest.param(block, id=name, marks=pytest.mark.slow if name in LONG else ())
    for name, block in NAMED.items()
]


@pytest.mark.parametrize("block", BLOCKS)
def test_a_shown_output_is_what_the_command_prints(block):
    assert shown.commands_of(block)
    assert shown.written(block) == block


def test_the_long_ones_are_in_the_pages():
    assert NAMED.keys() >= LONG


def test_the_readme_shows_a_command_with_its_output():
    (block,) = shown.BLOCK.findall((shown.ROOT / "README.md").read_text())
    assert len(shown.commands_of(block)) == 1 and len(block.splitlines()) > 2


def test_a_command_may_continue_on_the_next_line():
    block = "$ westwood compare \\\n    --loss 1%\nold\n$ westwood list\n"
    assert shown.commands_of(block) == ["westwood compare     --loss 1%", "westwood list"]
    assert shown.typed(block) == ["$ westwood compare \\\n    --loss 1%\n", "$ westwood list\n"]


def test_an_output_may_be_cut(monkeypatch):
    monkeypatch.setattr(shown, "run", lambda command: f"{command}\nb\nc\n")
    assert shown.written("$ westwood x\nold\nold\n...\n") == "$ westwood x\nwestwood x\nb\n...\n"
    assert shown.written("$ westwood x\nold\n") == "$ westwood x\nwestwood x\nb\nc\n"


def test_every_drawn_picture_exists():
    for name in shown.PAGES:
        page = shown.ROOT / name
        for command, picture in shown.PICTURE.findall(page.read_text()):
            assert command.startswith("westwood ") and (page.parent / picture).is_file()
