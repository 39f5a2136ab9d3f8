# SPDX-License-Identifier: BSD-3-Clause
"""A check says HOLDS if a claim holds, and else DIFFERS with the place and the amount."""

from __future__ import annotations

import json

import pytest
from invented import (
    PER,
    THREE_PER,
    cte,
    delayed_ack,
    estimates,
    fairness,
    fig5,
    friendliness,
    mtu,
    over,
    plateau_friendly,
    recoveries,
    single,
    wired,
)

from westwood.papers import claims
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import Measured
from westwood.papers.studies import STUDIES


def verdict(claim: str, all_: dict[str, Measured]) -> tuple[str, str]:
    (one,) = claims.check([claim], all_)
    json.dumps(one.entry(), allow_nan=False)  # must fit into claims.json
    return one.verdict, one.explanation


@pytest.mark.parametrize("claim", ["order", "reno_equals_newreno", "westwoodplus_knee", "monotone"])
def test_the_papers_curves_hold_every_claim(claim: str) -> None:
    assert verdict(f"ns3.fig5.{claim}", fig5()) == ("HOLDS", "")


def test_order_differs_where_westwood_plus_leads() -> None:
    assert verdict("ns3.fig5.order", fig5(westwood_plus=(4, 1.8))) == (
        "DIFFERS",
        "at 0.005 Westwood (ns-3, 2013) is 8.3% below Westwood+ (ns-3, 2013)",
    )


def test_order_differs_where_tahoe_passes_reno() -> None:
    assert verdict("ns3.fig5.order", fig5(tahoe=(6, 0.153)))[1] == (
        "at 0.02 Reno is 2.0% below Tahoe; at 0.02 NewReno is 2.0% below Tahoe"
    )


def test_order_allows_reno_and_newreno_3_percent_apart() -> None:
    assert verdict("ns3.fig5.order", fig5(reno=(2, 0.91 * 0.98)))[0] == "HOLDS"
    assert verdict("ns3.fig5.order", fig5(reno=(2, 0.91 * 0.96)))[1] == (
        "at 0.001 Reno and NewReno are 4.0% apart"
    )


def test_order_looks_only_from_0_001_to_0_02() -> None:
    assert verdict("ns3.fig5.order", fig5(westwood_plus=(0, 1.99)))[0] == "HOLDS"
    assert verdict("ns3.fig5.order", fig5(tahoe=(7, 0.5)))[0] == "HOLDS"


def test_reno_and_newreno_are_alike_within_10_percent_up_to_0_005() -> None:
    claim = "ns3.fig5.reno_equals_newreno"
    assert verdict(claim, fig5(reno=(4, 0.37 * 0.91)))[0] == "HOLDS"
    assert verdict(claim, fig5(reno=(5, 0.10)))[0] == "HOLDS"
    assert verdict(claim, fig5(reno=(4, 0.37 * 0.85))) == (
        "DIFFERS",
        "at 0.005 Reno and NewReno are 15.0% apart",
    )


def test_the_knee_differs_where_the_gap_shrinks() -> None:
    assert verdict("ns3.fig5.westwoodplus_knee", fig5(westwood_plus=(3, 1.88))) == (
        "DIFFERS",
        "from 0.001 to 0.002 the gap falls from 0.050 Mb/s to 0.020 Mb/s",
    )


def test_a_curve_may_rise_within_its_intervals_only() -> None:
    assert verdict("ns3.fig5.monotone", fig5(reno=(5, 0.385)))[0] == "HOLDS"
    assert verdict("ns3.fig5.monotone", fig5(reno=(5, 0.40))) == (
        "DIFFERS",
        "Reno rises by 0.030 Mb/s from 0.005 to 0.01",
    )
    assert verdict("ns3.fig5.monotone", fig5(half=0.02, reno=(5, 0.40)))[0] == "HOLDS"


