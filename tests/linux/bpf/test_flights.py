# SPDX-License-Identifier: BSD-3-Clause
"""What linux/bpf/flights.h says of a flight is what happened, also where a record has many ACKs."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def flights(tmp_path_factory) -> Path:
    """Compiles the program that compares it with the truth."""
    program = tmp_path_factory.mktemp("flights") / "flights"
    source = ROOT / "tests/linux/bpf/flights.c"
    options = ["-std=gnu11", "-O1", "-w", "-D", "WW_WANTS_CONTROLS", f"-I{ROOT}"]
    subprocess.run(["cc", *options, source, "-o", program], check=True)
    return program


@pytest.mark.parametrize("segments", [10, 200, 300, 1000, 3000])
def test_losses_since_a_segment_was_sent_are_counted(flights, segments):
    done = subprocess.run(
        [flights, str(segments), "40"], capture_output=True, text=True, check=True
    )
    samples, misses, worst_lost, worst_pipe = map(int, done.stdout.split())
    assert samples > 10_000
    assert misses == 0, f"{worst_lost} segments"
    assert worst_pipe <= 2 + segments // 40


def test_functions_that_the_verifier_checks_alone_are_marked() -> None:
    """Else the machine of linux-um, which includes the hosts twice, has them twice."""
    hosts = Path(__file__).parents[3] / "linux" / "bpf"
    spelled = {path.name for path in hosts.glob("*.[ch]") if "noinline" in path.read_text()}
    assert spelled == {"inlined.h"}
