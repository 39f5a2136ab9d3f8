# SPDX-License-Identifier: GPL-2.0-only
"""`path compare --emulated` gives the right verdict over a path with a known answer.

It restores the machine however it ends.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import polars as pl
import pytest
from machine import eventually
from own_network import own_network
from trials import SHORT, State, command, left, start

from westwood.campaign import iperf3

pytestmark = pytest.mark.kernel
PAIR = ("--cc", "cubic", "--cc", "ww_plus")


def tried(folder: Path, *words: object) -> subprocess.CompletedProcess[str]:
    """Runs a rehearsal, with its progress on standard error."""
    done = command(*words)
    return subprocess.run(done, cwd=folder, capture_output=True, text=True, timeout=300)


def test_it_does_not_pay_over_a_queue_without_losses(bpffs, tmp_path):
    """The whole procedure, from a machine without our controls to a page."""
    before = State.now()
    assert "ww_plus" not in before.controls
    done = tried(tmp_path, *PAIR, *SHORT, "--for", "40s")
    assert eventually(lambda: not left()) and State.now() == before
    assert done.returncode == 0, done.stderr
    sentence, page, following = done.stdout.splitlines()
    assert following == "Next: westwood path fit path-compare --out path.toml"
    assert sentence.startswith("does not pay: ww_plus -") and page == "path-compare/index.html"
    # If the machine delays some ACKs, some losses seem to come at a short queue, but not most.
    mixed = re.search(r"; (\d+) % of the losses come at minimum RTT", sentence)
    ends = ("; losses come from a full queue", "; the path loses nothing, it queues")
    assert int(mixed[1]) < 50 if mixed else any(end in sentence for end in ends), sentence
    head, *pairs = done.stderr.splitlines()
    where, _, what = head.partition(": ")
    assert where.startswith("rehearsal on an emulated path, 5 Mb/s, 10 ms one way, ")
    assert what.startswith("cubic and ww_plus in turn, 0.5 s each, for at most 40 s, ")
    assert len(pairs) >= 5 and all(line.startswith("pair ") for line in pairs)
    rows = pl.read_parquet(tmp_path / "path-compare/uploads.parquet")
    assert rows.height == 2 * len(pairs) and set(rows["cc"]) == {"cubic", "ww_plus"}
    assert rows["place"].to_list() == [1, 2] * len(pairs)
    first = rows.filter(place=1)["cc"].to_list()
    assert all(first_row != two for first_row, two in zip(first[::2], first[1::2], strict=False)), (
        first
    )
    for row in rows.iter_rows(named=True):
        name = f"{row['pair']:03}-{row['cc']}.parquet"
        trace = pl.read_parquet(tmp_path / "path-compare/traces" / name)
        assert trace["delivered_bytes"][-1] >= row["acked_bytes"] > 0
        events = pl.read_parquet(tmp_path / "path-compare/events" / name)
        assert events["event"][0] == "start" and set(events["cc"]) == {row["cc"]}
        if row["cc"] == "ww_plus":
            assert trace["estimate_bps"].is_not_nan().any()
    verdict = json.loads((tmp_path / "path-compare/verdict.json").read_text())
    assert verdict["verdicts"][0]["sentence"] == sentence
    assert json.loads((tmp_path / "path-compare/manifest.json").read_text())["complete"]
    assert sentence in (tmp_path / "path-compare/index.html").read_text()


def test_ctrl_c_gives_a_verdict_on_the_finished_uploads(bpffs, tmp_path):
    before = State.now()
    trial = start(tmp_path)
    assert trial.stderr is not None
    assert "in turn" in trial.stderr.readline() and "pair 1" in trial.stderr.readline()
    since = time.monotonic()
    os.killpg(trial.pid, signal.SIGINT)
    out, errors = trial.communicate(timeout=20)
    took_s = time.monotonic() - since
    assert trial.returncode == 130 and took_s < 1, took_s  # half a second, on a busy machine
    assert out.startswith("cannot tell: ww_plus against reno, one pair of uploads was finished")
    assert errors.splitlines()[-1] == "westwood: interrupted; what was finished is in path-compare"
    assert "Traceback" not in errors
    assert pl.read_parquet(tmp_path / "path-compare/uploads.parquet").height >= 2
    assert not json.loads((tmp_path / "path-compare/manifest.json").read_text())["complete"]
    assert eventually(lambda: not left() and State.now() == before)


def test_an_unreachable_server_gives_one_line(bpffs, tmp_path, westwood, monkeypatch):
    monkeypatch.chdir(tmp_path)
    before = State.now()
    for host, problem in (
        ("127.0.0.1:9", "127.0.0.1:9: Connection refused"),
        ("[::1]:9", "[::1]:9: Connection refused"),
        ("nowhere.invalid", "nowhere.invalid:5201: "),
    ):
        called = westwood("path", "compare", host, *PAIR)
        assert (called.code, called.out) == (1, "")
        head, error = called.err.splitlines()
        assert head.startswith("cubic and ww_plus in turn, 20 s each, for at most 10 minutes")
        assert error.startswith(f"westwood: {problem}")
    assert not list(tmp_path.iterdir()), "nothing was measured, and nothing written"
    assert eventually(lambda: not left() and State.now() == before)


def test_a_server_with_a_link_local_address_is_reached_again():
    with own_network():
        for words in (
            "link add d0 type veth peer name d1",
            "link set d0 up",
            "link set d1 up",
            "address add fe80::1/64 dev d0 nodad",
        ):
            subprocess.run(["ip", *words.split()], check=True)
        serve = ["iperf3", "-s", "-1", "--forceflush"]
        with subprocess.Popen(serve, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            while "listening" not in server.stdout.readline():
                pass
            done = iperf3.upload("fe80::1%d0", 5201, "reno", iperf3.Load(seconds=0.1), 20)
            assert done.peer == "fe80::1%d0"


@pytest.mark.slow
def test_it_pays_on_a_path_with_random_losses(bpffs, tmp_path):
    done = tried(tmp_path, *PAIR, "--upload", "5s", "--loss", "2%", "--for", "4m", "--json")
    assert done.returncode == 0, done.stderr
    (verdict,) = json.loads(done.stdout)["verdicts"]
    assert verdict["verdict"] == "pays" and verdict["gain"] > 0.3 and verdict["low"] > 0
    assert verdict["reason"] == "losses come at minimum RTT"


@pytest.mark.slow
def test_a_few_seconds_of_a_varying_path_give_no_verdict(bpffs, tmp_path):
    words = ("--rate", "10Mbps", "--delay", "45ms", "--loss", "0.5%", "--for", "10s")
    done = tried(tmp_path, *PAIR, *words)
    assert done.returncode == 3, done.stderr
    assert done.stdout.startswith("cannot tell: ww_plus ")


@pytest.mark.slow
def test_a_limiting_receive_window_is_reported(bpffs, tmp_path):
    scenario = tmp_path / "small.toml"
    scenario.write_text(
        'name = "small"\nduration = "10s"\nprofile = "linux"\n[[link]]\nname = "path"\n'
        'between = ["a", "b"]\nrate = "20Mbps"\ndelay = "20ms"\n'
        'queue = { limit = "100p" }\n[[flow]]\nname = "f"\nfrom = "a"\nto = "b"\ncc = "cubic"\n'
        'receive_window = "32KiB"\ninitial_receive_window = "16KiB"\n'
    )
    done = tried(tmp_path, *PAIR, "--scenario", scenario, "--upload", "1s", "--for", "60s")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("does not pay: ww_plus ")
    assert "; the receiver's window limits, not the path" in done.stdout
