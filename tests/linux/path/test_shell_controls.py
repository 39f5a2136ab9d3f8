# SPDX-License-Identifier: GPL-2.0-only
"""Through a shell over a path that loses packets ww_plus is faster than CUBIC, by iperf3."""

import shutil
import statistics

import pytest
from own_network import own_network
from shells import missing_reason, upload

pytestmark = [
    pytest.mark.kernel,
    pytest.mark.slow,
    pytest.mark.skipif(bool(missing_reason()), reason=missing_reason()),
    pytest.mark.skipif(shutil.which("iperf3") is None, reason="no iperf3: apt-get install iperf3"),
]
PATH = ("--rate", "10Mbps", "--delay", "45ms", "--queue", "75p", "--loss", "0.5%")


def goodput_bps(control: str, seed: int) -> float:
    with own_network():
        summary = upload("-C", control, "-t", "15", path=(*PATH, "--seed", str(seed)))
    return float(summary["sum_received"]["bits_per_second"])


def test_ww_plus_is_faster_than_cubic_on_a_lossy_path(controls):
    pairs = [(goodput_bps("ww_plus", seed), goodput_bps("cubic", seed)) for seed in (1, 2, 3)]
    assert statistics.mean(plus / cubic for plus, cubic in pairs) > 1.1, pairs
