# SPDX-License-Identifier: BSD-3-Clause
"""`path compare` decides honestly and says why: its verdicts, causes, order and options.

No network is needed here; tests/linux/path/test_trying.py makes real uploads.
"""

import itertools
import math
import socket
import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from westwood.campaign import (
    causes,
    iperf3,
    preparing,
    rehearsal,
    trying,
    verdict,
)
from westwood.campaign.plan import Server
from westwood.campaign.verdict import TrialVerdict
from westwood.control.catalogue import PROTOCOLS
from westwood.errors import InputError
from westwood.kernel import ww_kernel
from westwood.results import sequential
from westwood.results.traces import STATES
from westwood.results.verdicts import Verdict

HOST = Server("192.0.2.1", 5201)


def verdict_of(gains: Sequence[float], worth: float = 0.05) -> TrialVerdict:
    return in_logarithms([math.log1p(gain) for gain in gains], worth)


def in_logarithms(
    gains: Sequence[float], worth: float = 0.05, level: float = 0.95, pair_s: float = 22.0
) -> TrialVerdict:
    return TrialVerdict("ww_plus", "cubic", list(gains), worth, level, pair_s)


def test_a_gain_beyond_chance_pays():
    verdict = verdict_of([0.2, 0.25, 0.3, 0.15, 0.22, 0.4, 0.1, 0.2])
    assert verdict.verdict == Verdict.MEETS and verdict.wins == 8 and verdict.more_s == 0
    assert verdict.sentence("losses come at minimum RTT") == (
        "pays: ww_plus +22 % against cubic (95 %: +10 to +37 %), 8 of 8 pairs; "
        "losses come at minimum RTT"
    )


def test_a_gain_below_the_worthwhile_one_does_not_pay():
    for gains in ([-0.01, 0.0, 0.01, -0.02, 0.0, 0.01], [0.02, 0.021, 0.019, 0.02, 0.0205, 0.02]):
        assert verdict_of(gains).verdict == Verdict.FAILS
    assert verdict_of([0.02, 0.021, 0.019, 0.02, 0.0205, 0.02], worth=0.01).verdict == Verdict.MEETS
    sentence = verdict_of([-0.3, -0.35, -0.25, -0.3, -0.28, -0.33]).sentence(
        "the path loses nothing, it queues"
    )
    assert sentence.startswith("does not pay: ww_plus -30 % against cubic (95 %: -")
    assert sentence.endswith("%), 0 of 6 pairs; the path loses nothing, it queues")


def test_an_undecided_verdict_says_how_much_longer_it_takes():
    verdict = verdict_of([0.5, -0.4, 0.9, -0.3, 0.2, -0.1])
    assert verdict.verdict == Verdict.CANNOT_TELL
    assert verdict.more_s > 0 and verdict.more_s % 22 == 0
    assert "3 of 6 pairs; about " in verdict.sentence("") and verdict.sentence("").endswith(
        " more needed"
    )
    assert verdict_of([]).sentence("") == (
        "cannot tell: ww_plus against cubic, not one pair of uploads was finished"
    )
    assert "one pair of uploads" in verdict_of([0.1]).sentence("")
    assert "(95 %: no bounds yet), 2 of 2 pairs; about " in verdict_of([0.1, 0.2]).sentence("")
    assert verdict_of([0.1]).entry("")["more_s"] is None


def test_the_predicted_time_ends_with_the_first_verdict():
    """ "Pays" needs a lower end above 0, "does not pay" an upper end below the worth."""
    worth = math.log1p(0.05)
    for mean in (-0.02, 0.0, 0.01, 0.024, 0.025, 0.04, 0.06):
        gains = [mean + off for off in (0.2, -0.15, 0.1, -0.2, 0.15, -0.1)]
        trial_verdict = in_logarithms(gains)
        assert trial_verdict.verdict == Verdict.CANNOT_TELL
        halves = [half for half in (mean, worth - mean) if half > 0]
        pairs = min(sequential.count_needed(trial_verdict.sample, half) for half in halves)
        assert pairs > len(gains)
        assert trial_verdict.more_s == (pairs - len(gains)) * 22


def test_the_predicted_time_is_enough():
    """About half of the experiments are decided after the predicted time."""
    random = np.random.default_rng(3)
    decided = []
    for _ in range(100):
        gains = random.normal(0.3, 0.4, 400)
        trial_verdict = in_logarithms(gains[:6].tolist(), pair_s=1)
        if trial_verdict.verdict == Verdict.CANNOT_TELL:
            later = gains[: 6 + int(trial_verdict.more_s)].tolist()
            decided.append(in_logarithms(later).verdict != Verdict.CANNOT_TELL)
    assert len(decided) > 50 and np.mean(decided) > 0.4


