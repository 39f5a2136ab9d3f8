# SPDX-License-Identifier: BSD-3-Clause
"""A check says HOLDS where a claim holds, and DIFFERS with the place and the amount elsewhere."""

from __future__ import annotations

import json

import polars as pl
import pytest

from westwood import claims

RATES = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
# As the paper draws them, in Mb/s.
CURVES = {
    "westwood-ns3": (1.97, 1.96, 1.95, 1.90, 1.65, 1.10, 0.55, 0.20),
    "westwood+-ns3": (1.96, 1.94, 1.90, 1.70, 1.00, 0.50, 0.25, 0.10),
    "reno": (1.85, 1.30, 0.90, 0.60, 0.37, 0.24, 0.15, 0.07),
    "newreno": (1.85, 1.31, 0.91, 0.60, 0.37, 0.24, 0.15, 0.07),
    "tahoe": (1.75, 1.10, 0.80, 0.50, 0.32, 0.21, 0.14, 0.06),
}


def points(half: float = 0.01, **changed: tuple[int, float]) -> pl.DataFrame:
    """The curves as a summary; `changed` puts another value at a place of a curve."""
    curves = {cc: list(curve) for cc, curve in CURVES.items()}
    for cc, (place, value) in changed.items():
        curves[cc.replace("westwood_plus", "westwood+-ns3").replace("westwood_", "westwood-ns3")][
            place
        ] = value
    rows = [
        {"per": per, "cc": cc, "throughput_bps": 1e6 * mbps, "throughput_bps_half": 1e6 * half}
        for cc, curve in curves.items()
        for per, mbps in zip(RATES, curve, strict=True)
    ]
    return pl.DataFrame(rows)


def verdict(claim: str, summary: pl.DataFrame) -> tuple[str, str]:
    (one,) = claims.check([f"ns3.fig5.{claim}"], summary)
    json.dumps(one.entry(), allow_nan=False)  # must fit into claims.json
    return one.verdict, one.explanation


@pytest.mark.parametrize("claim", ["order", "reno_equals_newreno", "westwoodplus_knee", "monotone"])
def test_the_papers_curves_hold_every_claim(claim: str) -> None:
    assert verdict(claim, points()) == ("HOLDS", "")


def test_order_differs_where_westwood_plus_leads() -> None:
    assert verdict("order", points(westwood_plus=(4, 1.8))) == (
        "DIFFERS",
        "at 0.005 Westwood (ns-3, 2013) is 8.3% below Westwood+ (ns-3, 2013)",
    )


def test_order_differs_where_tahoe_passes_reno() -> None:
    assert verdict("order", points(tahoe=(6, 0.153)))[1] == (
        "at 0.02 Reno is 2.0% below Tahoe; at 0.02 NewReno is 2.0% below Tahoe"
    )


def test_order_lets_reno_and_newreno_be_3_percent_apart() -> None:
    assert verdict("order", points(reno=(2, 0.91 * 0.98)))[0] == "HOLDS"
    assert verdict("order", points(reno=(2, 0.91 * 0.96)))[1] == (
        "at 0.001 Reno and NewReno are 4.0% apart"
    )


def test_order_looks_only_from_0_001_to_0_02() -> None:
    assert verdict("order", points(westwood_plus=(0, 1.99)))[0] == "HOLDS"
    assert verdict("order", points(tahoe=(7, 0.5)))[0] == "HOLDS"


def test_reno_and_newreno_are_alike_within_10_percent_up_to_0_005() -> None:
    assert verdict("reno_equals_newreno", points(reno=(4, 0.37 * 0.91)))[0] == "HOLDS"
    assert verdict("reno_equals_newreno", points(reno=(5, 0.10)))[0] == "HOLDS"
    assert verdict("reno_equals_newreno", points(reno=(4, 0.37 * 0.85))) == (
        "DIFFERS",
        "at 0.005 Reno and NewReno are 15.0% apart",
    )


def test_the_knee_differs_where_the_gap_shrinks() -> None:
    assert verdict("westwoodplus_knee", points(westwood_plus=(3, 1.88))) == (
        "DIFFERS",
        "from 0.001 to 0.002 the gap shrinks from 0.050 ± 0.014 Mb/s to 0.020 ± 0.014 Mb/s",
    )


def test_a_curve_may_rise_within_its_intervals_only() -> None:
    assert verdict("monotone", points(reno=(5, 0.385)))[0] == "HOLDS"
    assert verdict("monotone", points(reno=(5, 0.40))) == (
        "DIFFERS",
        "Reno rises by 0.030 Mb/s from 0.005 to 0.01",
    )
    assert verdict("monotone", points(half=0.02, reno=(5, 0.40)))[0] == "HOLDS"


def test_every_check_has_its_claim_and_every_claim_its_check() -> None:
    assert set(claims.claims()) == set(claims.CHECKS)
    for claim in claims.claims().values():
        assert "WNS3 2013" in claim.paper
