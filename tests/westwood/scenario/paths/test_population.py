# SPDX-License-Identifier: BSD-3-Clause
"""Random paths stay within their ranges, and two purposes never share a path."""

import itertools
import random
from dataclasses import replace

import pytest

from westwood import InputError
from westwood.engines.contract import Job
from westwood.engines.simulator import prepare
from westwood.scenario.paths import earlier, population, recorded
from westwood.scenario.paths.aqms import AQMS
from westwood.scenario.paths.earlier import QUEUE_LEAST, ROUND_TRIPS
from westwood.scenario.paths.environment import (
    ITSELF,
    LOSSES,
    Environment,
    recorded_losses,
    role,
)
from westwood.scenario.paths.environment import scenario as scenario_of
from westwood.scenario.paths.families import FAMILIES, PACKETS_LEAST, QUEUE_PASSES
from westwood.scenario.paths.population import PURPOSES

WIDE = [name for name in FAMILIES if name not in earlier.FAMILIES]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_seed_gives_the_same_paths_and_another_seed_others(family):
    first = population.paths("search", 1, 20, family)

    assert population.paths("search", 1, 20, family) == first
    assert population.path("search", 1, family, 7) == first[7]
    assert not set(first) & set(population.paths("search", 2, 20, family))


def test_paths_of_two_purposes_never_coincide():
    """The seed tells the purpose of a run, so this does not depend on luck."""

    class Same(random.Random):
        """Draws the same for every purpose."""

        def __init__(self, _: object = None) -> None:
            super().__init__(1)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(population.random, "Random", Same)
        drawn = [population.path(purpose, 1, "lossy", 0) for purpose in PURPOSES]

    assert (
        len({replace(environment, seed=0) for environment in drawn}) == 1
    )  # the draws do coincide
    assert len({environment.seed for environment in drawn}) == len(PURPOSES)
    assert [population.purpose_of(environment) for environment in drawn] == list(PURPOSES)


def test_every_drawn_path_tells_its_purpose():
    for purpose in PURPOSES:
        for path in population.paths(purpose, 3, 50):
            assert population.purpose_of(path) == purpose
    others = [replace(path, seed=8 + place) for place in range(len(PURPOSES), 8)]
    assert [population.purpose_of(other) for other in others] == [None] * len(others)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("packets_most", [PACKETS_LEAST, 2_000, 400_000])
def test_a_run_stays_within_its_packets_and_lasts_tens_of_round_trips(family, packets_most):
    for path in population.paths("search", 1, 100, family, packets_most):
        assert path.packets <= packets_most
        if family == "uplink":  # always the same path
            continue
        assert path.duration_us >= ROUND_TRIPS * path.delay_us - 1
        assert 1e6 <= path.rate_bps <= 1e9
        if family == "collapse":
            assert path.flows == 100
            assert packets_most < 40_000 or 95 <= path.bdp_packets + path.queue_packets <= 105
            continue
        assert 2e3 <= path.delay_us <= 6e5
        assert 0 <= path.flows <= 50
        if family in WIDE:
            continue
        held = path.rtt_spread * path.bdp_packets
        assert path.queue_packets <= max(5.01 * held + 1, QUEUE_LEAST)


def test_a_tenth_of_the_clean_paths_have_a_flow_in_the_other_direction():
    drawn = population.paths("search", 1, 2000, "clean")
    assert {environment.reverse_flows for environment in drawn} == {0, 1}
    assert 0.08 < sum(environment.reverse_flows for environment in drawn) / len(drawn) < 0.12


