# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of a fit agree with values computed by hand from invented uploads."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from invented_uploads import COUNT, MEASURE, QUEUED, after, upload

from westwood.campaign import fit
from westwood.campaign.fit import inference
from westwood.campaign.fit.summary import (
    _NUMBERS,
    BURST,
    GOODPUT,
    WIDTH,
    Episodes,
    LowLosses,
    Measure,
    Windows,
    error,
    of_controls,
    summarise,
)


class TestTheMeasureOfUploads:
    def test_a_slow_upload_is_measured_in_windows_of_150_segments(self):
        assert Measure.of([QUEUED]) == Measure(
            step_s=pytest.approx(0.1),
            base_s=0.1,
            window_s=pytest.approx(1.5),
            low_s=pytest.approx(0.1),  # half of the largest excess
        )

    def test_a_fast_upload_in_windows_of_four_round_trips(self):
        fast = upload(srtt_s=np.full(COUNT, 0.3), delivered=1000 * np.arange(COUNT))
        assert Measure.of([fast]).window_s == pytest.approx(1.2)
        assert Measure.of([replace(fast, srtt_s=np.full(COUNT, 0.12))]).window_s == 0.8

    def test_no_window_exceeds_a_quarter_of_the_shortest_upload(self):
        slow = upload(delivered=np.arange(COUNT, dtype=float))
        short = replace(slow, time_s=slow.time_s / 2)
        assert Measure.of([slow]).window_s == pytest.approx(2.5)
        assert Measure.of([slow, short]).window_s == pytest.approx(1.25)

    def test_the_smallest_round_trip_of_all_counts_and_the_largest_step(self):
        other = replace(QUEUED, rtt_min_s=0.05, time_s=QUEUED.time_s / 4)
        both = Measure.of([QUEUED, other])
        assert both.base_s == 0.05 and both.step_s == pytest.approx(0.1)
        assert both.low_s == pytest.approx(0.125)

    @pytest.mark.parametrize(("faster", "step_s"), [(100, 0.01), (4, 0.025), (0.1, 0.1)])
    def test_samples_are_10_to_100_ms_apart(self, faster, step_s):
        faster_upload = replace(QUEUED, time_s=QUEUED.time_s / faster)
        assert Measure.of([faster_upload]).step_s == pytest.approx(step_s)

    def test_a_window_has_at_least_two_steps(self):
        brief = replace(QUEUED, time_s=QUEUED.time_s / 1000)
        assert Measure.of([brief]).window_s == pytest.approx(0.02)

    @pytest.mark.parametrize(("base_s", "floor_s"), [(0.1, 0.002), (0.01, 0.0005)])
    def test_clocks_hide_an_excess_below_the_floor(self, base_s, floor_s):
        assert Measure(0.1, base_s, 1.5, 0.1).floor_s == pytest.approx(floor_s)


def test_losses_within_one_and_a_half_round_trips_are_one_episode():
    episodes = Episodes.of(QUEUED, MEASURE)
    assert (episodes.starts.tolist(), episodes.losses.tolist()) == ([40, 70], [3, 4])
    apart = replace(QUEUED, retransmitted=after((60, 1), (62, 1), (64, 1), (67, 1)))
    assert Episodes.of(apart, MEASURE).starts.tolist() == [60, 67], "0.2 s apart, then 0.3 s"
    assert Episodes.of(upload(), MEASURE).starts.size == 0


@pytest.mark.parametrize(("apart", "episodes"), [(4, 1), (5, 2)])
def test_a_loss_exactly_at_the_limit_belongs_to_the_episode(apart, episodes):
    """1.5 round trips of 0.25 s and a sample of 0.125 s are 0.5 s: four samples."""
    sample = upload(
        time_s=0.125 * np.arange(COUNT),
        srtt_s=np.full(COUNT, 0.25),
        retransmitted=after((50, 1), (50 + apart, 1)),
    )
    assert Episodes.of(sample, replace(MEASURE, step_s=0.125)).starts.size == episodes


@pytest.mark.parametrize(("step_s", "times"), [(7.0, 2), (6.9, 2), (6.6, 3), (3.4, 4), (2.5, 5)])
def test_samples_end_within_half_a_step_of_the_last_look(step_s, times):
    sampled = QUEUED.sampled(step_s)
    assert sampled.time_s == pytest.approx(step_s * np.arange(times))


