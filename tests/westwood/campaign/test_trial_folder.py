# SPDX-License-Identifier: BSD-3-Clause
"""`path compare` keeps each upload as it ends, and its verdict survives what comes after."""

import contextlib
import errno
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from westwood.campaign import preparing, trial_page, trying
from westwood.errors import RunError
from westwood.results import disk, journal
from westwood.results.store import Store
from westwood.results.traces import STATES


def upload_of(plan: trying.TrialPlan, cc: str) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    """Stands for an upload of a second, in which ww_plus gets 2 Mb/s and others 1."""
    row: dict[str, Any] = {"cc": cc, "goodput_bps": 2e6 if cc == "ww_plus" else 1e6, "seconds": 1.0}
    row |= {"min_rtt_s": 0.04, "full_rtt_s": 0.1, "busy_s": 1.0, "timeouts": 0, "losses": 0}
    row |= {"rwnd_limited_s": 0.0, "sndbuf_limited_s": 0.0, "retransmission_ratio": 0.0}
    row |= {"mean_cwnd": 10.0, "mean_srtt_s": 0.05}
    times = {"time_s": [0.0, 0.1], "srtt_s": [0.04, 0.05]}
    states = pl.Series(["open", "open"], dtype=pl.Enum(STATES))
    return row, pl.DataFrame({**times, "state": states}), pl.DataFrame()


COMPARED = ("path", "compare", "192.0.2.1", "--cc", "reno", "--cc", "ww_plus", "--for", "60s")


@pytest.fixture
def invented(tmp_path, monkeypatch) -> Path:
    """Lets a comparison run without network and privileges; returns the current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(preparing, "controls", lambda *_: contextlib.nullcontext())
    monkeypatch.setattr(preparing, "check", lambda *_: True)
    monkeypatch.setattr(trying, "with_address", lambda plan: plan)
    monkeypatch.setattr(trying, "_measure", upload_of)
    monkeypatch.setattr(trial_page, "write_page", lambda trial, folder, about: folder.path)
    return tmp_path


def test_a_setting_that_cannot_be_restored_costs_no_verdict(westwood, invented, monkeypatch):
    @contextlib.contextmanager
    def controls(names: Sequence[str], files: Mapping[str, str]) -> Iterator[None]:
        yield
        raise RunError("could not undo all changes to this machine: unload: no such file")

    monkeypatch.setattr(preparing, "controls", controls)
    monkeypatch.setattr(preparing, "_sysctl", lambda name: "reno")
    called = westwood(*COMPARED)
    assert called.code == 1
    assert called.out.startswith("pays: ww_plus +100 % against reno")
    lasts = "2.5 s each, for at most 60 s, up to 12 rounds, against reno, the default here, results"
    assert f"reno and ww_plus in turn, {lasts} in path-compare" in called.err
    assert called.err.splitlines()[-1] == (
        "westwood: could not undo all changes to this machine: unload: no such file; "
        "the verdict uses the 5 pairs before"
    )
    assert (invented / "path-compare/verdict.json").exists()
    assert (invented / "path-compare/uploads.parquet").exists()


def test_another_comparison_in_the_folder_replaces_the_uploads(westwood, invented):
    """Otherwise their traces, which have the same names, would belong to other uploads."""
    traces = []
    for _ in range(2):
        assert westwood(*COMPARED, "--out", "out").code == 0
        traces.append(journal.read(invented / "out/uploads.jsonl").records)
    assert len(traces[0]) == 10 and traces[0] == traces[1]


def test_an_upload_that_cannot_be_kept_ends_it_with_the_verdict_so_far(
    westwood, invented, monkeypatch
):
    kept = Store.keep

    def keep(store: Store, record: Mapping[str, Any]) -> None:
        with monkeypatch.context() as patch:
            if record["pair"] == 3:
                patch.setattr(disk, "append", full)
            kept(store, record)

    def full(file: int, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Store, "keep", keep)
    called = westwood(*COMPARED, "--out", "out")
    assert called.code == 1
    assert called.err.splitlines()[-1] == (
        "westwood: out: can't be written: No space left on device; "
        "the verdict uses the 2 pairs before"
    )
    assert pl.read_parquet(invented / "out/uploads.parquet").height == 4
