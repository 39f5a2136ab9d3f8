# SPDX-License-Identifier: BSD-3-Clause
"""The linter of commit subjects looks at new commits only."""

import subprocess
from pathlib import Path

from tools import check_commits

LONG = "x" * (check_commits.LIMIT + 1)


def git(folder: Path, *words: str) -> None:
    name = ("-c", "user.name=n", "-c", "user.email=e@example.org")
    subprocess.run(["git", *name, *words], cwd=folder, check=True, capture_output=True)


def test_a_long_subject_is_named_until_it_is_upstream(tmp_path):
    upstream, clone = tmp_path / "upstream", tmp_path / "clone"
    git(tmp_path, "init", "-b", "main", "upstream")
    git(upstream, "commit", "--allow-empty", "-m", "old " + LONG)
    git(tmp_path, "clone", "upstream", "clone")
    assert list(check_commits.too_long(clone)) == []

    git(clone, "commit", "--allow-empty", "-m", LONG[1:])
    git(clone, "switch", "-c", "mine")
    git(clone, "commit", "--allow-empty", "-m", LONG, "-m", "The reason. " + LONG)
    (problem,) = check_commits.too_long(clone)
    assert ": a subject of 73 characters, more than 72; " in problem and problem.endswith(LONG)


def test_without_an_upstream_nothing_is_checked(tmp_path):
    assert list(check_commits.too_long(tmp_path)) == []
    git(tmp_path, "init", "-b", "main")
    git(tmp_path, "commit", "--allow-empty", "-m", LONG)
    assert list(check_commits.too_long(tmp_path)) == []
