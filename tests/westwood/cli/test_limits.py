# SPDX-License-Identifier: BSD-3-Clause
"""Limits of the shell that leave too little are one line, and no file is left behind."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import nobody
import pytest

from westwood.cli import limits
from westwood.engines import machine
from westwood.errors import RunError

SMALL = Path(__file__).parents[1] / "small.toml"


def limited(limit: str, arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Runs the command line under a limit of the shell."""
    command = f"ulimit {limit}; exec {sys.executable} -m westwood {arguments}"
    return subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)


@pytest.mark.parametrize("kilobytes", [300_000, 500_000, 900_000, 1_100_000])
@pytest.mark.parametrize(
    "arguments",
    [
        "trace table1 --set duration=5s --events --out out",
        "sweep table1 --set duration=5s --seeds 2 --out out",
    ],
)
def test_little_memory_is_said_before_anything_is_written(kilobytes, arguments, tmp_path):
    done = limited(f"-v {kilobytes}", arguments, tmp_path)
    assert done.returncode == 1, done.stderr
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"westwood: ulimit -v {kilobytes} leaves too little memory")
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("cores", [1, 2, 4])
def test_the_memory_that_is_asked_for_is_enough(cores, monkeypatch):
    """The process itself takes 300 MB of what `ulimit -v` allows."""

    def check(kilobytes: int) -> None:
        monkeypatch.setattr(machine, "left_by_ulimit", lambda: 1024 * kilobytes - (300 << 20))
        limits._check_memory(1024 * kilobytes)

    monkeypatch.setattr(os, "cpu_count", lambda: cores)
    with pytest.raises(RunError, match="leaves too little memory") as error:
        check(400_000)
    enough = int(re.findall(r"expected (\d+) or more", str(error.value))[0])
    check(enough)
    with pytest.raises(RunError):
        check(enough - 1)


def test_what_needs_no_tables_runs_with_little_memory(tmp_path):
    done = limited("-v 900000", "run table1 --set duration=5s --seeds 1", tmp_path)
    assert done.returncode == 0, done.stderr


def test_a_small_stack_is_said(tmp_path):
    done = limited("-s 120", "--help", tmp_path)
    assert done.returncode == 1, done.stderr
    assert done.stderr == "westwood: the stack may take 120 kB, expected ulimit -s 128 or more\n"


@pytest.mark.skipif(bool(nobody.missing_reason()), reason=str(nobody.missing_reason()))
@pytest.mark.parametrize(
    ("arguments", "threads", "expected"),
    [
        ("list protocols", 1, "can't start new thread, expected a higher limit (ulimit -u)"),
        ("run small.toml --workers 8", 2, "can't start new thread, expected fewer workers, or a"),
        ("trace small.toml --out out", 9, "ulimit -u leaves 7 threads for tables, expected "),
    ],
)
def test_few_threads_are_said_before_anything_is_written(arguments, threads, expected, tmp_path):
    folder = nobody.owned(tmp_path / "home")
    (folder / "small.toml").write_bytes(
        Path(__file__).parents[1].joinpath("small.toml").read_bytes()
    )
    done = nobody.westwood(arguments.split(), folder, f"--nproc={threads}")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"westwood: {expected}")
    assert not (folder / "out").exists()
