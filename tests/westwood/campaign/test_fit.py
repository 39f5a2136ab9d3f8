# SPDX-License-Identifier: BSD-3-Clause
"""A fit recovers the path of simulated uploads, or says what is unknown.

The simulator makes the recordings, in TCP_INFO's columns; the kernel's are in
tests/linux/path/test_fit.py.
"""

import random
from pathlib import Path as File
from typing import Any

import numpy as np
import polars as pl
import pytest

from westwood import Scenario
from westwood.campaign import fit, trying
from westwood.campaign.fit.estimate import poisson_interval
from westwood.campaign.fit.path import Packets, Path, flow, link
from westwood.campaign.fit.reading import protocol_of
from westwood.engines import linux_limits, ns3_limits, simulator
from westwood.errors import InputError
from westwood.kernel import reading
from westwood.results import journal
from westwood.results.folder import Folder

PACKETS = Packets(1448)
SECONDS = 8.0
QUICK = 64  # draws per round


def simulated(path: Path, cc: str, seed: int, **settings: Any) -> Any:
    chosen = Scenario(
        name="truth",
        duration=f"{SECONDS}s",
        profile="linux",
        link=[link(path, PACKETS)],
        flow=[flow(cc, PACKETS)],
    ).with_settings(settings)
    return simulator.simulate(chosen, seed, trace=True, events=True)


def recorded(
    path: Path, controls: tuple[str, ...] = ("cubic", "sack"), each: int = 2, **settings: Any
) -> Any:
    """Returns some uploads by each control."""
    uploads = (
        fit.of_result(simulated(path, cc, seed, **settings), 0.02)
        for seed in range(101, 101 + each)
        for cc in controls
    )
    return [upload for upload in uploads if upload is not None]


def frame(upload: fit.Upload) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "time_s": upload.time_s,
            "srtt_s": upload.srtt_s,
            "rtt_min_s": upload.rtt_min_s,
            "mss": upload.mss,
            "delivered_bytes": (upload.delivered * upload.mss).astype(int),
            "sent": upload.sent.astype(int),
            "retransmitted": upload.retransmitted.astype(int),
        }
    )


class TestAQueueThatFills:
    TRUTH = Path(3e6, 0.02, 20, 0.0)

    @pytest.fixture(scope="class")
    @classmethod
    def path_fit(cls) -> fit.Fit:
        return fit.fit(recorded(cls.TRUTH)[:2], draws=QUICK)

    def test_has_its_rate_delay_and_queue(self, path_fit):
        truth = self.TRUTH
        assert path_fit.full and not path_fit.rate_bps.bound and not path_fit.queue.bound
        assert path_fit.path.rate_bps == pytest.approx(truth.rate_bps, rel=0.02)
        assert path_fit.path.delay_s == pytest.approx(truth.delay_s, abs=0.0005)
        assert abs(path_fit.path.queue - truth.queue) <= 4
        assert path_fit.rate_bps.covers(truth.rate_bps) and path_fit.queue.covers(truth.queue)

    def test_has_no_wire_loss(self, path_fit):
        assert path_fit.path.loss == 0.0
        assert path_fit.loss.bound == "at most" and path_fit.loss.high < 0.06

    def test_predicts_a_control_that_was_not_recorded(self, path_fit):
        goodputs = [
            simulated(path, "westwood+", 5).flow_rows[0]["goodput_bps"]
            for path in (path_fit.path, self.TRUTH)
        ]
        assert goodputs[0] == pytest.approx(goodputs[1], rel=0.05)

    def test_is_a_scenario_for_every_engine(self, path_fit, tmp_path):
        file = tmp_path / "path.toml"
        file.write_text(fit.toml(path_fit))
        read = Scenario.from_toml(file)
        assert read.hash == fit.scenario(path_fit).hash
        points = [point for _, point in read.points()]
        assert [point.flow[0].cc.name for point in points] == ["cubic", "sack"]
        for point in points:
            ns3_limits.check(point)
            linux_limits.check(point)
            assert simulator.simulate(point, 1).flow_rows[0]["goodput_bps"] > 2e6
        assert "to 3." in file.read_text() and "95 % interval" in file.read_text()