@pytest.mark.parametrize("deviation", [0.02, 0.3, 1.0])
def test_without_an_effect_at_most_five_percent_of_verdicts_say_that_it_pays(deviation):
    """Like `path compare`, it checks after each pair and stops at the first that decides."""
    random = np.random.default_rng(4)
    counts = {Verdict.MEETS: 0, Verdict.FAILS: 0, Verdict.CANNOT_TELL: 0}
    for _ in range(400):
        gains = random.normal(0, deviation, 40).tolist()
        words = [in_logarithms(gains[:n]).verdict for n in range(1, 41)]
        counts[next((word for word in words if word != Verdict.CANNOT_TELL), words[-1])] += 1
    assert counts[Verdict.MEETS] <= 0.05 * 400
    if deviation < 0.1:
        assert counts[Verdict.FAILS] >= 0.95 * 400


def test_several_controls_share_the_five_percent():
    rows = pl.DataFrame(
        [
            {"pair": pair, "cc": cc, "goodput_bps": rate * (1 + 0.1 * (pair % 3))}
            for pair in range(1, 9)
            for cc, rate in (("cubic", 1e6), ("ww_plus", 2e6), ("bbr", 1e6))
        ]
    )
    two, three = (verdict.verdicts(rows, cc, 0.05, 1) for cc in CONTROLS)
    assert two[0].level == pytest.approx(0.95) and three[0].level == pytest.approx(0.975)
    assert [verdict.verdict for verdict in three] == [Verdict.MEETS, Verdict.FAILS]
    assert verdict.gains(rows.filter(pl.col("pair") < 3), "bbr", "cubic") == [0, 0]


NONE = pl.DataFrame()
CONTROLS = (("cubic", "ww_plus"), ("cubic", "ww_plus", "bbr"))


def test_an_upload_without_a_partner_is_no_pair():
    rates = {"pair": [1, 1, 2], "cc": ["a", "b", "a"], "goodput_bps": [1e5, 2e5, 9e5]}
    assert verdict.gains(pl.DataFrame(rates), "b", "a") == [pytest.approx(math.log(2))]
    rates["goodput_bps"][1] = 0.0
    assert math.isfinite(verdict.gains(pl.DataFrame(rates), "b", "a")[0]), "nothing got through"
    assert verdict.gains(pl.DataFrame(), "b", "a") == []


def test_each_random_order_is_followed_by_its_reverse():
    for controls in CONTROLS:
        drawn = list(itertools.islice(trying.orders(controls, 1), 40))
        assert drawn == list(itertools.islice(trying.orders(controls, 1), 40))
        assert all(order == two[::-1] for order, two in zip(drawn[::2], drawn[1::2], strict=True))
        assert len({*drawn}) == math.factorial(len(controls))
        assert drawn != list(itertools.islice(trying.orders(controls, 2), 40))


def trace(rtts_ms: Sequence[float], states: Sequence[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_s": [0.1 * place for place in range(len(rtts_ms))],
            "srtt_s": [1e-3 * rtt for rtt in rtts_ms],
            "state": pl.Series(states, dtype=pl.Enum(STATES)),
        }
    )


def test_losses_have_the_round_trip_before_them():
    states = ["open", "disorder", "recovery", "recovery", "loss", "open", "loss", "open"]
    trace_ = trace([10, 20, 30, 40, 50, 60, 70, 80], states)
    assert causes.losses(trace_, NONE)["rtt_s"].to_list() == pytest.approx([0.02, 0.04, 0.06])
    assert causes.timeouts(trace_, NONE) == 2
    events = pl.DataFrame(
        {
            "time_s": [0.0, 0.21, 0.43, 0.5],
            "rtt_s": [math.nan, 0.031, math.nan, 0.05],
            "srtt_s": [math.nan, 0.02, 0.045, 0.05],
            "event": ["start", "loss", "timeout", "exit"],
        }
    )
    assert causes.losses(trace_, events).rows() == [(0.21, 0.031), (0.43, 0.045)]
    assert causes.timeouts(trace_, events) == 1
    assert causes.full_rtt_s(trace_) == pytest.approx(0.08)
    assert math.isnan(causes.full_rtt_s(trace([math.nan], ["open"])))


