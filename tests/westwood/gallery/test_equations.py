# SPDX-License-Identifier: BSD-3-Clause
"""The gallery's controls follow the equations of their papers and RFCs."""

import math

import pytest

from . import comparisons, models
from .driven import Ack, driven
from .models import APPENDIX_B, Window, highspeed_a

INFINITE = 0x7FFFFFFF
MS = 1000


@pytest.mark.parametrize("name", comparisons.equations())
def test_the_windows_are_those_of_the_equations(name):
    assert comparisons.beside_equations(name) <= 1


def steady(count: int, rtt_us: int, flight: int = 100) -> list[Ack]:
    """Returns ACKs with the same round trip, one each millisecond."""
    return [Ack(i * MS, rtt_us, flight=flight) for i in range(1, count + 1)]


@pytest.mark.parametrize("rtt_ms", [25, 50, 100, 200])
def test_hyblas_rate_grows_as_that_of_a_round_trip_of_25_ms(rtt_ms):
    rho = rtt_ms / 25
    grown = driven("hybla.c", steady(1000, rtt_ms * MS), cwnd=1000)[-1].cwnd - 1000
    assert grown == pytest.approx(rho**2, rel=0.04, abs=1)  # in a window of ACKs
    first = driven("hybla.c", steady(1, rtt_ms * MS), cwnd=10, ssthresh=INFINITE)[0]
    assert first.cwnd - 10 == pytest.approx(2**rho - 1, abs=1)


def test_scalable_grows_by_a_hundredth_and_falls_by_an_eighth():
    seen = driven("scalable.c", [*steady(4000, 90 * MS), "loss 5000000"], cwnd=1000)
    assert [seen[-2].cwnd, seen[-1].cwnd] == [1040, 910]


def test_scalables_small_windows_are_renos():
    seen = driven("scalable.c", [*steady(16, 90 * MS), "loss 17000"], cwnd=15)
    assert [seen[-2].cwnd, seen[-1].cwnd] == [16, 8]


@pytest.mark.parametrize("w", APPENDIX_B)
def test_highspeed_has_the_rows_of_appendix_b(w):
    """A row of the RFC's table is the first window whose a(w) exceeds its number."""
    a, b = APPENDIX_B[w]
    shown_a, shown_b = driven("highspeed.c", steady(1, 90 * MS), cwnd=w)[0].quantities
    assert shown_b / 1000 == pytest.approx(b, abs=0.0051)
    assert shown_a / 1000 == pytest.approx(max(highspeed_a(w), 1), rel=0.002)
    assert round(shown_a / 1000) == a


@pytest.mark.parametrize(
    ("after_s", "alpha"), [(0.5, 1.0), (1.0, 1.0), (2.0, 11.25), (3.0, 22.0), (11.0, 126.0)]
)
def test_htcps_alpha_grows_with_the_time_since_the_loss(after_s, alpha):
    later = round(after_s * 1_000_000) + 1000
    calls = [Ack(1000, 90 * MS), "loss 1000", Ack(later, 90 * MS)]
    assert driven("htcp.c", calls, cwnd=100)[-1].quantities[0] / 1000 == pytest.approx(
        alpha, rel=0.01
    )


@pytest.mark.parametrize(
    ("share", "alpha", "beta"),
    [(0.0, 10.0, 0.125), (0.1, 2.5376, 0.125), (0.45, 0.6518, 0.3125), (1.0, 0.3, 0.5)],
)
def test_illinois_has_the_alpha_and_beta_of_a_queueing_time(share, alpha, beta):
    """The queueing time is a share of the largest, 100 ms."""
    rtts = [50, 150] + 400 * [round(50 + 100 * share)]
    calls = [Ack(i * MS, rtt * MS, flight=50) for i, rtt in enumerate(rtts, 1)]
    shown = driven("illinois.c", calls, cwnd=100)[-1].quantities
    assert shown[0] / 1000 == pytest.approx(alpha, rel=0.01)
    assert shown[1] / 1000 == pytest.approx(beta, abs=0.002)


def test_dctcps_alpha_becomes_the_share_that_is_marked_and_the_window_falls_by_half_of_it():
    calls = [Ack(i * MS, 90 * MS, flight=100, marked=int(i % 5 == 0)) for i in range(1, 10_001)]
    seen = driven("dctcp.c", [*calls, "mark 10002000"], cwnd=100)
    assert seen[-1].quantities[0] / 1000 == pytest.approx(0.2, abs=0.005)
    assert seen[-1].cwnd / seen[-2].cwnd == pytest.approx(1 - 0.2 / 2, abs=0.01)


def test_an_unmarked_loss_halves_dctcps_window():
    assert driven("dctcp.c", ["loss 1000"], cwnd=100)[-1].cwnd == 50


