# SPDX-License-Identifier: BSD-3-Clause
"""Builds ns3/ against more releases, and in more ways, than `make test` does: see docs/ns3.md."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
LACKING = 77
pytestmark = pytest.mark.slow


def holds(*words: str):
    done = subprocess.run([sys.executable, *words], cwd=ROOT, capture_output=True, text=True)
    if done.returncode == LACKING:
        pytest.skip(done.stdout.strip())
    assert done.returncode == 0, done.stdout[-5000:]


# WESTWOOD_NS3_TREES names the folder of these trees; by default it has 3.37, 3.43 and 3.48.
BETWEEN = ["3.38", "3.39", "3.40", "3.41", "3.42", "3.43", "3.44", "3.45", "3.46", "3.46.1", "3.47"]


@pytest.mark.parametrize(
    ("release", "how"), [("3.37", "--copied"), ("3.48", "--slow"), ("dev", "")]
)
def test_the_module_builds_and_passes_in_ns3s_own_tree(release, how):
    holds("tools/ns3_tree.py", release, *([how] if how else []))


@pytest.mark.parametrize("release", BETWEEN)
def test_the_whole_module_compiles_in_the_releases_between(release):
    holds("tools/ns3_tree.py", release, "--compile")


@pytest.mark.parametrize("release", ["3.39.post2", "3.42.post2", "3.43.post9"])
def test_the_module_builds_and_passes_against_older_wheels(release):
    holds("tools/ns3_module.py", "wheel", release)


def test_the_figures_of_the_2013_paper_hold_in_ns3():
    holds("tools/ns3_module.py", "wheel", "--slow")
