# SPDX-License-Identifier: BSD-3-Clause
"""A trial makes rounds until it is decided or its time is up, and its page shows what it found."""

import json
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import pytest

from westwood.campaign import trial_page, trying, verdict
from westwood.campaign.plan import Server
from westwood.errors import RunError
from westwood.results import journal
from westwood.results.folder import Folder
from westwood.results.traces import STATES

HOST = Server("192.0.2.1", 5201)
CONTROLS = ("cubic", "ww_plus")


def trial_of(for_s: float = 60.0, controls: Sequence[str] = CONTROLS) -> trying.Trial:
    return trying.Trial(trying.plan(HOST, tuple(controls), for_s, 2.0, "5%", 1))


def row_of(cc: str, mbps: float, **more: float) -> dict[str, Any]:
    row: dict[str, Any] = {"cc": cc, "goodput_bps": 1e6 * mbps, "seconds": 2.0}
    row |= {"min_rtt_s": 0.04, "full_rtt_s": 0.1, "busy_s": 2.0, "timeouts": 0, "losses": 1}
    row |= {"rwnd_limited_s": 0.5, "sndbuf_limited_s": 0.1, "retransmission_ratio": 0.02}
    return row | {"mean_cwnd": 10.0, "mean_srtt_s": 0.05} | more


def trace() -> pl.DataFrame:
    states = pl.Series(["open", "recovery", "open"], dtype=pl.Enum(STATES))
    return pl.DataFrame({"time_s": [0.0, 0.1, 0.2], "srtt_s": [0.04, 0.05, 0.06], "state": states})


class Host:
    """Stands for a server and a clock: uploads take their time and have these rates."""

    def __init__(self, rates: dict[str, list[float]], seconds: list[float]) -> None:
        self.now = 1000.0
        self._rates = {cc: iter(several) for cc, several in rates.items()}
        self._seconds: Iterator[float] = iter(seconds)

    def monotonic(self) -> float:
        return self.now

    def measure(self, plan: trying.TrialPlan, cc: str) -> Any:
        self.now += next(self._seconds)
        rate = next(self._rates[cc], None)
        if rate is None:
            raise RunError("the server went away")
        return row_of(cc, rate), trace(), pl.DataFrame()


def run(
    monkeypatch: pytest.MonkeyPatch, folder: Path, host: Host, for_s: float = 60.0
) -> trying.Trial:
    monkeypatch.setattr(trying, "time", host)
    monkeypatch.setattr(trying, "_measure", host.measure)
    trial = trial_of(for_s)
    trying.run(trial, Folder(folder), {}, lambda trial: None)
    return trial


UNSURE = {"cubic": [1.0, 2.0] * 20, "ww_plus": [2.0, 1.0] * 20}


def test_a_trial_ends_where_the_longest_round_no_longer_fits(monkeypatch, tmp_path):
    """Rounds of 5, 12, 5, 5 and so on: 27 s of 38 are used, and 11 are too few for another."""
    seconds = [2.5, 2.5, 6.0, 6.0, *[2.5] * 40]
    trial = run(monkeypatch, tmp_path / "a", Host(UNSURE, seconds), 38.0)
    assert (trial.rounds, trial.round_s, trial.problem) == (4, 12.0, "")
    assert [row["pair"] for row in trial.rows] == [1, 1, 2, 2, 3, 3, 4, 4]
    assert [row["place"] for row in trial.rows] == [1, 2] * 4
    exactly = run(monkeypatch, tmp_path / "b", Host(UNSURE, seconds), 39.0)
    assert exactly.rounds == 5, "12 s are left for another"


def test_a_trial_ends_as_soon_as_it_is_decided(monkeypatch, tmp_path):
    """It is incomplete until its command has written the page."""
    clear = {"cubic": [1.0, 1.1] * 20, "ww_plus": [2.0, 2.1] * 20}
    trial = run(monkeypatch, tmp_path / "a", Host(clear, [1.0] * 80))
    assert trial.is_decided and trial.rounds == 5
    assert not trial_of().is_decided
    assert json.loads((tmp_path / "a" / "manifest.json").read_text())["complete"] is False


def test_each_upload_is_kept_as_it_ends(monkeypatch, tmp_path):
    rates = {"cubic": [1.0], "ww_plus": [2.0, 3.0]}
    trial = run(monkeypatch, tmp_path / "a", Host(rates, [1.0] * 80))
    assert (trial.rounds, trial.problem) == (1, "the server went away")
    kept = journal.read(tmp_path / "a" / trying.JOURNAL).records
    assert [(row["pair"], row["cc"]) for row in kept[:2]] in (
        [(1, "cubic"), (1, "ww_plus")],
        [(1, "ww_plus"), (1, "cubic")],
    )
    assert len(kept) == len(trial.rows)
    traces = dict(trying.traces(trial, Folder(tmp_path / "a"), 1))
    assert set(traces) == set(CONTROLS) and all(frame.equals(trace()) for frame in traces.values())
    losses = trial.losses.filter(pair=1)
    assert losses.select("pair", "time_s", "rtt_s").unique().rows() == [(1, 0.1, 0.04)]
    assert sorted(losses["cc"]) == sorted(CONTROLS)