DELAYS = ("0.01ms", "10ms", "250ms")
FIVE = {
    "westwood-ns3": (1.9, 1.8, 1.5),
    "westwood+-ns3": (1.4, 1.3, 1.0),
    "reno": (0.4, 0.3, 0.1),
    "newreno": (0.4, 0.3, 0.1),
    "tahoe": (0.3, 0.2, 0.1),
}
BANDWIDTH = {
    "westwood-ns3": (1.6, 2.8),
    "westwood+-ns3": (1.0, 1.2),
    "reno": (0.4, 0.4),
    "newreno": (0.4, 0.41),
    "tahoe": (0.3, 0.3),
}
TWO = {"westwood": (1.9, 1.5, 1.0), "reno": (1.0, 0.6, 0.3)}
RATES3 = ("0.5Mbps", "2Mbps", "8Mbps")
SATELLITE = {"westwood": (0.4, 1.2, 3.0), "reno": (0.3, 0.4, 0.4)}
CASES: dict[str, tuple[dict[str, Measured], dict[str, Measured], str]] = {
    "ns3.fig6.delay": (
        {"fig6": over("bottleneck.delay", DELAYS, FIVE)},
        {"fig6": over("bottleneck.delay", DELAYS, {**FIVE, "reno": (0.4, 1.4, 0.1)})},
        "at 10ms Westwood+ (ns-3, 2013) is 7.1% below Reno",
    ),
    "ns3.fig7.bandwidth": (
        {"fig7": over("bottleneck.rate", ("2Mbps", "8Mbps"), BANDWIDTH)},
        {"fig7": over("bottleneck.rate", ("2Mbps", "8Mbps"), {**BANDWIDTH, "reno": (0.4, 0.5)})},
        "Reno at 8 over 2 Mb/s is 1.25, expected from 0.9 to 1.15",
    ),
    "ns3.fig8.delack": (
        {"fig8": delayed_ack()},
        {"fig8": delayed_ack(1.2)},
        "Westwood's largest spread is 0.7 Mb/s, expected from 0 to 0.4 Mb/s",
    ),
    "ns3.fig9.mtu": (
        {"fig9": mtu()},
        {"fig9": mtu(1.7)},
        "Westwood (ns-3, 2013) at 0.0005: 41B is above 1500B",
    ),
    "ns3.fig10.cwnd": (
        {
            "fig10": single(
                {
                    "westwood-ns3": {"sampled_cwnd": 55.0},
                    "westwood+-ns3": {"sampled_cwnd": 30.0},
                    "reno": {"sampled_cwnd": 12.0},
                }
            )
        },
        {
            "fig10": single(
                {
                    "westwood-ns3": {"sampled_cwnd": 55.0},
                    "westwood+-ns3": {"sampled_cwnd": 10.0},
                    "reno": {"sampled_cwnd": 12.0},
                }
            )
        },
        "Reno's mean, 12.0, is not below Westwood+ (ns-3, 2013)'s, 10.0 segments",
    ),
    "ns3.fig11.ack_compression": (
        {"ack-compression": estimates(5.2e5)},
        {"ack-compression": estimates(9e5)},
        "Westwood+'s largest estimate after 5 s is 900 kb/s, expected from 250 to 600 kb/s",
    ),
    "mobicom.udp_share": (
        {
            "udp-share": single(
                {"westwood": {"estimate_alone_share": 0.95, "estimate_beside_share": 1.1}}
            )
        },
        {
            "udp-share": single(
                {"westwood": {"estimate_alone_share": 0.8, "estimate_beside_share": 1.1}}
            )
        },
        "the estimate without UDP over the link's rate is 0.8, expected from 0.85 to 1.15",
    ),
    "mobicom.fairness": (fairness(), fairness(0.85), "Westwood's index with droptail is 0.85"),
    "mobicom.friendliness": (
        {"friendliness": friendliness()},
        {"friendliness": friendliness(0.08)},
        "Westwood over Reno together is 0.876, expected from 1 to 1.4",
    ),
    "mobicom.loss_delay_capacity": (
        {
            "loss": over(PER, THREE_PER, TWO),
            "delay": over("bottleneck.delay", DELAYS, TWO),
            "capacity": over("bottleneck.rate", RATES3, TWO),
        },
        {
            "loss": over(PER, THREE_PER, {**TWO, "reno": (1.0, 1.6, 0.3)}),
            "delay": over("bottleneck.delay", DELAYS, TWO),
            "capacity": over("bottleneck.rate", RATES3, TWO),
        },
        "loss: at 0.001 Westwood is 6.2% below Reno",
    ),
    "mobicom.fading": (
        {"fading": over("bottleneck.loss.bad_rate", (0.0, 0.1, 0.3), TWO)},
        {
            "fading": over(
                "bottleneck.loss.bad_rate", (0.0, 0.1, 0.3), {**TWO, "reno": (1, 1.6, 0.3)}
            )
        },
        "at 0.1 Westwood is 0.100 Mb/s below Reno",
    ),
    "mobicom.blackout": (
        {"blackout": over("bottleneck.loss.bad", ("0s", "0.1s", "0.5s"), TWO)},
        {
            "blackout": over(
                "bottleneck.loss.bad", ("0s", "0.1s", "0.5s"), {**TWO, "reno": (1, 0.6, 1.1)}
            )
        },
        "at 0.5s Westwood is 0.100 Mb/s below Reno",
    ),
    "mobicom.satellite": (
        {"satellite": over("satellite.rate", RATES3, SATELLITE)},
        {"satellite": over("satellite.rate", RATES3, {**SATELLITE, "westwood": (0.4, 0.4, 0.4)})},
        "the ratio falls from 1.33 at 0.5Mbps to 1.00 at 8Mbps",
    ),
    "mobicom.traces": (
        {
            "traces": single(
                {"westwood": {"ssthresh_over_pipe": 0.9}, "reno": {"ssthresh_over_pipe": 0.2}}
            )
        },
        {
            "traces": single(
                {"westwood": {"ssthresh_over_pipe": 0.6}, "reno": {"ssthresh_over_pipe": 0.2}}
            )
        },
        "Westwood's median ssthresh over the pipe is 0.6, expected above 0.7",
    ),
    "plateau.wired": (
        {"plateau-wired": wired(4.538e6)},
        {"plateau-wired": wired(4.4e6, 0.002)},
        "the plateau costs 0.81%; the loss ratio rises from 0.1000% to 0.2000%",
    ),
    "plateau.wireless": (
        {
            "plateau-wireless": over(
                PER, (0.001, 0.01), {"westwoodnr": (4.5, 3.0), "westwoodnr+": (4.9, 3.1)}
            )
        },
        {
            "plateau-wireless": over(
                PER, (0.001, 0.01), {"westwoodnr": (4.5, 3.0), "westwoodnr+": (4.9, 2.7)}
            )
        },
        "at 0.01 the plateau costs 10.00%",
    ),
    "plateau.cte": (cte(), cte(3.6), "plateau-cte-wireless: the best cte is 3.6"),
    "plateau.friendly_newreno": (
        {"plateau-friendly": plateau_friendly(2.88e6, 2.0e6, "newreno")},
        {"plateau-friendly": plateau_friendly(4.5e6, 0.4e6, "newreno")},
        "the ratio is 11.2, expected from 1.2 to 1.7; NewReno's share of its fair half is 0.163",
    ),
    "plateau.friendly_westwood": (
        {"plateau-friendly": plateau_friendly(2.5e6, 2.4e6, "westwoodnr")},
        {"plateau-friendly": plateau_friendly(3.5e6, 1.4e6, "westwoodnr")},
        "the ratio is 2.5, expected from 0.95 to 1.2",
    ),
    "linux.rate_halving": (
        {"rate-halving": recoveries()},
        {"rate-halving": recoveries(0.7, 2.0)},
        "the longest silence after a loss is 0.7 round trips, expected from 0 to 0.5 round trips; "
        "cwnd was below BWE*RTTmin 2 times",
    ),
}


@pytest.mark.parametrize("claim", CASES)
def test_the_papers_results_hold_and_others_differ(claim: str) -> None:
    right, wrong, explanation = CASES[claim]
    assert verdict(claim, right) == ("HOLDS", "")
    decided, why = verdict(claim, wrong)
    assert decided == "DIFFERS" and explanation in why


def test_every_claim_is_decided_once_or_names_its_tests() -> None:
    decided = [claim for study in STUDIES.values() for claim in study.claims]
    assert len(decided) == len(set(decided)) and set(decided) == set(CHECKS)
    assert set(CASES) | {claim for claim in CHECKS if claim.startswith("ns3.fig5")} == set(CHECKS)
    for claim in claims.claims().values():
        assert (claim.id in CHECKS) != bool(claim.tested), claim.id
        assert claim.says and claim.setup and claim.measure and claim.paper.reference
    assert {one.claim.id for one in claims.tested()} == set(claims.claims()) - set(CHECKS)
