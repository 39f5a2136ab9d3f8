# SPDX-License-Identifier: GPL-2.0-only
"""`westwood path campaign` uploads in turn over emulated paths and to a real iperf3 server in the
test's namespace; it survives an unreachable target, a stop and a resumption."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from emulated_paths import needs_path_and_iperf3
from invented_uploads import FAR, HEAD, LAB

from westwood.cli import call

pytestmark = needs_path_and_iperf3
WESTWOOD = [sys.executable, "-m", "westwood"]


class Lab:
    """Makes a namespace with an iperf3 server on its loopback."""

    def __init__(self):
        hold = ["unshare", "-n", "sh", "-c", "ip link set lo up; echo; exec sleep 300"]
        self._holder = subprocess.Popen(hold, stdout=subprocess.PIPE)
        assert self._holder.stdout is not None
        self._holder.stdout.readline()
        self.server: subprocess.Popen[str] | None = None

    def inside(self, *words: object) -> list[str]:
        return ["nsenter", "-n", "-t", str(self._holder.pid), *map(str, words)]

    def serve(self):
        command = self.inside("iperf3", "-s", "-p", 5301, "--forceflush")
        self.server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.server.stdout is not None
        while "listening" not in self.server.stdout.readline():
            pass

    def stop(self):
        if self.server is not None:
            self.server.kill()
            self.server.wait()
            assert self.server.stdout is not None
            self.server.stdout.close()
            self.server = None

    def close(self):
        self.stop()
        self._holder.kill()
        self._holder.wait()
        assert self._holder.stdout is not None
        self._holder.stdout.close()

    def measure(self, *arguments: object) -> subprocess.CompletedProcess[str]:
        command = self.inside(*WESTWOOD, "path", "campaign", *arguments)
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@pytest.fixture
def lab() -> Iterator[Lab]:
    lab_ = Lab()
    try:
        yield lab_
    finally:
        lab_.close()


def journal(out: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (out / "uploads.jsonl").read_text().splitlines()]


def test_a_campaign_alternates_and_ends_with_a_table_and_figures(lab, tmp_path):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(HEAD + FAR + LAB)
    lab.serve()
    done = lab.measure(plan, "--out", out)
    assert done.returncode == 0, done.stderr
    assert "gain over Reno" in done.stdout and "CUBIC" in done.stdout
    rows = journal(out)
    assert [row["cc"] for row in rows] == ["cubic", "reno"] * 6
    sessions = [("far", 50_000), ("far", 150_000), ("lab", 300_000)]
    assert [(row["target"], row["size_bytes"]) for row in rows] == [
        session for session in sessions for _ in range(4)
    ]
    for row in rows:
        assert row["goodput_bps"] == pytest.approx(8 * row["size_bytes"] / row["seconds"], rel=0.01)
        assert row["sent"] >= row["size_bytes"] / row["mss"] and row["mean_cwnd"] >= 2
        where = f"{row['target']}-{row['size_bytes']}B-{row['number']}-{row['cc']}.parquet"
        trace = pl.read_parquet(out / "traces" / where)
        assert trace["cwnd"].max() >= 2 and trace["srtt_s"].drop_nans().len() > 0  # type: ignore[operator]
        if row["target"] == "far":
            assert 0.02 < row["min_rtt_s"] < 0.03
    uploads = pl.read_parquet(out / "uploads.parquet")
    assert uploads.height == 12
    table = pl.read_csv(out / "table.csv").to_dicts()
    assert [row["target"] for row in table] == ["far", "lab"]
    assert "± " in table[0]["gain"] and "(0.15 MB)" in table[0]["gain"]
    for name in ("far-sessions.png", "far-uploads.svg", "lab-dynamics.png", "index.html"):
        assert (out / name).stat().st_size > 0


def test_an_unreachable_target_is_left_out_and_resumed(lab, tmp_path, capsys):
    """The other targets are still measured; --resume runs what is missing, and nothing twice."""
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(HEAD + LAB + FAR)
    done = lab.measure(plan, "--out", out)
    assert done.returncode == 1
    assert "target lab was left out: 127.0.0.1:5301: Connection refused" in done.stderr
    assert f"continue with --resume --out {out}" in done.stderr and "Traceback" not in done.stderr
    rows = journal(out)
    failed = [row for row in rows if "error" in row]
    assert len(failed) == 2 and len(rows) == 2 + 8  # one upload, tried twice; and the path's
    assert [row["target"] for row in pl.read_csv(out / "table.csv").to_dicts()] == ["far"]
    assert call(["path", "campaign", str(plan), "--out", str(out)]) == 2
    assert "holds a campaign, expected --resume" in capsys.readouterr().err
    lab.serve()
    with (out / "uploads.jsonl").open("a") as file:
        file.write('{"target": "la')  # as if killed while writing
    resumed = lab.measure(plan, "--out", out, "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    assert len(json.loads(resumed.stdout)["uploads"]) == 12
    assert len(journal(out)) == 10 + 4
    plan.write_text(HEAD + FAR)
    assert call(["path", "campaign", str(plan), "--out", str(out), "--resume"]) == 2
    assert "holds another campaign" in capsys.readouterr().err


def test_a_server_that_dies_in_an_upload_is_noticed(lab, tmp_path):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(HEAD + LAB.replace("300kB", "100GB").replace('"lab"', '"big"'))
    lab.serve()
    command = lab.inside(*WESTWOOD, "path", "campaign", plan, "--out", out)
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as tool:
        time.sleep(2.5)
        lab.stop()
        assert tool.stderr is not None
        errors = tool.stderr.read()
        assert tool.wait(20) == 1
    assert "target big was left out: 127.0.0.1:5301" in errors and errors.count("\n") == 1
    assert all("error" in row for row in journal(out))


def test_after_a_kill_it_continues_with_the_next_upload(lab, tmp_path):
    plan, out = tmp_path / "plan.toml", tmp_path / "out"
    plan.write_text(HEAD + FAR)
    command = lab.inside(*WESTWOOD, "path", "campaign", plan, "--out", out)
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as tool:
        end = time.monotonic() + 20
        while time.monotonic() < end:
            if (out / "uploads.jsonl").exists() and journal(out):
                break
            time.sleep(0.02)
        tool.send_signal(signal.SIGKILL)
    before = journal(out)
    assert 0 < len(before) < 8
    assert lab.measure(plan, "--out", out, "--resume").returncode == 0
    assert journal(out)[: len(before)] == before and len(journal(out)) == 8
