# SPDX-License-Identifier: BSD-3-Clause
"""Five laws of every command that keeps its finished runs; small_studies.py lists the commands."""

from __future__ import annotations

import errno
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import small_studies
from small_studies import STUDIES, Small, contents

from westwood import __version__
from westwood.evaluation import suites
from westwood.experiments import kept
from westwood.results import disk, folder
from westwood.results.store import Store

Keep = Callable[[Store, Any], None]
Run = Callable[..., Any]


@pytest.fixture(params=STUDIES)
def study(request, monkeypatch) -> Small:
    small = STUDIES[request.param]
    small_studies.shrink(monkeypatch.setattr, small.words)
    return small


@pytest.fixture
def run(westwood, tmp_path, monkeypatch) -> Run:
    """Runs a study in a folder `out`, with another `Store.keep` if one is given."""
    (tmp_path / "swept.toml").write_text(small_studies.SWEPT, encoding="utf-8")

    def runs(words: str, *options: str, keep: Keep = Store.keep) -> Any:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "keep", keep)
            return westwood(*words.split(), "--workers", "1", "--out", "out", *options)

    return runs


def interrupt():
    raise KeyboardInterrupt


def counting(counted: list[Any]) -> Keep:
    keep = Store.keep

    def keep_and_count(self: Store, record: Any) -> None:
        counted.append(record)
        keep(self, record)

    return keep_and_count


def resumed_equals(whole: dict[str, str], study: Small, run: Run, kept: int, total: int) -> None:
    """Continues a study, and checks that it loses and repeats nothing."""
    rest: list[Any] = []
    done = run(study.words, "--resume", keep=counting(rest))
    assert done.code == 0, done.err
    assert contents(Path("out")) == whole
    assert kept + len(rest) == total


_WHOLE: dict[str, tuple[dict[str, str], int]] = {}


@pytest.fixture
def whole(study, run) -> tuple[dict[str, str], int]:
    """Runs a study whole, once; returns its files and the number of records that it keeps."""
    if study.words not in _WHOLE:
        records: list[Any] = []
        done = run(study.words, keep=counting(records))
        assert done.code == 0, done.err
        _WHOLE[study.words] = contents(Path("out")), len(records)
        assert study.writes in _WHOLE[study.words][0]
        shutil.rmtree("out")
    return _WHOLE[study.words]


def test_every_suite_has_a_small_form():
    assert set(suites.MODULES) <= set(STUDIES)


def test_the_number_of_workers_changes_no_byte(study, run, whole):
    assert run(study.words, "--workers", "3").code == 0
    assert contents(Path("out")) == whole[0]


def test_an_interrupted_study_says_how_to_continue_and_ends_the_same(study, run, whole):
    files, count = whole

    done = run(study.words, keep=small_studies.after(count // 2, interrupt))
    assert done.code == 130
    again = f"westwood {study.words} --workers 1 --out out --resume"
    says = r"westwood: interrupted; \d+ .* are kept in out; continue with "
    assert re.fullmatch(says + re.escape(f"{again}\n"), done.err), done.err
    resumed_equals(files, study, run, count // 2, count)


def test_a_kill_loses_and_repeats_nothing(study, run, whole, tmp_path):
    files, count = whole
    words = [*study.words.split(), "--workers", "1", "--out", "out"]
    killed = subprocess.run(
        [sys.executable, small_studies.__file__, str(count - 1), *words], cwd=tmp_path,
        env={**os.environ, "XDG_STATE_HOME": str(tmp_path / "state")},
    )  # fmt: skip
    assert killed.returncode == -signal.SIGKILL
    resumed_equals(files, study, run, count - 1, count)


def test_another_version_or_state_is_refused_and_left_alone(study, run, whole, monkeypatch):
    run(study.words, keep=small_studies.after(whole[1] // 2, interrupt))
    before = {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()}
    if study.other:
        other = run(study.other, "--resume")
        assert other.code == 2 and "holds another" in other.err, other.err
    for module in (folder, kept):
        monkeypatch.setattr(module, "__version__", "9.0")
    later = run(study.words, "--resume")
    assert later.code == 2 and f"westwood {__version__}" in later.err, later.err
    assert later.err.count("\n") == 1
    assert before == {file: file.read_bytes() for file in Path("out").rglob("*") if file.is_file()}


def test_a_full_disk_is_one_line_and_costs_no_run(study, run, whole, monkeypatch):
    files, count = whole

    def refuse(*_: object):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    with monkeypatch.context() as patch:
        full = small_studies.after(count // 2, lambda: patch.setattr(disk, "append", refuse))
        done = run(study.words, keep=full)
    assert done.code == 1, done.err
    expected = "out: can't be written: No space left on device; continue with --resume\n"
    assert done.err.endswith(expected) and done.err.count("\n") == 1
    resumed_equals(files, study, run, count // 2, count)
