# SPDX-License-Identifier: BSD-3-Clause
"""Proofs can fail: tools/prove.py finds a defect in a copy of the core."""

import shutil
import subprocess
import sys

import pytest

from tools import prove

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not shutil.which("frama-c"), reason="no frama-c-base"),
]


@pytest.mark.parametrize(
    ("file", "right", "wrong", "proof", "expected"),
    [
        (
            "ackcount.h",
            "return acked_segments;\n    if (state",
            "return 1;\n    if (state",
            "theorems",
            "conserved",
        ),
        ("filter.h", "state->raw = sample;", "state->raw = most;", "theorems", "no_faster"),
    ],
)
def test_a_defect_is_named(tmp_path, file, right, wrong, proof, expected):
    core = tmp_path / "core"
    shutil.copytree(prove.ROOT / "core", core)
    text = (core / file).read_text()
    assert text.count(right) == 1
    (core / file).write_text(text.replace(right, wrong))
    command = [sys.executable, str(prove.ROOT / "tools" / "prove.py")]
    done = subprocess.run(
        [*command, "--core", str(core), "--only", proof, "--seconds", "3"],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1, done.stdout
    assert expected in done.stdout
