# SPDX-License-Identifier: BSD-3-Clause
"""A recording is read as far as it was written, and an invalid cell is named."""

import os
from pathlib import Path

import polars as pl
import pytest

from westwood.errors import InputError
from westwood.kernel import reading

HEAD = (
    "netns,flow,time_s,cwnd,ssthresh,estimate_bps,sample_bps,rtt_s,srtt_s,rto_s,in_flight,"
    "state,event,cc,rtt_min_s,mss,delivered_bytes,sent,retransmitted,lost\n"
)
ENDS = "10.0.0.1:4000>10.0.0.2:443"
EVENTS = (
    f"7,{ENDS},0.010000,10,,,,,,,0,open,start,ww_plus,,1448,0,0,0,0\n"
    f"7,{ENDS},0.110000,20,,8000.00,9000.00,0.050000,0.050000,0.300000,4,open,window,ww_plus,"
    "0.050000,1448,28960,20,0,0\n"
    f"7,{ENDS},0.210000,10,10,8100.00,9100.00,0.051000,0.050000,0.300000,0,recovery,loss,ww_plus,"
    "0.050000,1448,57920,40,1,1\n"
    f"7,{ENDS},0.310000,10,10,8100.00,9100.00,0.051000,0.050000,0.300000,0,open,start,ww_plus,"
    "0.050000,1448,57920,40,1,1\n"
)


@pytest.fixture
def left(tmp_path) -> Path:
    """Writes what a recorder leaves behind."""
    path = tmp_path / "day.events.csv"
    path.write_text(HEAD + EVENTS)
    return path


def test_events_become_a_trace(left):
    trace, is_cut = reading.read(left)
    assert not is_cut and trace.columns == list(reading.COLUMNS)
    assert trace["transfer"].to_list() == [1, 1, 1, 2], "the same ports are used again"
    assert trace["event"].to_list() == ["start", "window", "loss", "start"]


def test_namespaces_may_use_the_same_addresses(left):
    assert set(reading.read(left)[0]["flow"]) == {ENDS}
    others = EVENTS.replace("7,10.0.0.1", "8,10.0.0.1")
    left.write_text(HEAD + EVENTS + others)
    trace, _ = reading.read(left)
    assert set(trace["flow"]) == {f"{ENDS}@7", f"{ENDS}@8"}
    assert trace.filter(flow=f"{ENDS}@8")["transfer"].to_list() == [1, 1, 1, 2]


def test_a_truncated_recording_keeps_its_complete_records(left):
    """Cuts inside a cell, next to a comma, before and after the end of a line."""
    whole, text = reading.read(left)[0], left.read_bytes()
    lines = [position for position, byte in enumerate(text) if byte == ord("\n")]
    sizes = {line + off for line in lines for off in (-20, -1, 0, 1, 2)} | {
        0,
        1,
        50,
        len(text) - 30,
    }
    for size in sorted(sizes - {len(text) + 1}):
        left.write_bytes(text[:size])
        records = max(0, text[:size].count(b"\n") - 1)
        if records == 0:
            with pytest.raises(InputError, match=r"has no event|expected a recording"):
                reading.read(left)
            continue
        trace, is_cut = reading.read(left)
        assert is_cut == (not text[:size].endswith(b"\n"))
        assert trace.equals(whole.head(records), null_equal=True)


def test_an_empty_file_is_no_recording(left):
    left.write_bytes(b"")
    with pytest.raises(InputError, match="expected a recording of westwood kernel record"):
        reading.read(left)


def test_a_truncated_record_is_reported(left, westwood, monkeypatch):
    from westwood.cli import recording_panel

    monkeypatch.setattr(recording_panel.panel, "draw", lambda run: None)
    wanted = recording_panel.figures.Wanted
    monkeypatch.setattr(wanted, "save", lambda *drawn: left.with_suffix(".png"))
    left.write_bytes(left.read_bytes()[:-5])
    called = westwood("trace", left, "--plot")
    assert called.code == 0
    assert f"{left}: leaves out the last record, which is cut off\n" in called.err


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_the_recording_from_these_events_is_the_same(left, ending):
    trace, _ = reading.read(left)
    out = left.with_name(f"day.{ending}")
    trace.write_csv(out) if ending == "csv" else trace.write_parquet(out)
    again, _ = reading.read(out)
    assert again.equals(trace, null_equal=True)


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("time_s", "soon", 'line 3, time_s = "soon": expected a number'),
        ("time_s", "inf", "record 2, time_s = inf: expected a number from 0 to 1e+18"),
        ("time_s", "nan", "record 2, time_s = nan: expected a number"),
        ("time_s", "", 'record 2, time_s = "nothing": expected a number'),
        ("time_s", "-1", "record 2, time_s = -1.0: expected a number from 0"),
        ("cwnd", "1e300", "cwnd = "),
        ("estimate_bps", "-inf", "record 2, estimate_bps = -inf"),
        ("mss", "1.5", 'line 3, mss = "1.5": expected a whole number'),
        ("mss", "99999999999999999999999999", "line 3, mss = "),
        ("sent", "-4", "record 2, sent = -4: expected a whole number from 0"),
        ("state", "loose", 'record 2, state = "loose": expected one of open, disorder'),
        ("event", "", 'record 2, event = "nothing": expected one of start'),
        ("flow", "", 'record 2, flow = "nothing"'),
        ("netns", "x", 'line 3, netns = "x"'),
        ("lost", "1,2", "line 3 has 21 cells, expected 20"),
        ("cc", '"', "line 3 has 14 cells, expected 20"),
    ],
)
def test_a_bad_cell_is_named_with_what_was_expected(left, westwood, column, cell, expected):
    lines = left.read_text().splitlines()
    cells = lines[2].split(",")
    cells[lines[0].split(",").index(column)] = cell
    lines[2] = ",".join(cells)
    left.write_text("\n".join(lines) + "\n")
    called = westwood("trace", left, "--plot").refusal()
    assert called.startswith(f"westwood: {left}: ") and expected in called
    assert [path.name for path in left.parent.iterdir()] == [left.name]


def test_a_parquet_file_with_other_types_is_rejected(left, westwood):
    trace, _ = reading.read(left)
    path = left.with_suffix(".parquet")
    for column in (
        pl.lit("x").alias("time_s"),
        pl.lit(None, pl.Float64).alias("cwnd"),
        pl.lit([1, 2]).alias("mss"),
        pl.lit(3).alias("state"),
        pl.lit(b"\xff").alias("flow"),
    ):
        trace.with_columns(column).write_parquet(path)
        assert westwood("trace", path, "--plot").refusal().startswith(f"westwood: {path}: ")


def test_special_files_are_rejected_at_once(tmp_path, westwood):
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "zeros.csv").symlink_to("/dev/zero")
    (tmp_path / "folder.parquet").mkdir()
    for name in ("pipe.csv", "zeros.csv", "folder.parquet"):
        assert "expected a file" in westwood("trace", tmp_path / name, "--plot").refusal()


def test_names_from_a_file_are_drawn_literally(left, westwood):
    r"""A dollar sign does not begin a formula: "$\frac$" would be an invalid one."""
    left.write_text(left.read_text().replace(ENDS, r"$\frac$>_").replace("ww_plus", r"$\bad$"))
    westwood("trace", left, "--plot").printed()