def refusal(**changed: Any) -> str:
    """Returns the reason for ten uploads of a minute, from 40 ms up to 100 ms."""
    row = {"min_rtt_s": 0.04, "full_rtt_s": 0.1, "seconds": 60.0, "busy_s": 60.0, "timeouts": 0}
    row |= {"rwnd_limited_s": 0.0, "sndbuf_limited_s": 0.0}
    row |= {key: value for key, value in changed.items() if key in row}
    times = pl.Series("rtt_s", changed.get("lost", []), pl.Float64)
    return causes.causes(pl.DataFrame([row] * 10), pl.DataFrame({"rtt_s": times})).reason()


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({}, "the path loses nothing, it queues"),
        ({"full_rtt_s": 0.043}, "the path loses nothing"),
        ({"lost": [0.05] * 9 + [0.1]}, "losses come at minimum RTT"),
        ({"lost": [0.09] * 9 + [0.05]}, "losses come from a full queue"),
        ({"lost": [0.05, 0.05, 0.09, 0.09]}, "50 % of the losses come at minimum RTT, the others"),
        ({"lost": [0.041] * 9, "full_rtt_s": 0.042}, "losses come at minimum RTT"),
        ({"lost": [0.05] * 9, "timeouts": 3}, "minimum RTT, 30 by a timeout"),
        ({"rwnd_limited_s": 40.0}, "the receiver's window limits, not the path"),
        ({"sndbuf_limited_s": 40.0}, "the send buffer limits, not the path"),
    ],
)
def test_the_reason_follows_from_the_uploads(changed, reason):
    assert reason in refusal(**changed)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"\xff", "is busy with another test"),
        (b"H", "says state 72 where iperf3 says parameters"),
        (b"", "closed the connection"),
    ],
)
def test_a_server_that_refuses_an_upload_is_reported(answer, expected):
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def serve():
            connection, _ = server.accept()
            with connection:
                connection.recv(37)
                connection.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        with pytest.raises(iperf3.ConnectionLost, match=f"^127.0.0.1:{port}:? {expected}$"):
            iperf3.upload("127.0.0.1", port, "reno", iperf3.Load(seconds=1), 5)
        thread.join()


def test_an_upload_is_long_enough_for_a_dozen_pairs():
    def upload_s(for_s: float, given: float | None = None) -> float:
        return trying.plan(HOST, ("cubic", "ww_plus"), for_s, given, "5%", 1).upload_s

    assert [upload_s(for_s) for for_s in (600, 120, 10, 36_000)] == [20, 5, 2, 20]
    three = trying.plan(HOST, ("cubic", "ww_plus", "ww_cubic"), 360, None, "5%", 1)
    assert three.upload_s == 10, "a round has an upload by each"
    assert upload_s(600, 0.5) == 0.5
    with pytest.raises(InputError, match=r"--for = .*: expected at least 4s, an upload by each"):
        upload_s(3)
    with pytest.raises(InputError, match=r"--upload = .*: expected a time from 0.1s"):
        upload_s(600, 0)


def test_by_default_what_is_not_experimental_is_compared_with_the_systems(monkeypatch):
    monkeypatch.setattr(preparing, "_sysctl", lambda name: "cubic")
    assert preparing.controls_of(()) == ("cubic", "ww_plus")
    tried = [PROTOCOLS[ww_kernel.CONTROLS[name]] for name in preparing.CANDIDATES]
    assert not any(option.warning for option in tried)
    monkeypatch.setattr(preparing, "_sysctl", lambda name: "ww_plus")
    with pytest.raises(InputError, match="already this machine's default; also name"):
        preparing.controls_of(())


def test_a_file_is_compared_by_its_name_in_the_kernel(monkeypatch):
    monkeypatch.setattr(preparing, "_sysctl", lambda name: "cubic")
    names = ["./mine.c", "reno"]
    assert preparing.controls_of(names) == ("ww_mine", "reno")
    assert preparing.files_of(names) == {"ww_mine": "./mine.c"}


def test_two_controls_without_effect_seldom_pay():
    """Any stopping rule makes either verdict wrong in at most five of a hundred trials."""
    random = np.random.default_rng(5)
    wrong = 0
    for _ in range(300):
        gains = random.normal(0, 0.3, (2, 30)).tolist()
        level = 1 - 0.05 / 2
        wrong += any(
            in_logarithms(gain[:n], level=level).verdict == Verdict.MEETS
            for gain in gains
            for n in range(1, 31)
        )
    assert wrong <= 0.05 * 300


def test_the_emulated_path_is_the_scenarios_with_the_given_settings():
    usual = rehearsal.path(None, {})
    assert usual.profile == "linux" and usual.link[0].rate == 10_000_000
    faster = rehearsal.path(None, {"rate": "50Mbps", "loss.rate": 0})
    assert faster.link[0].rate == 50_000_000 and faster.hash != usual.hash
    with pytest.raises(InputError, match=r"rate = \"50\": a unit is missing"):
        rehearsal.path(None, {"rate": "50"})
