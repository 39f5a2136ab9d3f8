# SPDX-License-Identifier: BSD-3-Clause
"""The example of docs/gym.md trains a policy in five minutes that beats a constant rate."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from westwood import Scenario, simulate

PAGE = Path(__file__).parents[3] / "docs" / "gym.md"
FIVE_MINUTES_S = 300


@pytest.mark.slow
def test_the_example_trains_a_policy_and_exports_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    example = PAGE.read_text("utf-8").partition("<!-- example: train a policy -->\n```python\n")[2]
    known: dict[str, Any] = {}
    began = time.thread_time()
    exec(example.partition("```")[0], known)
    assert time.thread_time() - began < FIVE_MINUTES_S
    assert known["trained"] > known["untrained"] + 0.2
    again = known["score"]([known["search"].mean] * known["CANDIDATES"], seed=2000).mean()
    still = known["score"]([[0.0] * 7] * known["CANDIDATES"], seed=2000).mean()
    assert again > still + 0.2, "on other paths and seeds"
    learned = Scenario.preset("path").with_settings({"tcp.cc": "learned.c", "duration": "60s"})
    assert simulate(learned).rows["goodput_bps"][0] > 1e6
