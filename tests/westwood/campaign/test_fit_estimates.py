# SPDX-License-Identifier: BSD-3-Clause
"""The estimates of a fit follow from its evidence, as computed by hand from invented uploads."""

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from invented_uploads import CALM, COUNT, MEASURE, QUEUED, upload

from westwood.campaign import fit
from westwood.campaign.fit import estimate
from westwood.campaign.fit.estimate import Estimate, Goodput
from westwood.campaign.fit.path import Packets, Path, flow, link
from westwood.campaign.fit.replay import Replay
from westwood.campaign.fit.summary import BURST, GOODPUT, WIDTH, LowLosses, Measure


class TestAnEstimate:
    def test_is_widened_to_at_least_a_share_on_each_side(self):
        assert Estimate(100, 99, 130).widened(0.1) == Estimate(100, 90, 130)
        assert Estimate(100, 80, 101, "at least").widened(0.1) == Estimate(
            100, 80, pytest.approx(110), "at least"
        )

    @pytest.mark.parametrize(
        ("bound", "covered"),
        [("", [1.0, 2.0, 3.0]), ("at least", [1.0, 2.0, 3.0, 4.0]), ("at most", [0.5, 1, 2, 3])],
    )
    def test_covers_its_ends_and_what_lies_on_its_side(self, bound, covered):
        interval = Estimate(2, 1, 3, bound)
        assert [value for value in (0.5, 1, 2, 3, 4) if interval.covers(value)] == covered


@pytest.mark.parametrize(
    ("recorded", "fitted", "sd", "is_odd"),
    [
        (124, 100, 1, False),
        (126, 100, 1, True),
        (74, 100, 1, True),
        (129, 100, 10, False),
        (131, 100, 10, True),
    ],
)
def test_a_goodput_is_odd_beyond_a_quarter_and_three_deviations(recorded, fitted, sd, is_odd):
    assert Goodput(recorded, fitted, sd).is_odd is is_odd


@pytest.mark.parametrize(
    ("mss", "header", "size", "settings"),
    [
        (1448, 52, 1500, {}),
        (1460, 40, 1500, {"header": "40B", "timestamps": False}),
        (1400, 52, 1452, {"packet": "1452B"}),
    ],
)
def test_the_payload_of_a_segment_tells_its_headers(mss, header, size, settings):
    packets = Packets(mss)
    assert (packets.header, packets.size) == (header, size)
    assert flow("bbr", packets) == {
        "name": "upload",
        "from": "source",
        "to": "sink",
        "cc": "bbr",
        **settings,
    }


def test_the_links_rate_includes_the_overhead_of_ns3():
    fitted_link = link(Path(15e6, 0.0123456, 40, 0.00123456), Packets(1448))
    assert fitted_link == {
        "name": "path",
        "between": ["source", "sink"],
        "rate": "15.02Mbps",
        "delay": "12.346ms",
        "overhead": "2B",
        "queue": {"kind": "droptail", "limit": "40p"},
        "loss": {"kind": "uniform", "rate": 0.001235, "on": "forward"},
    }
    assert link(Path(15e6, 0.01, 40, 0.0), Packets(1448))["loss"] == {"kind": "none"}


def evidence(*uploads: fit.Upload) -> estimate._Evidence:
    return estimate._Evidence.of(uploads, Measure.of(uploads))