class TestALinkThatIsNeverFull:
    TRUTH = Path(50e6, 0.04, 400, 0.01)

    @pytest.fixture(scope="class")
    @classmethod
    def path_fit(cls) -> fit.Fit:
        return fit.fit(recorded(cls.TRUTH, each=4))

    def test_has_lower_bounds_of_rate_and_queue(self, path_fit):
        assert not path_fit.full
        assert path_fit.rate_bps.bound == path_fit.queue.bound == "at least"
        assert path_fit.rate_bps.low < self.TRUTH.rate_bps
        assert any("never full" in note for note in fit.notes(path_fit))
        assert "rate at least" in fit.summary(path_fit)

    def test_has_the_wire_loss(self, path_fit):
        assert path_fit.loss.covers(self.TRUTH.loss)
        assert path_fit.path.loss == pytest.approx(self.TRUTH.loss, rel=0.3)

    @pytest.mark.slow
    def test_losses_come_in_bursts_where_the_path_fades(self):
        fading = {
            "path.loss": {
                "kind": "markov",
                "good": "600ms",
                "good_rate": 0.0,
                "bad": "12ms",
                "bad_rate": 0.5,
                "on": "forward",
            }
        }
        path_fit = fit.fit(recorded(Path(20e6, 0.01, 400, 0.0), **fading))
        assert path_fit.burst > 2
        assert any("come together" in note for note in fit.notes(path_fit))


def test_the_same_uploads_and_seed_give_the_same_fit():
    uploads = recorded(Path(1e6, 0.01, 8, 0.0), ("sack",))[:1]
    fits = [fit.toml(fit.fit(uploads, seed=3, draws=24)) for _ in range(2)]
    assert fits[0] == fits[1]


def test_a_tcp_info_frame_gives_back_its_upload():
    (upload, *_) = recorded(Path(5e6, 0.01, 20, 0.001))
    read = fit.of_frame(frame(upload).filter(pl.col("delivered_bytes") > 0), "cubic")
    assert read.delivered[-1] == upload.delivered[-1]
    assert read.retransmitted[-1] == upload.retransmitted[-1]
    assert read.rtt_min_s == pytest.approx(upload.rtt_min_s, abs=0.0005)
    later = frame(upload).with_columns(pl.col("time_s") + 1000)
    read = fit.of_frame(later.filter(pl.col("delivered_bytes") > 0), "cubic")
    assert read.time_s[0] == 0, "its clock begins with the first look"


def test_an_upload_ends_with_its_last_acknowledged_byte():
    """The recorder may go on to sample a connection that is idle."""
    recording = frame(recorded(Path(5e6, 0.01, 20, 0.001), ("sack",))[0])
    idle = [recording.tail(1).with_columns(pl.col("time_s") + later) for later in (1.0, 60.0)]
    read, longer = (
        fit.of_frame(rows, "cubic") for rows in (recording, pl.concat([recording, *idle]))
    )
    assert longer.seconds == read.seconds


def test_a_simulated_upload_has_the_counts_at_each_time():
    """It begins with the first acknowledgment of data."""
    result = simulated(Path(5e6, 0.01, 20, 0.001), "cubic", 1)
    upload, events = fit.of_result(result, 0.02), result.events
    assert upload is not None
    acks = events.filter(pl.col("kind") == "ack", pl.col("segment") > 0)
    first_s = acks["time_s"][0]
    for place in (0, 1, 7, 100, -1):
        before = events.filter(pl.col("time_s") <= first_s + upload.time_s[place])
        kinds = before["kind"].cast(pl.String)
        acked = before.filter(pl.col("kind") == "ack")["segment"].max()
        assert upload.delivered[place] == acked
        again = kinds.eq("retransmit").sum()
        assert upload.retransmitted[place] == again
        assert upload.sent[place] == again + kinds.eq("send").sum()
    assert upload.time_s[-1] <= acks["time_s"][-1] - first_s + 0.01


@pytest.mark.parametrize(
    ("spoilt", "message"),
    [
        (lambda recording: recording.head(5), "too short to fit a path to"),
        (
            lambda recording: recording.head(0),
            "too short to fit a path to: nothing was acknowledged",
        ),
        (
            lambda recording: recording.drop("sent"),
            "has no sent; expected the columns of a recording",
        ),
    ],
)
def test_a_recording_that_is_too_short_is_refused(spoilt, message):
    (upload, *_) = recorded(Path(5e6, 0.01, 20, 0.0))
    with pytest.raises(InputError, match=message):
        fit.of_frame(spoilt(frame(upload)), "cubic")


