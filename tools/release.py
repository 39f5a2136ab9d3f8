# SPDX-License-Identifier: BSD-3-Clause
"""Builds a release into build/dist: `make release`, described in RELEASING.md.

This commit's tag, the package's version and the newest section of the changelog must agree, and
nothing may be uncommitted. Otherwise it prints every error and builds nothing.
"""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "build" / "dist"
SECTION = re.compile(r"^## \[(\d[^\]]*)\] - \d{4}-\d\d-\d\d$", re.M)  # of a dated release


def git(*words: str) -> str:
    return subprocess.run(
        ["git", *words], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout


def complaints(version: str, changelog: str, tags: list[str], uncommitted: str) -> list[str]:
    """Returns why this commit is not the release of `version`."""
    newest = SECTION.search(changelog)
    problems = []
    if f"v{version}" not in tags:
        problems.append(f"this commit has no tag v{version}: git tag --sign v{version}")
    if newest is None or newest[1] != version:
        there = newest[1] if newest else "undated"
        problems.append(f"CHANGELOG.md: the newest section is {there}, not {version}")
    if uncommitted:
        problems.append(f"uncommitted changes:\n{uncommitted.rstrip()}")
    return problems


def version() -> str:
    """Returns the version in westwood/__init__.py."""
    source = (ROOT / "westwood" / "__init__.py").read_text()
    match = re.search(r'^__version__ = "(.+)"$', source, re.M)
    if match is None:
        sys.exit("westwood/__init__.py has no __version__")
    return match[1]


def main() -> int:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    tags = git("tag", "--points-at", "HEAD").split()
    problems = complaints(version(), changelog, tags, git("status", "--porcelain"))
    if problems:
        print("\n".join(problems))
        return 1
    for words in (["tools/wheel.py", str(DIST)], ["tools/check_wheel.py", str(DIST)]):
        subprocess.run([sys.executable, *words], cwd=ROOT, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