class TestTheEvidence:
    """All rates are of IP packets: 1052 bytes for 1000 of payload."""

    def test_is_what_the_uploads_show_together(self):
        evidence_ = evidence(QUEUED, replace(CALM, delivered=CALM.delivered / 2))
        assert evidence_.fastest_bps == pytest.approx(841_600)
        assert evidence_.level == pytest.approx((COUNT - 15 - 8) / (2 * (COUNT - 15) - 8), abs=0.05)
        assert (evidence_.losses, evidence_.sent) == (7, 2020)
        assert evidence_.low == LowLosses(pytest.approx(510 + 400), 1, 4)
        assert evidence_.highest_s == pytest.approx(0.2)
        assert evidence_.waiting == pytest.approx(20)

    def test_takes_the_mean_rate_where_no_window_is_sound(self):
        always = upload(retransmitted=np.arange(COUNT, dtype=float))
        evidence_ = evidence(replace(always, delivered=always.delivered**2))
        assert evidence_.fastest_bps > 1.052 * 8000 * 100 * COUNT / 2

    def test_shows_a_full_link_by_five_windows_or_by_many_near_the_fastest(self):
        windows = np.full(5, 800_000.0)
        slow = replace(evidence(CALM), full_bps=windows[:4], level=0.14)
        assert not slow.is_full
        assert replace(slow, level=0.15).is_full and replace(slow, full_bps=windows * 1.052).is_full
        assert not replace(slow, full_bps=windows * 0.98).is_full, "not near the fastest"

    def test_limits_the_path_to_what_a_full_link_showed(self):
        low, high = np.exp(evidence(CALM).box(Measure.of([CALM])))
        assert (low[0], high[0]) == pytest.approx((0.98 * 841_600, 1.02 * 841_600))
        waited, pipe = 1.02 * 20, 1.02 * 10
        assert low[1] == pytest.approx(0.35 * waited - 3)
        assert high[1] == pytest.approx(3 * waited + 2 * pipe + 10)
        roots = evidence(CALM).box(Measure.of([CALM]))[:, 2]
        assert roots == pytest.approx([0, math.sqrt(5 / 1010)])

    def test_limits_it_less_where_the_link_was_not_full(self):
        some = replace(evidence(QUEUED), full_bps=np.array([]))
        low, high = np.exp(some.box(MEASURE))
        assert (low[0], high[0]) == pytest.approx((0.88 * 841_600, 1.18 * 841_600))
        assert some.box(MEASURE)[:, 2] == pytest.approx([0, math.sqrt((1.5 * 7 + 5) / 1010)])
        many = replace(some, losses=900.0)
        assert many.box(MEASURE)[1, 2] == pytest.approx(math.sqrt(0.5))
        short = replace(some, highest_s=0.0).box(MEASURE)
        assert math.exp(short[0, 1]) == pytest.approx(0.7)

    def test_widens_the_rate_by_the_share_of_losses(self):
        lossy = replace(evidence(CALM), losses=101.0)
        assert math.exp(lossy.box(MEASURE)[1, 0]) == pytest.approx((1.02 + 0.1) * 841_600)


def low_of(segments: float, episodes: float, losses: float = 0.0) -> estimate._Evidence:
    return replace(evidence(CALM), low=LowLosses(segments, episodes, losses))


def test_a_loss_needs_three_episodes_without_a_full_queue():
    few = estimate._loss(low_of(1000, 2), 0.02, 0.05, 0.01)
    assert few == Estimate(0.0, 0.0, pytest.approx(7.22e-3, rel=0.01), "at most")
    assert estimate._loss(low_of(1000, 2), 0.02, 0.05, 0.1).high == pytest.approx(0.01)
    assert estimate._loss(low_of(0, 0), 0, 0, 0).high == 1
    some = estimate._loss(low_of(1000, 3), 0.02, 0.05, 0.1)
    assert some == Estimate(*map(pytest.approx, (0.0025, 0.0004, 0.01)))
    assert estimate._loss(low_of(100, 3), 0.02, 0.05, 0.1).low == 0, "less than a tenth of a loss"
    assert estimate._loss(low_of(1000, 3), -0.02, -0.01, -0.01) == Estimate(0, 0, 0)


@pytest.mark.parametrize(
    ("round_trips_s", "below_s"),
    [
        ([0.1], 0.0005),  # clocks
        ([0.1, 0.3, 0.1002], 0.0038),  # 19 gaps
        ([0.11, 0.1], 0.005),  # a twentieth of the smallest
    ],
)
def test_the_delays_interval_allows_for_smaller_round_trips(round_trips_s, below_s):
    delay = estimate._delay([upload(rtt_min_s=rtt_s) for rtt_s in round_trips_s], 0.05)
    assert delay == Estimate(0.05, pytest.approx(0.05 - below_s / 2), pytest.approx(0.05005))
    assert estimate._delay([upload()], 0.0001).low == 0