def test_a_recording_of_several_hosts_is_refused(tmp_path):
    own_rows = frame(recorded(Path(5e6, 0.01, 20, 0.001), ("sack",))[0]).with_columns(
        pl.lit(0).alias("transfer"),
        *(
            pl.lit(1.0).alias(column)
            for column in reading.COLUMNS
            if column.endswith(("_bps", "cwnd"))
        ),
        *(pl.lit(1.0).alias(column) for column in ("ssthresh", "rtt_s")),
        state=pl.lit("open"),
        event=pl.lit("window"),
        cc=pl.lit("reno"),
    )

    def recording(*ends: str) -> File:
        recordings = [
            own_rows.with_columns(pl.lit(f"192.0.2.1:{port}>{end}").alias("flow"))
            for port, end in enumerate(ends, start=50000)
        ]
        pl.concat(recordings).write_parquet(tmp_path / "day.parquet")
        return tmp_path / "day.parquet"

    assert len(fit.uploads(recording("[2001:db8::1]:443", "[2001:db8::1]:5201"))) == 2
    with pytest.raises(InputError, match=r"has uploads to 2 hosts, 192.0.2.2, 192.0.2.3; expected"):
        fit.uploads(recording("192.0.2.3:443", "192.0.2.2:443"))


def test_uploads_that_the_path_never_limited_are_refused():
    window = {"upload.receive_window": "28960B"}  # the link could carry 100 times as much
    with pytest.raises(
        InputError, match=r"never limited these uploads: there was no loss and no queue"
    ):
        fit.fit(recorded(Path(100e6, 0.02, 400, 0.0), **window))


def test_kernel_controls_match_protocols_with_sack():
    assert protocol_of("reno") == "sack"
    assert protocol_of("ww_plus") == "westwood+"
    assert protocol_of("dctcp") is None


@pytest.mark.parametrize(
    ("count", "low", "high"), [(0, 0, 3.689), (3, 0.619, 8.767), (10, 4.795, 18.39)]
)
def test_poisson_interval_agrees_with_garwoods_table(count, low, high):
    """Values from Garwood's table; Wilson and Hilferty's cube is within 3 %."""
    assert poisson_interval(count) == pytest.approx((low, high), rel=0.03)


def test_a_folder_of_other_files_is_refused_in_one_line(westwood, tmp_path):
    (tmp_path / "others").mkdir()
    (tmp_path / "others" / "file").touch()
    called = westwood("path", "fit", tmp_path / "others").refusal()
    assert "others: not a folder of westwood path compare" in called


def test_the_estimates_of_a_random_path_are_in_order():
    choices = random.Random(8)
    truth = Path(
        choices.uniform(1e6, 5e6), choices.uniform(0.002, 0.1), 5, choices.uniform(0, 0.02)
    )
    path_fit = fit.fit(recorded(truth, ("cubic",))[:1], draws=24)
    for estimate in (path_fit.rate_bps, path_fit.delay_s, path_fit.queue, path_fit.loss):
        assert 0 <= estimate.low <= estimate.value <= max(estimate.high, estimate.value)


def test_looks_at_equal_distances_end_with_the_last_one():
    times = np.array([0.0, 0.1, 0.25, 1.0])
    upload = fit.Upload("cubic", 1000, 0.05, times, times, 10 * times, times, times)
    assert upload.sampled(0.5).time_s.tolist() == [0.0, 0.5, 1.0]
    assert upload.sampled(0.5).delivered.tolist() == [0.0, 5.0, 10.0], "spread between looks"
    assert upload.sampled(0.5).sent.tolist() == [0.0, 0.25, 1.0], "as it was seen last"


def test_uploads_are_read_from_the_folder_of_path_compare(tmp_path):
    looks = [0.02 * place for place in range(200)]
    trace = pl.DataFrame({"time_s": looks, "srtt_s": [0.06] * 200}).with_columns(
        delivered_bytes=14480 * pl.int_range(200),
        sent=10 * pl.int_range(200),
        retransmitted=pl.lit(0),
    )
    rows = [
        {"pair": 1, "cc": cc, "min_rtt_s": 0.05, "mss": 1448} for cc in ("cubic", "reno", "bbr")
    ]
    rows[2]["error"] = "the server went away"
    folder = Folder(tmp_path / "compared")
    for row in rows[:2]:
        folder.frame(trying.trace_file(row), trace)
    folder.manifest({})
    (folder.path / trying.JOURNAL).write_bytes(b"".join(map(journal.line_of, rows)))
    del folder
    uploads = fit.uploads(tmp_path / "compared")
    assert [upload.cc for upload in uploads] == [protocol_of("cubic"), protocol_of("reno")]
    assert all(
        (upload.mss, upload.rtt_min_s, upload.delivered[-1]) == (1448, 0.05, 1990)
        for upload in uploads
    )