def test_losses_count_as_low_after_the_first_episode_while_the_queue_is_short():
    assert LowLosses.of(QUEUED, MEASURE) == LowLosses(segments=510, episodes=1, losses=4)
    without = LowLosses.of(replace(QUEUED, retransmitted=np.zeros(COUNT)), MEASURE)
    assert without == LowLosses(segments=800, episodes=0, losses=0)
    high = replace(QUEUED, retransmitted=after((10, 1), (35, 5)))
    assert LowLosses.of(high, MEASURE) == LowLosses(segments=10 * (19 + 51), episodes=0, losses=0)


class TestTheWindowsOfAnUpload:
    def test_have_its_rate_and_smallest_excess(self):
        windows = Windows.of(replace(QUEUED, retransmitted=np.zeros(COUNT)), MEASURE)
        assert windows.sound and windows.bps.size == COUNT - 15
        assert windows.bps == pytest.approx(np.full(COUNT - 15, 800_000))
        high = [place for place, least_s in enumerate(windows.least_s) if least_s > 0]
        assert high == [30, 31, 32, 33, 34], "a window of 16 samples within 20"
        assert windows.least_s[high] == pytest.approx([0.2] * 5)

    def test_neither_begin_nor_end_in_a_repair(self):
        """A repair lasts from its detection to 1.3 round trips later: samples 50 and 51."""
        windows = Windows.of(upload(retransmitted=after((50, 1))), MEASURE)
        assert windows.bps.size == COUNT - 15 - 4

    def test_are_quarters_where_repairs_never_end(self):
        always = upload(retransmitted=np.arange(COUNT, dtype=float))
        windows = Windows.of(always, MEASURE)
        assert not windows.sound and windows.bps.size == COUNT - 25
        assert windows.bps == pytest.approx(np.full(COUNT - 25, 800_000))

    def test_show_a_full_link_where_packets_waited_all_the_time(self):
        """At 800 kb/s and 0.2 s of waiting, 20 packets of 8000 bits wait."""
        windows = Windows.of(replace(QUEUED, retransmitted=np.zeros(COUNT)), MEASURE)
        assert windows.full(8000, 0.1) == pytest.approx([800_000] * 5)
        assert windows.full(0.99 * 160_000 / 4, 0.1).size == 5
        assert windows.full(1.01 * 160_000 / 4, 0.1).size == 0, "fewer than four packets"
        assert windows.full(8000, 0.99 * 4).size == 5
        assert windows.full(8000, 1.01 * 4).size == 0, "less than a twentieth of the round trip"


def numbers(sample: fit.Upload, measure: Measure = MEASURE) -> dict[str, float]:
    names = [name for name, *_ in _NUMBERS]
    return dict(zip(names, summarise(sample, measure).tolist(), strict=True))


def test_an_upload_is_summarised_in_logarithms_and_roots():
    summary_of = numbers(QUEUED)
    rate, floor = math.log(800_000 + 1000), math.log(0.002)
    assert summary_of == pytest.approx(
        {
            "goodput": rate,
            "rate, lower quartile": rate,
            "rate, median": rate,
            "rate, upper quartile": rate,
            "rate, 0.95 quantile": rate,
            "wait, 0.1 quantile": floor,
            "wait, median": floor,
            "wait, 0.9 quantile": math.log(0.202),
            "wait, 0.99 quantile": math.log(0.202),
            "wait at losses, mean": math.log(0.102),  # one of two episodes at 0.2 s
            "wait at losses, most": math.log(0.202),
            "segments before the first loss": math.log(401),
            "losses an episode": math.log(4),
            "share of losses": math.sqrt(7 / 1010),
            "share of episodes": math.sqrt(2 / 1000),
            "share of low episodes": math.sqrt(1 / 510),
        },
        rel=1e-9,
    )


def test_an_upload_without_losses_has_the_largest_wait_and_all_of_its_segments():
    summary_of = numbers(replace(QUEUED, retransmitted=np.zeros(COUNT)))
    assert summary_of["wait at losses, mean"] == summary_of["wait at losses, most"]
    assert summary_of["wait at losses, most"] == pytest.approx(math.log(0.202))
    assert summary_of["segments before the first loss"] == math.log(1001)
    assert summary_of["losses an episode"] == summary_of["share of losses"] == 0
    assert summary_of["share of episodes"] == summary_of["share of low episodes"] == 0