def bounded(
    monkeypatch: pytest.MonkeyPatch, seen: estimate._Evidence
) -> tuple[Estimate, Estimate, Estimate]:
    """Returns rate, queue and loss of a link that was never full."""
    monkeypatch.setattr(estimate, "_fit", lambda *arguments: arguments[-3:])
    replay = SimpleNamespace(path=lambda theta: np.exp(theta[:2]).tolist() + [theta[2] ** 2])
    queue: Any = estimate._bounded([CALM], MEASURE, seen, replay)  # type: ignore[arg-type]
    return queue


def test_a_link_that_was_never_full_has_lower_bounds(monkeypatch):
    rate, queue, loss = bounded(monkeypatch, low_of(1000, 2))
    assert rate == Estimate(*map(pytest.approx, (841_600, 0.94 * 841_600, math.inf)), "at least")
    assert queue.value == pytest.approx(10 + 20 + 10, abs=1), "pipe, waiting and ten"
    assert (queue.low, queue.high, queue.bound) == (pytest.approx(10, abs=1), math.inf, "at least")
    assert loss == Estimate(0, 0, pytest.approx(7.22e-3, rel=0.01), "at most")


def test_repeated_losses_of_an_episode_count_but_are_no_evidence(monkeypatch):
    *_, loss = bounded(monkeypatch, low_of(980, 10, 20))
    assert loss.value == pytest.approx(0.02) and not loss.bound
    assert loss.low == pytest.approx(0.002 * 4.795, rel=0.03)
    assert loss.high == pytest.approx(0.002 * 18.39, rel=0.01)
    *_, loss = bounded(monkeypatch, low_of(0, 2))
    assert loss.high == 1


class Repeated:
    """Stands for a replay with these numbers, recorded and repeated."""

    def __init__(self, goodput: dict[str, float], bursts: dict[str, float]) -> None:
        self.observed = "recorded"
        self._of = {GOODPUT: goodput, BURST: bursts}

    def __call__(self, thetas: Any) -> str:
        self.thetas = thetas
        return "repeated"

    def by_control(self, numbers: str, place: int) -> dict[str, Any]:
        if numbers == "recorded":
            return self._of[place]
        return {cc: np.array([value / 4, value / 2]) for cc, value in self._of[place].items()}


def completed(seen: estimate._Evidence) -> tuple[fit.Fit, Repeated]:
    replay = Repeated({"sack": 8e6, "cubic": 4e6}, {"sack": 6.0, "cubic": 6.0})
    unit, path = Estimate(1, 1, 1), Path(2e6, 0.05, 20, 0.01)
    longer = replace(QUEUED, time_s=QUEUED.time_s * 2)
    completed_fit = estimate._fit([QUEUED, longer], seen, replay, path, unit, unit, unit)  # type: ignore[arg-type]
    return completed_fit, replay


def test_a_fit_compares_recorded_and_repeated_uploads():
    path_fit, replay = completed(low_of(1000, 10))
    assert replay.thetas == pytest.approx(np.tile([math.log(2e6), math.log(20), 0.1], (8, 1)))
    assert path_fit.controls == ("cubic", "sack")
    assert (path_fit.uploads, path_fit.seconds) == (2, pytest.approx(15))
    assert path_fit.goodput_bps["sack"] == Goodput(8e6, 3e6, 1e6)
    assert path_fit.burst == pytest.approx(1 / (3 / 8)), "its mean, over that by chance"
    assert completed(low_of(1000, 9))[0].burst == 1, "too few losses to tell"
    assert any("sack 3 Mb/s, but 8 were recorded" in doubt for doubt in path_fit.doubts)
    assert any("2.7 times as many losses" in sentence for sentence in path_fit.doubts)
    assert not any("chance" in sentence for sentence in replace(path_fit, burst=2.0).doubts)