def test_a_trial_without_a_round_is_an_error(monkeypatch, tmp_path):
    with pytest.raises(RunError, match="went away"):
        run(monkeypatch, tmp_path / "a", Host({"cubic": [], "ww_plus": []}, [1.0]))


def test_a_pair_takes_as_long_as_the_longest_round():
    trial = trial_of(controls=("cubic", "ww_plus", "bbr"))
    assert trial.causes() is None and trial.frame.is_empty()
    assert [verdict.pair_s for verdict in trial.verdicts()] == [6.0, 6.0], (
        "an upload by each, so far"
    )
    trial.round_s = 7.5
    assert [verdict.pair_s for verdict in trial.verdicts()] == [7.5, 7.5]


def test_an_upload_is_repeated_once_if_the_machine_stalled(monkeypatch):
    starts: list[float] = []

    def upload(stalls: list[float]) -> float:
        starts.clear()

        def upload_once(plan: trying.TrialPlan, cc: str, seconds: float) -> Any:
            starts.append(seconds)
            return SimpleNamespace(stood_still_s=stalls[len(starts) - 1])

        monkeypatch.setattr(trying, "_upload", upload_once)
        done, _ = trying._patiently(trial_of().plan, "cubic")
        return done.stood_still_s

    assert upload([0.1, 0.0]) == 0.1 and starts == [2.0]
    assert upload([0.11, 0.0]) == 0.0 and starts == [2.0, 2.0]
    assert upload([0.5, 0.6, 0.0]) == 0.6, "the second counts in any case"


def test_a_broken_connection_is_tried_again_after_longer_and_longer_pauses(monkeypatch):
    pauses: list[float] = []
    monkeypatch.setattr(trying, "time", SimpleNamespace(sleep=pauses.append))

    def lost(*_: object) -> Any:
        raise trying.iperf3.ConnectionLost("busy")

    monkeypatch.setattr(trying, "_upload", lost)
    with pytest.raises(trying.iperf3.ConnectionLost):
        trying._patiently(trial_of().plan, "cubic")
    assert pauses == [1.0, 2.0, 4.0]


PAIRS = ((1.0, 2.0), (2.0, 2.2), (1.0, 1.5))


def ended() -> trying.Trial:
    """Three pairs with gains of 100, 10 and 50 %, and an upload without a partner."""
    trial = trial_of()
    for number, rates in enumerate(PAIRS, 1):
        for cc, rate in zip(CONTROLS, rates, strict=True):
            trial.rows.append({"pair": number, "place": 1, **row_of(cc, rate)})
    trial.rows.append({"pair": 4, "place": 1, **row_of("cubic", 9.0, mean_srtt_s=math.nan)})
    trial.rounds = 3
    return trial


def test_the_pair_with_the_median_gain_is_shown():
    assert trial_page._typical(ended()) == 3
    assert trial_page._typical(trial_of()) == 1


def test_the_page_has_each_controls_means_and_every_pair():
    trial = ended()
    means = trial_page._means(trial.frame, CONTROLS)
    assert means.heads[:3] == ["control", "uploads", "goodput, Mb/s"]
    cubic, ours = means.rows
    assert cubic[:5] == ["cubic", "4", "3.25", "2", "1"]
    assert ours == ["ww_plus", "3", "1.9", "2", "1", "0", "10", "50", "40"]
    assert cubic[7] == "-", "one of its round trips is unknown"
    pairs = trial_page._pairs(trial.frame, CONTROLS)
    assert pairs.heads == ["pair", "cubic, Mb/s", "ww_plus, Mb/s", "ww_plus: gain"]
    assert pairs.rows == [
        ["1", "1", "2", "+100 %"],
        ["2", "2", "2.2", "+10 %"],
        ["3", "1", "1.5", "+50 %"],
    ]


def test_the_page_describes_the_path_and_the_machine():
    path, machine = trial_page._facts(ended(), {"machine": {"kernel": "6.1"}})
    shown = dict(tuple(cells) for cells in (path.rows))
    assert shown["server"] == "192.0.2.1, port 5201"
    assert float(shown["smallest RTT, ms"]) == 40
    assert float(shown["what a full queue adds, ms"]) == pytest.approx(60)
    assert float(shown["of the time the receiver's window limits, %"]) == 25
    assert float(shown["of the time the send buffer limits, %"]) == 5
    assert "kernel" in str(machine)


def test_the_course_of_an_interval_begins_without_bounds():
    (course,) = trial_page._courses(ended())
    shown = [course.gain, course.low, course.high]
    assert [len(curve) for curve in shown] == [3, 3, 3]
    gains = [2.0, math.sqrt(2.0 * 1.1), (2.0 * 1.1 * 1.5) ** (1 / 3)]
    assert shown[0] == pytest.approx([gain - 1 for gain in gains])
    assert all(math.isnan(low) for low in shown[1]), "five pairs are needed"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "1 s"),
        (119.4, "119 s"),
        (120, "2 minutes"),
        (121, "3 minutes"),
        (7140, "119 minutes"),
        (7200, "2 hours"),
        (86_399, "24 hours"),
        (86_400, "a day or more"),
        (math.nan, "a day or more"),
    ],
)
def test_a_time_is_told_in_a_unit_that_suits_it(seconds, words):
    assert verdict.duration(seconds) == words
