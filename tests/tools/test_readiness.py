# SPDX-License-Identifier: BSD-3-Clause
"""Westwood-CUBIC is called experimental as long as the rule asks for it."""

from __future__ import annotations

import pytest

from tools import readiness
from tools.pages import Numbers
from westwood.campaign import preparing
from westwood.control.catalogue import PROTOCOLS

STORED = readiness.PAGE.read()


def evidence(**parts: Numbers) -> Numbers:
    """Returns evidence of today's control with which the rule holds, with some parts changed."""
    current = readiness.fingerprint()
    whole: Numbers = {
        "benchmark": {"seed": 9, "bounds": 32, "missed": {}},
        "kernel": {"points": 40, "near": 38, "explained": 2},
        "stress": {"cpu_s": 7 * 24 * 3600, "starves": [{"value": 0.5}]},
    }
    return {name: {"of": current, **part, **parts.get(name, {})} for name, part in whole.items()}


def test_the_warning_and_path_compare_follow_the_rule():
    is_ready = readiness.is_ready(STORED)
    assert (not PROTOCOLS[readiness.CONTROL].warning) == is_ready
    assert ("ww_cubic" in preparing.CANDIDATES) == is_ready


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("benchmark", {"missed": {"crowd": -0.2}}),
        ("kernel", {"near": 37}),
        ("stress", {"cpu_s": 7 * 24 * 3600 - 1}),
        ("stress", {"starves": [{"value": 0.51}]}),
        ("stress", {"of": "another control"}),
    ],
)
def test_each_condition_can_deny_it(part, change):
    assert readiness.is_ready(evidence())
    assert not readiness.is_ready(evidence(**{part: change}))


def test_without_evidence_nothing_holds():
    assert [holds for _, _, holds in readiness.conditions({})] == [False, False, False]
    assert not readiness.is_ready({})


def test_points_in_the_kernel_are_near_or_explained(tmp_path):  # type: ignore[no-untyped-def]
    lines = ["grid,goodput_ratio,reason", "short-queues,1.069,", "short-queues,0.9,bursts"]
    (tmp_path / "validation.csv").write_text("\n".join([*lines, "short-queues,1.2,"]))
    (stored,) = readiness.measured({}, ["kernel", str(tmp_path)])
    assert stored["kernel"] == {
        "points": 3, "near": 1, "explained": 1, "of": readiness.fingerprint(),
    }  # fmt: skip
