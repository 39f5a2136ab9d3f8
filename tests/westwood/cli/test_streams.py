# SPDX-License-Identifier: BSD-3-Clause
"""A command keeps its results when standard output fails, and its last line reports the failure."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

COMMAND = f"{sys.executable} -m westwood run table1 --seeds 2 --set duration=1s --out r"


def sh(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["sh", "-c", command], capture_output=True, text=True, cwd=folder)


@pytest.mark.parametrize(
    ("redirected", "code", "expected"),
    [
        (">&-", 1, "westwood: standard output can't be written: Bad file descriptor\n"),
        ("--json >/dev/full", 1, "westwood: standard output can't be written: No space left"),
        ("2>&- <&-", 0, ""),
        (">&- 2>&-", 1, ""),
        ("2>/dev/full", 0, ""),
    ],
)
def test_no_stream_costs_a_result(redirected, code, expected, tmp_path):
    done = sh(f"{COMMAND} {redirected}", tmp_path)
    assert done.returncode == code
    assert done.stderr.startswith(expected) and done.stderr.count("\n") == (expected != "")
    assert pl.read_parquet(tmp_path / "r" / "runs.parquet").height == 2


def test_what_an_encoding_lacks_is_written_in_ascii(tmp_path):
    done = sh(f"PYTHONIOENCODING=ascii {COMMAND}", tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "+- " in done.stdout and done.stdout.isascii()


def test_a_mistake_has_its_exit_code_even_if_nobody_can_read_it(tmp_path):
    assert sh(f"{sys.executable} -m westwood run nowhere 2>/dev/full", tmp_path).returncode == 2