@pytest.mark.parametrize("family", WIDE)
def test_a_queue_is_a_time_whatever_the_round_trip(family):
    """From 0.5 to 500 ms, but at least two packets."""
    drawn = population.paths("search", 1, 400, family, 4_000_000)
    waits_ms = [
        1e3 * environment.queue_packets / environment.packets_in(1e6) for environment in drawn
    ]
    shortest = [environment.queue_packets == QUEUE_PASSES for environment in drawn]

    assert max(waits_ms) <= 510
    assert all(wait > 0.42 or two for wait, two in zip(waits_ms, shortest, strict=True))
    assert 0 < sum(shortest) < len(drawn) / 4
    assert min(environment.queue_bdp for environment in drawn) < 0.01
    short = sum(
        environment.queue_bdp < 1 / 16 for environment in drawn
    )  # a wait is hard to see there
    assert short > len(drawn) / 8
    ranks = [
        sorted(delays).index(delay) for delays in ([p.delay_us for p in drawn],) for delay in delays
    ]
    order = sorted(range(len(drawn)), key=lambda n: waits_ms[n])
    half = [ranks[n] for n in order[: len(order) // 2]]
    assert abs(sum(half) / len(half) / len(drawn) - 0.5) < 0.1, "it follows the round trip"


def test_competing_cubic_has_its_own_round_trips_numbers_and_links():
    drawn = population.paths("search", 1, 400, "shared", 4_000_000)
    ratios = sorted(environment.beside_delay_us / environment.delay_us for environment in drawn)

    assert {environment.beside for environment in drawn} == {"cubic"}
    assert ratios[40] < 0.15 and 0.5 < ratios[200] < 2 and ratios[-40] > 7
    for key in ("flows", "beside_flows"):
        counts = {getattr(environment, key) for environment in drawn}
        assert min(counts) == 1 and 45 <= max(counts) <= 50
    assert {environment.loss for environment in drawn} == set(LOSSES)
    assert {environment.aqm for environment in drawn} == set(AQMS)
    assert 0.2 < sum(environment.access_share > 0 for environment in drawn) / len(drawn) < 0.4
    red = [environment for environment in drawn if environment.aqm != "droptail"]
    assert len({environment.aqm_span for environment in red}) > len(red) / 2


def test_competing_flows_have_the_declared_round_trips():
    far = Environment(10_000_000, 40_000, 30, 4_000_000, 1, beside="cubic", beside_flows=2)
    far = replace(far, beside_delay_us=100_000)
    near = replace(far, delay_us=100_000, beside_delay_us=40_000)
    for environment, farther in ((far, "beside"), (near, "tcp")):
        scenario = scenario_of(environment, "bbr")
        assert scenario.link[0].delay == 20 * 10**9
        (access,) = scenario.link[1:]
        assert access.delay == 30 * 10**9 and str(access.queue.limit) == "unlimited"
        assert {flow.name for flow in scenario.flow if flow.from_ == access.between[0]} == {farther}


def test_slow_access_gives_each_flow_its_own_link():
    environment = Environment(
        10_000_000, 40_000, 30, 4_000_000, 1, flows=8, beside="cubic", beside_flows=8
    )
    scenario = scenario_of(replace(environment, access_share=0.8, rtt_spread=4.0), "bbr")
    rates = [link.rate for link in scenario.link[1:]]
    assert len(rates) == 16 and rates[:8] == rates[8:], "both kinds have the same links"
    assert min(rates) == 500_000 and max(rates) == 100_000_000
    falls = sum(rate > other for rate, other in itertools.pairwise(rates[:8]))
    assert 2 <= falls <= 5, "in another order than the round trips"


def test_a_recording_gives_the_declared_losses():
    """The mean rate is the path's, bursts stay intact, and another seed starts elsewhere."""
    environment = Environment(100_000_000, 40_000, 30, 60_000_000, 1)
    for name in recorded.RECORDINGS:
        path = replace(environment, loss="recorded", loss_rate=0.01, loss_recording=name)
        lost = recorded_losses(path)
        assert len(lost) / lost[-1] == pytest.approx(0.01, rel=0.05), name
        in_a_row = sum(b == a + 1 for a, b in itertools.pairwise(lost)) / len(lost)
        kept = recorded.runs(name)
        assert in_a_row == pytest.approx(1 - len(kept) / sum(gone for _, gone in kept), abs=0.02)
        assert lost == recorded_losses(path) != recorded_losses(population.again(path, 1))
        assert lost[-1] > path.packets


def test_families_are_as_declared():
    clean, lossy, beside, short = (
        population.paths("search", 1, 100, family)
        for family in ("clean", "lossy", "beside", "short")
    )

    assert all(environment.loss == "none" and environment.beside is None for environment in clean)
    assert {environment.aqm for environment in clean} == set(AQMS)
    assert all(
        environment.loss == "uniform" and 1e-4 <= environment.loss_rate <= 0.02
        for environment in lossy
    )
    assert all(
        1e6 <= environment.rate_bps <= 3e8 and 5e3 <= environment.delay_us <= 4e5
        for environment in lossy
    )
    assert {(environment.flows, environment.beside_flows) for environment in beside} == {
        (1, 1),
        (4, 4),
        (1, 10),
    }
    assert all(environment.queue_bdp >= 0.2 for environment in beside)
    assert all(environment.short_bytes and environment.short_every_us for environment in short)


def test_the_family_all_has_everything():
    drawn = population.paths("search", 1, 400)

    assert {environment.loss for environment in drawn} == set(LOSSES)
    assert {environment.beside for environment in drawn} == {
        None,
        "cubic",
        "sack",
        "bbr",
        ITSELF,
    }
    for field in ("jitter_us", "reverse_flows", "short_bytes", "access_share", "beside_delay_us"):
        assert any(getattr(env, field) for env in drawn)
    assert any(env.rate_swing > 1 for env in drawn)
    assert any(env.rtt_spread > 1 for env in drawn)


def test_every_part_of_an_environment_reaches_the_simulator():
    """Each part, changed by itself, changes the outcome of a run."""
    base = Environment(8_000_000, 40_000, 30, 4_000_000, 1, flows=2)
    others = {
        "aqm": {"aqm": "red"},
        "ecn": {"aqm": "red-ecn"},
        "uniform": {"loss": "uniform", "loss_rate": 0.01},
        "two-state": {"loss": "two-state", "loss_rate": 0.5, "good_us": 500_000, "bad_us": 20_000},
        "jitter": {"jitter_us": 5_000},
        "swing": {"rate_swing": 4.0},
        "spread": {"rtt_spread": 4.0},
        "beside": {"beside": "bbr", "beside_flows": 1},
        "itself": {"beside": ITSELF, "beside_flows": 1},
        "reverse": {"reverse_flows": 1},
        "short": {"short_bytes": 20_000, "short_every_us": 300_000},
        "late": {"late_us": 1_000_000},
        "links": {"access_share": 0.5},
    }
    recorded = {"loss": "recorded", "loss_rate": 0.01, "loss_recording": "crowd"}
    red, beside = {"aqm": "red", "aqm_us": 10_000}, {"beside": "cubic", "beside_flows": 2}
    others |= {
        "recorded": recorded,
        "another recording": recorded | {"loss_recording": "datagrams"},
        "threshold": red,
        "thresholds": red | {"aqm_span": 1.5},
        "CUBIC": beside,
        "elsewhere": beside | {"beside_delay_us": 100_000},
        "spread beside": beside | {"beside_spread": 4.0},
        "short of": others["short"] | {"short_cc": "bbr"},
    }

    def rows(environment: Environment) -> dict[str, float]:
        run = prepare(Job(scenario_of(environment, "cubic"), [environment.seed]))
        return {row["flow"]: row["goodput_bps"] for row in run(environment.seed)}

    outcomes = {name: rows(replace(base, **change)) for name, change in others.items()}
    outcomes["base"] = rows(base)

    assert len({str(outcome) for outcome in outcomes.values()}) == len(outcomes)
    assert {role(flow) for flow in outcomes["beside"]} == {"tcp", "beside"}
    assert {role(flow) for flow in outcomes["short"]} == {"tcp", "short"}


def test_unknown_values_are_named():
    with pytest.raises(InputError, match="clen"):
        population.draw(random.Random(1), "clen")
    with pytest.raises(InputError, match="judgment"):
        population.path("judgment", 1, "all", 1)
    with pytest.raises(InputError, match="aqm"):
        Environment(1_000_000, 10_000, 10, 1_000_000, 1, aqm="codel")