def test_the_quantiles_of_an_upload_are_those_of_its_windows():
    """The rate doubles after 4 of 10 s; a window lasts one step."""
    places = np.arange(COUNT)
    doubled = upload(delivered=10.0 * places + 10.0 * np.maximum(places - 40, 0))
    summary_of = numbers(doubled, Measure(0.1, 0.1, 0.1, 0.1))
    assert summary_of["rate, lower quartile"] == pytest.approx(math.log(801_000))
    assert summary_of["rate, median"] == pytest.approx(math.log(1_601_000))
    assert summary_of["goodput"] == pytest.approx(math.log(1600 * 800 + 1000))


def test_controls_are_summarised_by_means_except_for_what_the_path_limits():
    limits = {name for name, _, limit in _NUMBERS if limit}
    assert limits == {"rate, 0.95 quantile", "wait, 0.99 quantile", "wait at losses, most"}
    ones, threes, eights = (np.full(WIDTH, value) for value in (1.0, 3.0, 8.0))
    both = of_controls([ones, eights, threes], ["sack", "bbr", "sack"])
    assert both[:WIDTH].tolist() == eights.tolist(), "in the order of names"
    expected = [3.0 if name in limits else 2.0 for name, *_ in _NUMBERS]
    assert both[WIDTH:].tolist() == expected


def test_the_error_of_a_share_is_relative_and_that_of_a_logarithm_is_not():
    missed = error(np.concatenate([np.full(WIDTH, 0.5), np.ones(WIDTH)]))
    first, second = missed.reshape(2, WIDTH)
    shares = [name.startswith("share") for name, *_ in _NUMBERS]
    assert first[shares] == pytest.approx([0.1] * 3) and second[shares] == pytest.approx([0.2] * 3)
    assert first[np.invert(shares)].tolist() == second[np.invert(shares)].tolist()
    assert first[GOODPUT] == 0.1 and first[BURST] == 10


class TestInference:
    """The model is linear with a normal error, so that the posterior is known."""

    SLOPES = np.array([[2.0, 0.0, 1.0], [0.0, 3.0, 1.0]])
    TRUTH = np.array([0.3, -0.5])
    BOX = np.array([[-4.0, -4.0], [4.0, 4.0]])

    def posterior(
        self,
        draws: int = 400,
        seed: int = 1,
        rounds: int = 3,
        observed: Any = TRUTH @ SLOPES,
        model: Any = lambda theta: theta @ TestInference.SLOPES,
    ) -> inference.Posterior:
        error, how = np.full(len(observed), 0.1), {"draws": draws, "rounds": rounds, "seed": seed}
        return inference.infer(model, observed, self.BOX, error, keep=0.25, **how)

    def test_finds_the_mean_and_the_width_of_the_posterior(self):
        exact = np.linalg.inv(self.SLOPES @ self.SLOPES.T) * 0.1**2
        posteriors = [self.posterior(seed=seed) for seed in range(5)]
        draws = np.vstack([posterior.draws for posterior in posteriors])
        assert draws.mean(axis=0) == pytest.approx(self.TRUTH, abs=0.02)
        assert draws.std(axis=0) == pytest.approx(np.sqrt(np.diag(exact)), rel=0.3)

    def test_keeps_the_asked_share_of_the_draws_but_at_least_16(self):
        assert self.posterior(draws=400, rounds=1).draws.shape == (100, 2)
        assert self.posterior(draws=40, rounds=1).draws.shape == (16, 2)

    def test_gives_the_numbers_that_were_simulated_near_the_observed_ones(self):
        posterior = self.posterior()
        assert posterior.simulated.mean(axis=0) == pytest.approx(self.TRUTH @ self.SLOPES, abs=0.3)
        assert posterior.box is self.BOX

    def test_stays_in_the_box(self):
        outside = self.posterior(200, rounds=2, observed=np.array([20.0, -1.5, 10.0]))
        assert outside.draws.max() <= 4 and outside.draws.min() >= -4
        assert outside.draws[:, 0].mean() > 2

    def test_keeps_the_width_of_a_parameter_that_the_numbers_do_not_show(self):
        blind = self.posterior(
            rounds=1,
            observed=np.array([0.3, 0.3]),
            model=lambda theta: theta[:, :1] * np.ones((1, 2)),
        )
        uniform = 8 / math.sqrt(12)
        assert blind.draws[:, 1].std() == pytest.approx(uniform, rel=0.2)
        assert blind.draws[:, 0].std() < uniform / 10

    def test_a_latin_hypercube_has_one_draw_in_each_slice(self):
        drawn = inference.latin(np.random.default_rng(1), 50, 3)
        assert drawn.shape == (50, 3)
        for column in drawn.T:
            assert sorted((50 * column).astype(int)) == list(range(50))
            assert column.tolist() != sorted(column)
