# SPDX-License-Identifier: BSD-3-Clause
"""With lists of lost packets every engine loses the same ones."""

from typing import Any

import pytest

from westwood import Scenario
from westwood.engines import listed_losses
from westwood.engines.contract import Engine, Job
from westwood.engines.listed_losses import has_random_losses, listing
from westwood.engines.simulator import SIMULATOR

SHORT = {"duration": "20s", "path.loss.rate": 0.01}


def scripts(seeds: list[int], **settings: Any) -> list[tuple[int, ...]]:
    """Returns the packets that an engine is asked to lose, run by run."""
    asked: list[tuple[int, ...]] = []

    def prepare(job: Job) -> Any:
        return lambda seed: asked.append(job.scenario.link[0].loss.packets) or []  # type: ignore[union-attr,func-returns-value]

    engine = Engine("none", prepare, SIMULATOR.simulate)
    scenario = Scenario.preset("path").with_settings({**SHORT, **settings})
    run = listing(engine).prepare(Job(scenario, seeds))
    for seed in seeds:
        run(seed)
    return asked


def test_each_seed_loses_its_own_packets_at_the_given_rate():
    first, second, again = scripts([1, 2, 1])
    assert first == again != second
    packets = 2_000_000 * 20 / (8 * 1500 / 2)  # at most, as many as half-sized packets fit
    assert len(first) == pytest.approx(0.01 * packets, rel=0.4)
    assert list(first) == sorted(set(first)) and first[0] >= 1 and first[-1] <= packets


def test_a_lossy_path_loses_as_many_packets_as_before():
    scenario = Scenario.preset("path").with_settings(SHORT)
    job = Job(scenario, list(range(1, 9)))

    def lost(engine: Engine) -> float:
        run = engine.prepare(job)
        rows = [row for seed in job.seeds for row in run(seed)]
        return sum(row["lost"] for row in rows) / sum(row["sent"] for row in rows)

    assert lost(listing(SIMULATOR)) == pytest.approx(lost(SIMULATOR), rel=0.3)


def test_bursts_of_losses_are_listed_as_the_simulator_draws_them():
    gilbert = {"path.loss": {"kind": "gilbert", "p": 0.01, "r": 0.25}, "duration": "20s"}
    scenario = Scenario.preset("path").with_settings(gilbert)
    assert has_random_losses(scenario)
    job = Job(scenario, [1])
    (listed,), (drawn,) = (engine.prepare(job)(1) for engine in (listing(SIMULATOR), SIMULATOR))
    share = 0.01 / 0.26  # p / (p + r)
    assert listed["lost"] == drawn["lost"] == pytest.approx(share * drawn["sent"], rel=0.3)


def test_only_random_losses_are_listed():
    path = Scenario.preset("path")
    assert has_random_losses(path)
    for rate in (0.0, 1.0):
        assert not has_random_losses(path.with_settings({"path.loss.rate": rate}))
    assert not has_random_losses(path.with_settings({"path.loss": {"kind": "none"}}))


def test_a_path_too_short_for_a_loss_has_none():
    rare = Scenario.preset("path").with_settings({"duration": "1s", "path.loss.rate": 1e-9})
    (row,) = listing(SIMULATOR).prepare(Job(rare, [1]))(1)
    assert row["lost"] == 0


def test_packets_are_numbered_from_one():
    almost_all = 1 - 1e-12
    assert list(listed_losses._drawn(almost_all, 4, "1")) == [1, 2, 3, 4]