def test_a_wide_interval_of_the_queue_is_only_a_bound(monkeypatch):
    monkeypatch.setattr(estimate, "_fit", lambda *arguments: arguments[-4:])
    replay: Any = SimpleNamespace(
        path=lambda theta: Path(math.exp(theta[0]), 0.05, round(math.exp(theta[1])), theta[2] ** 2)
    )

    def queue_of(queues: list[float]) -> Any:
        draws = np.array([[math.log(1e6), math.log(packets), 0.1] for packets in queues])
        posterior: Any = SimpleNamespace(draws=draws)
        return estimate._inferred([CALM], low_of(1000, 9), replay, posterior)

    path, rate, queue, loss = queue_of([20.0] * 9)
    assert (path.rate_bps, path.queue, path.loss) == pytest.approx((1e6, 20, 0.01))
    assert (rate.low, rate.high) == pytest.approx((0.985e6, 1.015e6))
    assert queue == Estimate(20, pytest.approx(19, abs=1), pytest.approx(21, abs=1))
    assert loss == Estimate(*map(pytest.approx, (0.01, 0.01, 0.01)))
    *_, queue, _ = queue_of([10.0, 20.0, 20.0, 20.0, 60.0])
    assert (queue.bound, queue.high) == ("at least", math.inf)


class TestAReplay:
    def replay(self, **counts: int) -> Replay:
        uploads = [upload(cc=cc, mss=1448) for cc, count in counts.items() for _ in range(count)]
        return Replay(uploads, Measure.of(uploads))

    def test_repeats_up_to_three_uploads_of_each_control(self):
        replay = self.replay(sack=2, cubic=5)
        assert [upload.cc for upload in replay.uploads] == ["cubic"] * 3 + ["sack"] * 2

    def test_repeats_fewer_where_they_are_long(self):
        steps = np.arange(COUNT, dtype=float)
        long = [upload(cc="sack", mss=1448, delivered=250 * steps, sent=250 * steps)] * 3
        assert len(Replay(long, Measure.of(long)).uploads) == 2
        longer = [replace(upload_, sent=4 * upload_.sent) for upload_ in long]
        assert len(Replay(longer, Measure.of(longer)).uploads) == 1

    def test_takes_a_handshake_from_the_smallest_round_trip(self):
        replay = self.replay(sack=1)
        slow, fast = (
            replay.path(np.array([math.log(bps), math.log(19.6), 0.1])) for bps in (1e5, 1e9)
        )
        assert slow.queue == fast.queue == 20 and slow.loss == pytest.approx(0.01)
        assert fast.delay_s == pytest.approx(0.05, abs=1e-5)
        bits = 2 * (0.05 - slow.delay_s) * 1e5
        assert 400 < bits < 2000, "two packets without data"
        assert replay.path(np.array([0.0, -9.0, -1.0])) == Path(1.0, 1e-5, 1, 0.0)

    def test_runs_as_long_as_the_recording_and_two_round_trips(self):
        replay = self.replay(sack=1)
        (job,) = replay._jobs(np.array([[math.log(1e6), math.log(20), 0.0]]))
        assert job.scenario.duration == round(10.2e12) and job.seeds == [1]
        (again,) = replay._jobs(np.array([[math.log(1e6), math.log(20), 0.0]]))
        assert again.seeds == [2], "fresh random numbers"

    def test_an_upload_that_delivers_nothing_has_the_lowest_numbers(self):
        replay = self.replay(sack=1)
        numbers = replay(np.array([[math.log(1e6), math.log(20), 1.0]]))
        assert numbers.tolist() == [[-20.0] * WIDTH]

    def test_numbers_are_told_by_control(self):
        replay = self.replay(sack=1, cubic=1)
        both = np.log(np.arange(1.0, 2 * WIDTH + 1))
        told = replay.by_control(both, GOODPUT)
        assert told == {"cubic": pytest.approx(1), "sack": pytest.approx(WIDTH + 1)}
        assert replay.by_control(both, BURST)["sack"] == pytest.approx(WIDTH + BURST + 1)
