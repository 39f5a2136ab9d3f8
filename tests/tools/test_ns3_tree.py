# SPDX-License-Identifier: BSD-3-Clause
"""tools/ns3_tree.py names a missing ns-3 source tree, and leaves trees unchanged."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools import ns3_tree

TOOL = Path(ns3_tree.__file__)


@pytest.mark.parametrize(
    ("release", "trees", "expected"),
    [
        ("3.47", "", "WESTWOOD_NS3_TREES names no folder with an ns-3 source tree in 3.47/"),
        ("dev", "there", "there/dev is not an ns-3 source tree (WESTWOOD_NS3_TREES)"),
    ],
)
def test_a_missing_tree_is_named(release, trees, expected, tmp_path):
    given = {key: value for key, value in os.environ.items() if key != ns3_tree.VARIABLE}
    if trees:
        given[ns3_tree.VARIABLE] = trees
    done = subprocess.run(
        [sys.executable, TOOL, release], cwd=tmp_path, env=given, capture_output=True, text=True
    )
    assert (
        done.returncode == ns3_tree.LACKING and done.stdout == f"{expected}\n" and not done.stderr
    )


def test_a_tree_is_copied_without_what_was_built_in_it(tmp_path):
    tree, copy = tmp_path / "3.48", tmp_path / "copy"
    for name in ("VERSION", "ns3", "src/core/a.cc", "build/lib/libns3.so", "cmake-cache/x"):
        (tree / name).parent.mkdir(parents=True, exist_ok=True)
        (tree / name).write_text(name)
    assert ns3_tree.copied(tree, copy) == copy
    assert {path.name for path in copy.iterdir()} == {"VERSION", "ns3", "src"}
    built = copy / "src" / "core" / "a.cc"
    first = built.stat()
    ns3_tree.copied(tree, copy)
    assert built.stat().st_ctime_ns == first.st_ctime_ns  # otherwise everything is compiled again
    (tree / "src" / "core" / "a.cc").write_text("changed")
    ns3_tree.copied(tree, copy)
    assert built.read_text() == "changed"
