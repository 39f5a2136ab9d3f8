# SPDX-License-Identifier: BSD-3-Clause
"""What the papers' observers read from a traced run."""

from __future__ import annotations

import pytest

from westwood.engines.simulator import simulate
from westwood.papers import observers
from westwood.scenario import Scenario


def recoveries(scenario: Scenario, lost: list[int]) -> dict[str, float]:
    """Runs two seconds, in which only these packets are lost."""
    loss = {"kind": "script", "packets": lost, "on": "forward"}
    settings = {"bottleneck.loss": loss, "bottleneck.queue.limit": "1000p"}
    changed = scenario.with_settings({**settings, "duration": "2s"})
    return observers.RECOVERIES.read(simulate(changed, trace=True, events=True))["tcp"]


def test_without_a_loss_there_is_no_recovery_to_measure(small: Scenario) -> None:
    assert set(recoveries(small, []).values()) == {0.0}


@pytest.mark.parametrize("lost", [[40], [40, 200]])
def test_each_loss_makes_a_recovery(small: Scenario, lost: list[int]) -> None:
    found = recoveries(small, lost)
    assert found["recoveries_seen"] == len(lost)
    assert found["longest_silence_rtts"] > 0
