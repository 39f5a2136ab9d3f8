# SPDX-License-Identifier: BSD-3-Clause
"""`westwood evaluate`: its page, how it continues, and what it refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Westwood = Callable[..., Any]
QUICK = ("evaluate", "reno", "--only", "queue", "--quick", "--out", "page")


@pytest.fixture(autouse=True)
def _own_ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def test_the_page_has_the_verdict_its_threshold_and_the_command(westwood: Westwood) -> None:
    done = westwood(*QUICK)
    assert "Does it keep queues short?       fails" in done.out
    page = Path("page/index.html").read_text(encoding="utf-8")
    assert "at most 1" in page
    assert "RFC 9743, 5.1.2" in page
    assert "westwood evaluate reno --quick --only queue --out queue" in page
    assert "reno: seed 1, look 1, a fresh one." in page
    assert Path("page/scenarios/1-queue.toml").exists()


def test_a_killed_evaluation_runs_only_what_is_missing(westwood: Westwood) -> None:
    westwood(*QUICK)
    first = Path("page/answers.json").read_bytes()
    journal = Path("page/journal.jsonl")
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:7]))
    westwood(*QUICK, "--resume")
    assert Path("page/answers.json").read_bytes() == first
    assert journal.read_bytes().splitlines(keepends=True)[:7] == lines[:7]


def test_text_for_a_pull_request_says_what_fails_and_which_seed_was_seen(
    westwood: Westwood,
) -> None:
    lines = westwood(*QUICK, "--markdown").out.splitlines()
    (line,) = (one for one in lines if one.startswith("| Does it keep queues short?"))
    assert "fails" in line
    assert "reno: seed 1, look 1, a fresh one." in lines
    assert "`reno` fails 1 of 1 criteria:" in lines


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (("reno", "--only", "quee"), "no such part or criterion"),
        (("renoo",), "unknown protocol"),
        (("reno", "--against", "cubik"), "--against"),
        (("reno", "--quick", "--full"), "--full"),
        (("reno", "--seed", "0"), "--seed"),
        (("reno", "--json", "--markdown"), "--markdown: has no effect with --json"),
        ((), "CC"),
    ],
)
def test_wrong_input_is_one_line(
    westwood: Westwood, options: tuple[str, ...], problem: str
) -> None:
    done = westwood("evaluate", *options, "--out", "page")
    assert done.code == 2
    assert problem in done.err
    assert len(done.err.splitlines()) == 1


def test_a_folder_of_another_version_is_refused(westwood: Westwood) -> None:
    westwood(*QUICK)
    state = Path("page/evaluation.json")
    found = json.loads(state.read_text(encoding="utf-8"))
    assert found["version"]
    done = westwood(*QUICK[:-2], "--seed", "2", "--out", "page", "--resume")
    assert done.code == 2
    assert "holds another evaluation" in done.err


def test_a_fresh_look_has_a_seed_that_nobody_has_seen(westwood: Westwood) -> None:
    for number, folder in enumerate(("first", "second"), start=1):
        westwood(*QUICK[:-1], folder, "--fresh")
        page = Path(folder, "index.html").read_text(encoding="utf-8")
        assert f"reno: seed {number}, look {number}, a fresh one" in page
