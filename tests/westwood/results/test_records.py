# SPDX-License-Identifier: BSD-3-Clause
"""Records are the same in memory and on disk; on disk, memory does not grow with the run."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from one_link import BACK, one_link
from polars.testing import assert_frame_equal

from westwood import RunError, Scenario
from westwood.engines.simulator import simulate
from westwood.results import pcap, queues, traces
from westwood.results import spool as spool_
from westwood.results.parquet import write_parquet

PATH = {
    "rate": "8Mbps",
    "queue": {"kind": "red", "limit": "30p", "min": 5, "max": 20},
    "loss": {"kind": "uniform", "rate": 0.01, "on": "both"},
}
ARRIVALS = {"every": "40ms", "size": "9kB", "sizes": "exponential"}
FLOWS: list[dict[str, Any]] = [
    {"name": "web", "cc": "cubic", "arrivals": ARRIVALS},
    {"name": "bulk", "cc": "westwood+", "count": 2},
    {"name": "back", "cc": "bbr", **BACK},
    {"name": "udp", "app": {"kind": "udp", "rate": "200kbps"}},
]
EVERYTHING: dict[str, Any] = {"trace": True, "events": True, "queues": True, "capture": "path"}
FRAMES = ("trace", "events", "queues", "queue_states", "drops", "transfers", "links")


def scenario(duration: str = "4s") -> Scenario:
    return one_link(*FLOWS, link=PATH, name="mixed", duration=duration)


@pytest.mark.parametrize("piece", [50, 1000])
def test_records_are_the_same_from_disk(piece, tmp_path, monkeypatch):
    kept = simulate(scenario(), 1, **EVERYTHING)
    monkeypatch.setattr(spool_, "_PIECE", piece)
    folder = tmp_path / "spool"
    with spool_.Spool(folder) as spool:
        result = simulate(scenario(), 1, **EVERYTHING, spool=spool)
        assert not list(tmp_path.iterdir()), (
            "its files have no names, and its folder is not created"
        )
        for name in FRAMES:
            assert_frame_equal(getattr(result, name), getattr(kept, name), check_exact=True)
        for every_s in (0.001, 0.05, 7.0):
            assert_frame_equal(result.sampled(every_s), kept.sampled(every_s), check_exact=True)
        for result_, name in ((result, "disk.pcap"), (kept, "memory.pcap")):
            pcap.write(result_, tmp_path / name)
        many = tmp_path / "many.parquet"
        write_parquet(traces.windows(result.scenario, result.raw), many)
        assert_frame_equal(pl.read_parquet(many), kept.trace, check_exact=True)
    assert (tmp_path / "disk.pcap").read_bytes() == (tmp_path / "memory.pcap").read_bytes()
    assert not folder.exists()


def test_a_short_trace_makes_no_folder(tmp_path):
    with spool_.Spool(tmp_path / "none") as spool:
        assert simulate(scenario("100ms"), 1, **EVERYTHING, spool=spool).trace.height > 10
    assert not list(tmp_path.iterdir())


def test_a_full_disk_ends_the_run_and_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr(spool_, "_PIECE", 100)
    with Path("/dev/full").open("wb", buffering=0) as full:
        monkeypatch.setattr(spool_.tempfile, "TemporaryFile", lambda **_: full)
        with spool_.Spool(tmp_path) as spool, pytest.raises(RunError, match="No space") as error:
            simulate(scenario(), 1, **EVERYTHING, spool=spool)
    assert str(error.value).startswith(f"{tmp_path}: can't be written")


def test_an_interrupt_in_a_run_leaves_nothing(tmp_path, monkeypatch, westwood):
    """The interrupt is raised in Python's callback, which takes the simulator's records."""

    def interrupted(*_: object):
        raise KeyboardInterrupt

    monkeypatch.setattr(spool_.Spool, "take", interrupted)
    asked = ("--pcap", tmp_path / "a.pcap", "--at", "access", "--out", tmp_path / "new")
    assert westwood("trace", "table1", *asked).code == 130
    assert not list(tmp_path.iterdir())


def test_the_lengths_of_a_queue_do_not_depend_on_the_pieces():
    """Packets wait across the edge of a piece, with simultaneous arrivals on both sides."""
    arrival = np.array([0.0, 1.0, 1.0, 1.0, 2.0, 2.0])
    waited = {
        "arrival_s": arrival,
        "start_s": arrival + [5, 1, 2, 3, 1, 2],
        "bytes": np.arange(1, 7),
    }
    whole = queues._Waiting()
    expected = pl.concat([whole.lengths(waited), whole.rest()])
    assert expected["packets"][-1] == 0 and expected["bytes"][-1] == 0
    for cut in range(1, 6):
        parts = queues._Waiting()
        lengths = [
            parts.lengths({name: column[rows] for name, column in waited.items()})
            for rows in (slice(0, cut), slice(cut, None))
        ]
        assert_frame_equal(pl.concat([*lengths, parts.rest()]), expected)


_GROWTH = """
import sys
from pathlib import Path
from westwood import Scenario
from westwood.engines.simulator import simulate
from westwood.results import pcap, queues, spool as spool_, traces
from westwood.results.parquet import write_parquet

def peak_mb():
    with open("/proc/self/status") as lines:  # ru_maxrss may be the parent's
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

link = {"name": "path", "between": ["a", "b"], "rate": "50Mbps", "delay": "5ms"}
flow = {"name": "tcp", "from": "a", "to": "b", "cc": "cubic"}
folder, peaks = Path(sys.argv[1]), []
spool_._PIECE = 4000
for length_s in (4, 40):
    made = Scenario(name="long", duration=f"{length_s}s", link=[link], flow=[flow])
    with spool_.Spool(folder) as spool:
        result = simulate(made, 1, trace=True, queues=True, capture="path", spool=spool)
        pcap.write(result, folder / "long.pcap")
        for name, table in (("windows", traces.windows), ("queues", queues.lengths)):
            frames = table(made, result.raw)
            write_parquet(frames, folder / f"{name}.parquet")
    peaks.append(peak_mb())
print(*peaks)
"""


def test_memory_does_not_grow_with_the_length(tmp_path):
    done = subprocess.run(
        [sys.executable, "-c", _GROWTH, tmp_path], capture_output=True, text=True, check=True
    )
    short_mb, long_mb = map(float, done.stdout.split())
    assert (tmp_path / "long.pcap").stat().st_size > 14e6
    assert long_mb - short_mb < 40, f"{short_mb} and {long_mb} MB"
    assert long_mb < 300
