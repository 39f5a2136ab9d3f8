# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the subject of each commit which is not upstream yet has at most 72 characters.

Upstream is the branch that this one follows, else origin's main branch. Without either, and outside
of a clone, nothing is checked.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIMIT = 72


def main() -> int:
    problems = list(too_long(ROOT))
    print("\n".join(problems) or f"no new commit's subject has more than {LIMIT} characters")
    return 1 if problems else 0


def too_long(root: Path) -> Iterator[str]:
    """Yields a line for each new commit whose subject is too long."""
    for upstream in ("@{upstream}", "origin/HEAD"):
        if (log := _git(root, "log", "--format=%h %s", f"{upstream}..HEAD")) is not None:
            break
    for line in (log or "").splitlines():
        commit, _, subject = line.partition(" ")
        if len(subject) > LIMIT:
            long = f"a subject of {len(subject)} characters, more than {LIMIT}"
            yield f"{commit}: {long}; git commit --amend or git rebase -i: {subject}"


def _git(root: Path, *words: str) -> str | None:
    """Returns what git prints; None where it fails or is missing."""
    try:
        done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True)
    except FileNotFoundError:
        return None
    return done.stdout if done.returncode == 0 else None


if __name__ == "__main__":
    sys.exit(main())
