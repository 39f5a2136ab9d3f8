# SPDX-License-Identifier: BSD-3-Clause
"""Where figures go and how large they are, and several protocols in one: run, trace, compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.image import imread

from westwood.draw.views import VIEWS

SHORT = ("--set", "duration=3s")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_figure_is_a_pdf_of_the_size_and_title_that_are_asked_for(
    westwood: Callable[..., Any], tmp_path: Path
) -> None:
    asked = ("--figure", "mine.pdf", "--size", "72x144mm", "--title", "A $ and a $")
    called = westwood("trace", "path", *SHORT, *asked)
    assert (called.code, called.out) == (0, "mine.pdf\n"), called.err
    written = (tmp_path / "mine.pdf").read_bytes()
    assert written.startswith(b"%PDF-") and b"/MediaBox [ 0 0 204.09" in written  # points
    assert [path.name for path in tmp_path.iterdir()] == ["mine.pdf"]
    asked = ("--figure", "bars.png", "--size", "5x3in")
    compared = westwood("compare", "--duration", "2s", "--seeds", "2", "--cc", "bbr", *asked)
    assert compared.code == 0 and imread(tmp_path / "bars.png").shape[:2] == (480, 800)


def test_protocols_are_drawn_over_each_other(westwood: Callable[..., Any], tmp_path: Path) -> None:
    called = westwood("trace", "path", *SHORT, "--cc", "cubic", "--cc", "bbr", "--plot")
    assert called.code == 0, called.err
    drawn = (tmp_path / "path-trace.svg").read_text("utf-8")
    assert "<!-- CUBIC -->" in drawn and "<!-- BBRv1 -->" in drawn


@pytest.mark.parametrize("view", [name for name in VIEWS if name != "windows"])
def test_a_view_has_its_own_file(view: str, westwood: Callable[..., Any], tmp_path: Path) -> None:
    called = westwood("trace", "path", *SHORT, "--view", view, "--plot")
    assert (called.code, called.out) == (0, f"path-{view}.png\n"), called.err


def test_the_part_that_run_draws_is_chosen_by_the_user(
    westwood: Callable[..., Any], tmp_path: Path
) -> None:
    asked = ("--seeds", "1", "--plot", "--from", "1s", "--to", "2s")
    assert westwood("run", "path", *SHORT, *asked).code == 0
    assert "1 to 2 s of 3 s" in (tmp_path / "path.svg").read_text("utf-8")
