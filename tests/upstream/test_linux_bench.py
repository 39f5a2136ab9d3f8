# SPDX-License-Identifier: BSD-3-Clause
"""upstream/linux_bench.py evaluates its uploads correctly (the emulated machine is too slow)."""

import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

from upstream import linux_bench as bench

PATH = bench.PATHS[0]


def uploads(*pairs: tuple[float, float]) -> list[dict[str, Any]]:
    """Returns upstream's and the first patched state's goodput, one pair per turn."""
    names = bench.controls()[:2]
    return [
        {"machine": "m", "turn": turn, "path": str(PATH), "cc": cc, "mbps": mbps}
        for turn, pair in enumerate(pairs)
        for cc, mbps in zip(names, pair, strict=True)
    ]


def ratio(*pairs: tuple[float, float]) -> bench.Ratio:
    upstream, patched = bench.controls()[:2]
    return bench.ratio(uploads(*pairs), str(PATH), patched, upstream, "mbps")


def test_a_ratio_is_the_geometric_mean_over_pairs_with_students_interval():
    ratio_of = ratio((1, 2), (1, 4), (1, 8))
    assert math.exp(ratio_of.mean) == pytest.approx(4)
    half = 4.302653 * math.log(2) / math.sqrt(3)  # t quantile for two degrees of freedom
    assert ratio_of.bounds() == pytest.approx((4 / math.exp(half), 4 * math.exp(half)), rel=1e-6)


def test_a_pair_with_a_failed_upload_does_not_count():
    rows = uploads((1, 2), (1, 2), (1, 2))
    rows[0]["mbps"] = None
    upstream, patched = bench.controls()[:2]
    assert bench.ratio(rows, str(PATH), patched, upstream, "mbps").pairs == 2


def test_a_path_is_decided_away_from_one_or_close_to_it_with_enough_pairs():
    assert ratio(*[(1, 1.5), (1, 1.6)] * 3).decided
    assert ratio(*[(1, 1.001), (1, 0.999)] * 3).decided
    assert not ratio(*[(1, 0.5), (1, 2.1)] * 3).decided
    assert not ratio(*[(1, 1.5), (1, 1.6)] * 2).decided


def test_every_path_is_undecided_without_uploads():
    assert bench.undecided([]) == list(bench.PATHS)


def test_the_shell_script_is_valid_and_has_a_path_for_each_control():
    script = bench.script([Path("tcp_westwood_1.ko")], list(bench.PATHS))
    subprocess.run(["sh", "-n"], input=script, text=True, check=True)
    assert script.count("\nnetem_path ") == len(bench.PATHS) * len(bench.controls())


def test_the_machines_output_is_parsed():
    rate = "[  5] 0.00-30.00 sec 15.0 MBytes {} Kbits/sec {} {}"
    printed = ["## turns"]
    received, sent = rate.format("4190", "", "receiver"), rate.format("4200", "17", "sender")
    printed.append(f"1|{PATH}|westwood|{received}|{sent}|")
    printed.append(f"1|{PATH}|westwood_1|||")
    good, failed = bench.rows(printed)
    assert (good["mbps"], good["resent"], good["beside_mbps"]) == (4.19, 17, None)
    assert failed["mbps"] is None
