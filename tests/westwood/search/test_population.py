# SPDX-License-Identifier: BSD-3-Clause
"""Paths drawn at random stay within the ranges said, and those of two purposes never meet."""

from __future__ import annotations

import random
import tomllib
from dataclasses import replace

import pytest

from westwood import InputError, Scenario
from westwood.engines.contract import Job
from westwood.engines.simulator import prepare
from westwood.search import population
from westwood.search.population import FAMILIES, PURPOSES, Environment


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_gives_the_same_paths_and_another_seed_others(family: str) -> None:
    first = population.paths("search", 1, 20, family)

    assert population.paths("search", 1, 20, family) == first
    assert population.path("search", 1, family, 7) == first[7]
    assert not set(first) & set(population.paths("search", 2, 20, family))


def test_paths_of_two_purposes_never_coincide_whatever_is_drawn() -> None:
    """A run's seed says the purpose, so that this does not rest on luck."""

    class Same(random.Random):
        """Draws the same for every purpose."""

        def __init__(self, _: object = None) -> None:
            super().__init__(1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population.random, "Random", Same)
        found = [population.path(purpose, 1, "lossy", 0) for purpose in PURPOSES]

    assert len({replace(one, seed=0) for one in found}) == 1  # the draws do coincide
    assert len({one.seed for one in found}) == len(PURPOSES)
    assert [population.purpose_of(one) for one in found] == list(PURPOSES)


def test_every_path_that_is_drawn_says_its_purpose() -> None:
    for purpose in PURPOSES:
        for one in population.paths(purpose, 3, 50):
            assert population.purpose_of(one) == purpose


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("packets_most", [population.PACKETS_LEAST, 2_000, 400_000])
def test_a_run_costs_no_more_than_was_said_and_lasts_for_tens_of_round_trips(
    family: str, packets_most: int
) -> None:
    for one in population.paths("search", 1, 100, family, packets_most):
        assert one.packets <= packets_most
        if family == "uplink":  # always the same path
            continue
        assert one.duration_us >= population.ROUND_TRIPS * one.delay_us - 1
        assert 1e6 <= one.rate_bps <= 1e9
        if family == "collapse":
            assert one.flows == 100
            assert packets_most < 40_000 or 95 <= one.bdp_packets + one.queue_packets <= 105
            continue
        assert 2e3 <= one.delay_us <= 6e5
        held = one.rtt_spread * one.bdp_packets
        assert one.queue_packets <= max(5.01 * held + 1, population.QUEUE_LEAST)
        assert 0 <= one.flows <= 50


def test_families_are_what_their_names_say() -> None:
    clean, lossy, beside, short = (
        population.paths("search", 1, 100, family)
        for family in ("clean", "lossy", "beside", "short")
    )

    assert all(one.loss == "none" and one.beside is None for one in clean)
    assert {one.aqm for one in clean} == set(population.AQMS)
    assert all(one.loss == "uniform" and 1e-4 <= one.loss_rate <= 0.02 for one in lossy)
    assert all(1e6 <= one.rate_bps <= 3e8 and 5e3 <= one.delay_us <= 4e5 for one in lossy)
    assert {(one.flows, one.beside_flows) for one in beside} == {(1, 1), (4, 4), (1, 10)}
    assert all(one.queue_bdp >= 0.2 for one in beside)
    assert all(one.short_bytes and one.short_every_us for one in short)


def test_the_family_all_has_everything() -> None:
    drawn = population.paths("search", 1, 400)

    assert {one.loss for one in drawn} == set(population.LOSSES)
    assert {one.beside for one in drawn} == {None, "cubic", "sack", "bbr", population.ITSELF}
    for one in ("jitter_us", "reverse_flows", "short_bytes"):
        assert any(getattr(env, one) for env in drawn)
    assert any(env.rate_swing > 1 for env in drawn)
    assert any(env.rtt_spread > 1 for env in drawn)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_short_text_says_the_same_as_the_scenario(family: str) -> None:
    for one in population.paths("search", 1, 25, family, 5_000):
        settings = {"filter": "none"}
        made = population.scenario(one, "westwood+", settings)

        assert Scenario(**tomllib.loads(population.toml(one, "westwood+", settings))) == made
        assert made.profile == "linux"


def test_every_part_of_an_environment_reaches_the_simulator() -> None:
    """What a run carries says so: each part, changed by itself, changes the outcome."""
    plain = Environment(8_000_000, 40_000, 30, 4_000_000, 1, flows=2)
    others = {
        "aqm": {"aqm": "red"},
        "ecn": {"aqm": "red-ecn"},
        "uniform": {"loss": "uniform", "loss_rate": 0.01},
        "two-state": {"loss": "two-state", "loss_rate": 0.5, "good_us": 500_000, "bad_us": 20_000},
        "jitter": {"jitter_us": 5_000},
        "swing": {"rate_swing": 4.0},
        "spread": {"rtt_spread": 4.0},
        "beside": {"beside": "bbr", "beside_flows": 1},
        "itself": {"beside": population.ITSELF, "beside_flows": 1},
        "reverse": {"reverse_flows": 1},
        "short": {"short_bytes": 20_000, "short_every_us": 300_000},
    }

    def rows(one: Environment) -> dict[str, float]:
        run = prepare(Job(population.scenario(one, "cubic"), [one.seed]))
        return {row["flow"]: row["goodput_bps"] for row in run(one.seed)}

    outcomes = {name: rows(replace(plain, **change)) for name, change in others.items()}
    outcomes["plain"] = rows(plain)

    assert len({str(one) for one in outcomes.values()}) == len(outcomes)
    assert {population.role(flow) for flow in outcomes["beside"]} == {"tcp", "beside"}
    assert {population.role(flow) for flow in outcomes["short"]} == {"tcp", "short"}


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(InputError, match="clen"):
        population.draw(random.Random(1), "clen")
    with pytest.raises(InputError, match="judgment"):
        population.path("judgment", 1, "all", 1)
    with pytest.raises(InputError, match="aqm"):
        Environment(1_000_000, 10_000, 10, 1_000_000, 1, aqm="codel")
