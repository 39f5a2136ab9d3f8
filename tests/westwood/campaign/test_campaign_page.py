# SPDX-License-Identifier: BSD-3-Clause
"""The table of a campaign agrees with values computed by hand from invented uploads."""

from __future__ import annotations

import math
import statistics
from typing import Any

import polars as pl
import pytest

from westwood.campaign import page
from westwood.control.catalogue import label
from westwood.results.folder import Folder
from westwood.results.metrics import half_width

# Mb/s by target, size in MB and control, upload by upload.
RATES: dict[tuple[str, int, str], list[float]] = {
    ("near", 1, "ww_plus"): [1.2, 1.3, 1.4],
    ("near", 1, "cubic"): [1.0, 1.0, 1.1],
    ("near", 8, "ww_plus"): [3.0],
    ("near", 8, "cubic"): [4.0],
    ("far", 1, "ww_plus"): [0.5, 0.5],
    ("far", 1, "cubic"): [0.25, 0.25],
}
MIN_RTT_S = {"near": 0.012, "far": 0.24}


def rows(rates: dict[tuple[str, int, str], list[float]] = RATES) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "target": target,
                "size_bytes": size * 10**6,
                "number": number,
                "cc": cc,
                "goodput_bps": 1e6 * rate,
                "retransmission_ratio": (0.02 if cc == "cubic" else 0.01) * size,
                "mean_cwnd": 10.0,
                "mean_srtt_s": 0.1,
                "min_rtt_s": MIN_RTT_S[target] * (2 if number > 1 else 1),
            }
            for (target, size, cc), several in rates.items()
            for number, rate in enumerate(several, 1)
        ]
    )


def session(target: str, size: int, cc: str) -> dict[str, Any]:
    means = page.session_means(rows(), "cubic")
    return means.filter(target=target, size_bytes=size * 10**6, cc=cc).row(0, named=True)


def test_a_gain_is_that_of_pairs_over_the_baselines_mean():
    row = session("near", 1, "ww_plus")
    baseline = statistics.mean([1.0, 1.0, 1.1])
    assert row["gain"] == pytest.approx(statistics.mean([0.2, 0.3, 0.3]) / baseline)
    half = half_width(statistics.stdev([0.2, 0.3, 0.3]), 3) / baseline
    assert row["gain_ci95"] == pytest.approx(half)
    assert session("near", 1, "cubic")["gain"] is None
    assert session("near", 8, "ww_plus")["gain"] == pytest.approx(-0.25)
    assert math.isnan(session("near", 8, "ww_plus")["gain_ci95"])


def test_the_pipe_takes_the_smallest_round_trip_of_all_sessions():
    assert session("near", 1, "ww_plus")["pipe"] == pytest.approx(1.3e6 * 0.012 / 12_000)
    assert session("near", 8, "cubic")["pipe"] == pytest.approx(4e6 * 0.012 / 12_000)
    assert session("far", 1, "cubic")["pipe"] == pytest.approx(5.0)


def test_the_table_has_a_row_for_each_target_with_ranges_over_its_sessions():
    frame = page.table(page.session_means(rows(), "cubic"), "cubic")
    assert frame.columns == list(page.HEADS)
    assert frame.rows() == [
        (
            "near",
            label("ww_plus"),
            "+26 ± 14 % (1 MB); -25 % (8 MB)",
            "1.3 to 3",
            "12.0",
            "1 to 8",
            "2 to 16",
            "4 and 4",
        ),
        ("far", label("ww_plus"), "+100 ± 0 % (1 MB)", "10", "240.0", "1", "2", "2 and 2"),
    ]


def test_a_campaign_without_a_baseline_shows_its_control_alone():
    rates = {key: value for key, value in RATES.items() if key[2] == "cubic"}
    frame = page.table(page.session_means(rows(rates), "cubic"), "cubic")
    assert frame["target"].to_list() == ["near", "far"]
    assert frame["gain"].to_list() == ["-", "-"]


@pytest.mark.parametrize(("targets", "title"), [(1, "over 1 path"), (2, "over 2 paths")])
def test_the_page_says_over_how_many_paths(targets, title, tmp_path, monkeypatch):
    monkeypatch.setattr(page.report, "figure", lambda *_: None)
    some = rows().filter(pl.col("target").is_in(["near", "far"][:targets]))
    folder = Folder(tmp_path / "made")
    page_path = page.write(some, "cubic", "try", {}, folder, lambda row: None, complete=True)
    text = page_path.read_text(encoding="utf-8")
    assert f"try: uploads {title}" in text
    assert "near: " in text and "+26 ± 14 % (1 MB); -25 % (8 MB), pipe 1.3 to 3 packets" in text
    assert pl.read_parquet(folder.path / "uploads.parquet").height == some.height
    assert pl.read_csv(folder.path / "table.csv").height == targets
