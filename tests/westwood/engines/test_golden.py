# SPDX-License-Identifier: BSD-3-Clause
"""Compares every protocol on a grid of paths with the golden table, which `make golden` writes.

Each run has two flows of a protocol that start within a second of each other. A difference is a
change of behaviour, to be named in CHANGELOG.md.
"""

import os
from pathlib import Path

import polars as pl
import pytest
from one_link import one_link

from westwood import simulate_many
from westwood.control.catalogue import PROTOCOLS

TABLE = Path(__file__).parents[2] / "golden" / "table.csv"
SEEDS = 3


def measured() -> pl.DataFrame:
    sweep = {
        "tcp.cc": list(PROTOCOLS),
        "path.rate": ["2Mbps", "10Mbps"],
        "path.delay": ["10ms", "50ms"],
        "path.loss.rate": [0.0, 0.001, 0.01],
    }
    flow = {"cc": "reno", "count": 2, "start_spread": "1s"}
    link = {"queue": {"limit": "30p"}, "loss": {"rate": 0.0}}
    scenario = one_link(flow, link=link, duration="30s", sweep=sweep)
    rows = simulate_many(scenario, range(1, SEEDS + 1))
    keys = ["cc", "path.rate", "path.delay", "path.loss.rate"]
    sums = [pl.col(name).sum() for name in ("sent", "retransmitted", "timeouts")]
    table = rows.group_by(keys, maintain_order=True).agg(
        pl.col("throughput_bps").sum() / SEEDS, *sums, pl.col("jain").mean()
    )
    ratio = (pl.col("retransmitted") / pl.col("sent")).alias("retransmission_ratio")
    return table.with_columns(ratio).with_columns(
        pl.col("throughput_bps").round(0),
        pl.col("jain", "retransmission_ratio").round(6),
    )


def test_every_protocol_behaves_as_in_the_golden_table():
    table = measured()
    if os.environ.get("WW_UPDATE_GOLDEN"):
        table.write_csv(TABLE)
    golden = pl.read_csv(TABLE)
    keys = golden.columns[:4]
    check_that_it_lists(golden["cc"].to_list(), list(PROTOCOLS))
    assert golden.select(keys).rows() == table.select(keys).rows(), "other paths: make golden"
    changed = [
        f"{' '.join(str(new[key]) for key in keys)}: {name} was {old[name]}, is {new[name]}"
        for old, new in zip(golden.to_dicts(), table.to_dicts(), strict=True)
        for name in golden.columns
        if old[name] != new[name]
    ]
    assert not changed, "\n".join(changed[:20])


def check_that_it_lists(listed: list[str], declared: list[str]) -> None:
    """Asserts that the golden table and the catalogue have the same protocols."""
    for cc in declared:
        assert cc in listed, f"{cc} is not in tests/golden/table.csv: make golden"
    for cc in listed:
        assert cc in declared, f"{cc} of tests/golden/table.csv is no protocol: make golden"


def test_a_protocol_without_golden_rows_is_named_with_the_remedy():
    check_that_it_lists(["reno", "reno"], ["reno"])
    with pytest.raises(AssertionError, match=r"scalable is not in .*table\.csv: make golden"):
        check_that_it_lists(["reno"], ["reno", "scalable"])
    with pytest.raises(AssertionError, match=r"veno of .* is no protocol"):
        check_that_it_lists(["reno", "veno"], ["reno"])


def test_the_golden_table_is_consistent():
    golden = pl.read_csv(TABLE)
    assert golden["cc"].n_unique() == len(PROTOCOLS) and golden.height == 12 * len(PROTOCOLS)
    capacity = pl.col("path.rate").str.strip_suffix("Mbps").cast(pl.Float64) * 1e6
    assert (golden.select(pl.col("throughput_bps") <= capacity * 1.04)).to_series().all(), (
        "rates count from each start"
    )
    assert golden["jain"].is_between(0.5, 1).all()
    lossy = golden.group_by("path.loss.rate").agg(pl.mean("throughput_bps"))
    assert lossy.sort("path.loss.rate")["throughput_bps"].is_sorted(descending=True)