def copas_queue(ms: int, cwnd: int) -> list[int]:
    """Returns the windows of Copa while ACKs have waited in the queue for this time."""
    calls = [Ack(1000, 100 * MS, flight=0)]  # RTTmin, and slow start ends below
    calls += [Ack(i * MS, (100 + ms) * MS, flight=99) for i in range(200, 2200)]
    return [step.cwnd for step in driven("copa.c", calls, cwnd=cwnd, ssthresh=INFINITE)]


@pytest.mark.parametrize("cwnd", [20, 100])
@pytest.mark.parametrize("ms", [5, 20, 50])
def test_copa_steers_towards_one_over_delta_dq(ms, cwnd):
    rate, target = cwnd / (100 + ms), 1 / (0.5 * ms)  # segments per ms
    windows = copas_queue(ms, cwnd)
    assert (windows[150] > cwnd) == (rate <= target)


def test_copas_velocity_doubles_once_the_direction_has_stayed_for_three_windows():
    calls = [Ack(1000, 100 * MS, flight=0)]
    calls += [Ack(100 * MS + i * 100, 140 * MS, flight=99) for i in range(1200)]
    shown = [step.quantities[1] for step in driven("copa.c", calls, cwnd=2000, ssthresh=INFINITE)]
    assert list(dict.fromkeys(shown)) == sorted(set(shown))
    assert set(shown) >= {1, 2, 4, 8}
    assert shown.index(2) - 1 == pytest.approx(400, abs=101)


def test_copa_paces_at_twice_its_rate():
    seen = driven("copa.c", steady(1, 100 * MS), cwnd=50, ssthresh=INFINITE)[0]
    assert seen.pacing == pytest.approx(2 * seen.cwnd * 1000 / 0.1, rel=0.01)


@pytest.mark.parametrize("flows", [1, 4])
def test_copas_queue_swings_up_to_two_and_a_half_per_delta_of_each_flow(flows):
    """Arun & Balakrishnan 2018, 3: from 0 to 2.5 n / delta segments, n / delta on average."""
    most, mean = comparisons.copas_queue(flows)
    assert most == pytest.approx(2.5 * flows / 0.5, abs=1.5)
    assert mean == pytest.approx(flows / 0.5, rel=0.15)


def test_adaptive_reno_falls_by_the_congestion_that_its_round_trip_shows():
    for queue_ms, kept in ((0, 1.0), (50, 1 / 1.5), (100, 0.5)):
        calls: list[Ack | str] = [Ack(1000, 50 * MS), Ack(2000, 150 * MS), "loss 2000"]
        calls += [Ack(3000, (50 + queue_ms) * MS), "loss 4000"]
        seen = driven("areno.c", calls, cwnd=1000)
        full = 0.85 * 150 + 0.15 * (50 + queue_ms)
        c = min(queue_ms / (full - 50), 1)
        assert seen[-1].cwnd / seen[-2].cwnd == pytest.approx(1 / (1 + c), abs=0.003)
        assert kept == pytest.approx(1 / (1 + c), abs=0.05)


def test_jerseys_estimate_is_the_rate_of_the_acks():
    seen = driven("jersey.c", [*steady(2000, 90 * MS), "loss 2000000"], cwnd=500)
    assert seen[-1].cwnd == pytest.approx(90, abs=1)  # 1000 bytes each ms, for 90 ms


def test_jersey_takes_unmarked_losses_for_the_links_where_queues_mark():
    calls = [*steady(2000, 90 * MS), "loss 2000000", "mark 2000000"]
    seen = driven("jersey.c", calls, cwnd=500, parameters={1: 1})
    assert seen[-2].cwnd == seen[-3].cwnd
    assert seen[-1].cwnd == pytest.approx(90, abs=1)


def test_log_westwoods_way_back_shrinks_by_the_same_factor_each_round_trip():
    calls: list[Ack | str] = [*steady(2000, 90 * MS, flight=90), "loss 2000000"]
    seen = driven("log_westwood.c", calls, cwnd=5000)
    top, low = seen[-2].cwnd, seen[-1].cwnd
    assert low == pytest.approx(90, abs=2)
    calls += [Ack((2000 + i) * MS, 90 * MS, flight=90) for i in range(1, 20_001)]
    windows = [step.cwnd for step in driven("log_westwood.c", calls, cwnd=5000)][len(seen) :]
    reached = next(i for i, window in enumerate(windows) if window >= top - (top - low) / math.e)
    model = models.LogWestwood(Window(low), w_max=top, least=90_000)
    for _ in range(reached):
        model.ack(90_000, False)
    assert model.window.cwnd == pytest.approx(windows[reached], rel=0.01)
