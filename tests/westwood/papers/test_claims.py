# SPDX-License-Identifier: BSD-3-Clause
"""A check says HOLDS if a claim holds, and else DIFFERS with the place and the amount."""

import pytest
from invented import (
    CURVES,
    PER,
    RATES,
    THREE_PER,
    beside,
    cte,
    delayed_ack,
    estimates,
    fairness,
    fig5,
    friendliness,
    mtu,
    originals,
    over,
    over_time,
    plateau_friendly,
    recoveries,
    reno_off,
    traces,
    two_windows,
    udp_share,
    uploads,
    verdict,
    windows,
    wired,
)

from westwood.papers import claims
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import Measured
from westwood.papers.studies import STUDIES

OTHERS = ("reno", "newreno", "tahoe")


W_OVER_PLUS = "Westwood (ns-3, 2013) over Westwood+ (ns-3, 2013)"
LOW = {cc: tuple(0.75 * value for value in CURVES["westwood-ns3"]) for cc in OTHERS}
FIG5: list[tuple[str, dict[str, Measured], str]] = [  # claim, curves, why it differs
    ("order", fig5(), ""),
    ("order", fig5(westwood_plus=(0, 1.975)), ""),  # a full link
    ("order", fig5(westwood_plus=(4, 1.8)), f"{W_OVER_PLUS} at 0.005: 8.3% below"),
    ("order", fig5(westwood_plus=(7, 0.25)), f"{W_OVER_PLUS} at 0.05: 20.0% below"),
    (
        "order",
        {"fig5": over(PER, RATES, {**CURVES, **LOW})},
        "Westwood (ns-3, 2013) over Reno: by 50% at 0 of 8 points",
    ),
    ("reno_equals_newreno", fig5(), ""),
    ("reno_equals_newreno", fig5(reno=(4, 0.37 * 0.92)), ""),
    ("reno_equals_newreno", fig5(reno=(5, 0.10)), "Reno over NewReno at 0.01 is "),
    (
        "reno_equals_newreno",
        fig5(reno=(4, 0.37 * 0.85)),
        "Reno over NewReno at 0.005 is 0.85, expected within 10 % of 1",
    ),
    ("westwoodplus_knee", fig5(), ""),
    (
        "westwoodplus_knee",
        fig5(westwood_plus=(5, 0.8)),
        "Westwood over Westwood+: falls by 16.7% from 0.005 to 0.01",
    ),
    (
        "westwoodplus_knee",
        fig5(westwood_plus=(1, 1.5)),
        "Westwood over Westwood+ at 0.0005 is 1.31 before the drop",
    ),
    ("monotone", fig5(), ""),
    ("monotone", fig5(reno=(5, 0.372)), ""),
    ("monotone", fig5(reno=(5, 0.40)), "Reno: rises by 7.5% from 0.005 to 0.01"),
]


@pytest.mark.parametrize(("claim", "curves", "why"), FIG5)
def test_figure_5_is_judged_by_each_word(claim, curves, why):
    decided, explained = verdict(f"ns3.fig5.{claim}", curves)
    assert decided == ("DIFFERS" if why else "HOLDS") and why in explained


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


def wireless(plus: float) -> dict[str, Measured]:
    curves = {"westwoodnr": (4.6, 3.0), "westwoodnr+": (5.0, plus)}
    return {"plateau-wireless": over(PER, (0.001, 0.01), curves)}


CASES: dict[str, tuple[dict[str, Measured], dict[str, Measured], str]] = {
    "ns3.fig6.delay": (
        *reno_off("fig6", "bottleneck.delay", DELAYS, FIVE, (0.4, 1.4, 0.1)),
        "Westwood+ (ns-3, 2013) over Reno at 10ms: 7.1% below",
    ),
    "ns3.fig7.bandwidth": (
        *reno_off("fig7", "bottleneck.rate", ("2Mbps", "8Mbps"), BANDWIDTH, (0.4, 0.5)),
        "Reno: at 8Mbps 1.25 times as much as at 2Mbps",
    ),
    "ns3.fig8.delack": (
        {"fig8": delayed_ack()},
        {"fig8": delayed_ack(1.2)},
        "Westwood's largest spread is 0.7 Mb/s, expected at most 0.4 Mb/s",
    ),
    "ns3.fig9.mtu": (
        {"fig9": mtu()},
        {"fig9": mtu(1.7)},
        "2013) with 1500B over Westwood (ns-3, 2013) with 41B at 0.0005: 5.6% below",
    ),
    "ns3.fig10.cwnd": (
        windows(30.0),
        windows(10.0),
        "Reno's mean, 12.0, is not below Westwood+ (ns-3, 2013)'s, 10.0 segments",
    ),
    "ns3.fig11.ack_compression": (
        {"ack-compression": estimates(5.2e5)},
        {"ack-compression": estimates(9e5)},
        "Westwood+'s largest estimate from 8 to 14 s is 900 kb/s, expected from 500 to 550 kb/s",
    ),
    "mobicom.udp_share": (
        udp_share(0.95),
        udp_share(0.8),
        "the estimate without UDP over the link's rate is 0.8, expected about 1",
    ),
    "mobicom.fairness": (fairness(), fairness(0.85), "westwood's index with droptail is 0.85"),
    "mobicom.friendliness": (
        {"friendliness": friendliness()},
        {"friendliness": friendliness(0.08)},
        "westwood together over the table is 0.742, expected exactly 1",
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
        "loss: Westwood over Reno: above at 2 of 3 points, expected 75% of them",
    ),
    "mobicom.fading": (
        *reno_off("fading", "bottleneck.loss.bad_rate", (0.0, 0.1, 0.3), TWO, (1, 1.6, 0.3)),
        "Westwood over Reno at 0.1: 6.2% below",
    ),
    "mobicom.blackout": (
        *reno_off("blackout", "bottleneck.loss.bad", ("0s", "0.1s", "0.5s"), TWO, (1, 0.6, 1.1)),
        "Westwood over Reno at 0.5s: 9.1% below",
    ),
    "mobicom.satellite": (
        {"satellite": over("satellite.rate", RATES3, SATELLITE)},
        {"satellite": over("satellite.rate", RATES3, {**SATELLITE, "westwood": (0.4, 0.4, 0.4)})},
        "Westwood: grows by only 0.0% from 0.5Mbps to 8Mbps",
    ),
    "mobicom.traces": (
        traces(0.95),
        traces(0.6),
        "Westwood's median ssthresh over the pipe is 0.6, expected about 1",
    ),
    "plateau.wired": (
        {"plateau-wired": wired(4.538e6)},
        {"plateau-wired": wired(4.4e6, 0.002)},
        "the gain is -0.812 %, expected about 2.3 %; the loss ratio: rises from 0.1000% to 0.2000%",
    ),
    "plateau.wireless": (
        wireless(3.45),
        wireless(2.7),
        "WestwoodNR+ over WestwoodNR at 0.01: 10.0% below",
    ),
    "plateau.wired_numbers": (
        cte(),
        {**cte(), "plateau-wired": wired(4.9e6)},
        "WestwoodNR+ is 4.9 Mb/s, expected exactly 4.538 Mb/s",
    ),
    "plateau.cte": (cte(), cte(3.6), "plateau-cte-wireless: 3.6 gives 3.51% more than 2"),
    "plateau.friendly_newreno": (
        {"plateau-friendly": plateau_friendly(2.88e6, 2.0e6, "newreno")},
        {"plateau-friendly": plateau_friendly(4.5e6, 0.4e6, "newreno")},
        "the gain over NewReno is 1.02e+03 %, expected about 44.29 %; "
        "NewReno's share of its fair half is 0.163",
    ),
    "plateau.friendly_westwood": (
        {"plateau-friendly": plateau_friendly(2.5e6, 2.4e6, "westwoodnr")},
        {"plateau-friendly": plateau_friendly(3.5e6, 1.4e6, "westwoodnr")},
        "the ratio is 2.5, expected from 1 to 1.1",
    ),
    "plateau.stages": (
        over_time(),
        over_time(stage_ratio=1.05),
        "the longest stage is 1.05 times the shortest",
    ),
    "plateau.ssthresh": (
        over_time(),
        over_time(ssthresh_range=0.3),
        "ssthresh's range over its median from 7 s on is 0.3, expected at most 0.1",
    ),
    "plateau.use": (
        over_time(),
        over_time(second_use_spread=0.18, least_use=0.7, last_use=0.8),
        "the use's deviation in the second half over the first is 0.9, expected at most 0.666667; "
        "the use's largest over its least is 1.4; the use at the end is 0.8, expected about 1",
    ),
    "plateau.windows_newreno": (
        two_windows(50.0),
        two_windows(30.0, rises=1.0),
        "the window over NewReno's is 1; NewReno's window gets large 1 times",
    ),
    "plateau.windows_westwood": (
        two_windows(31.0),
        two_windows(31.0, apart=0.3),
        "from 10 s on the windows' distance over the window is 0.3, expected at most 0.1",
    ),
    "linux.backlog": (
        {"rate-halving": recoveries()},
        {"rate-halving": recoveries(cleared=0.5)},
        "the share of reductions after which the backlog is gone is 0.5, expected about 1",
    ),
    **{
        f"linux.{city}": (
            uploads(),
            uploads(gain=1.0, resent=2.0),
            "none of 2 paths has all of Table 4",
        )
        for city in ("ucla", "uppsala", "parma")
    },
    "linux.ssthresh": (
        uploads(),
        uploads(ssthresh=1.0, parma=0.5),
        "to UCLA 0 of 1 paths have these windows; to Parma 0 of 1 paths have these windows",
    ),
    "ns3.plus_fairness": (
        beside(1.0),
        beside(0.7),
        "Reno with Westwood+ over that with Westwood is 0.875",
    ),
    "mobicom.fairness_red": (fairness(), fairness(red=0.0), ""),
    "ns3.original_work": (originals(), originals(0.1), ""),
    "ns3.fig6.reno_least_delay": (originals(), originals(0.1), ""),
    "linux.rate_halving": (
        {"rate-halving": recoveries()},
        {"rate-halving": recoveries(0.7, 2.0)},
        "the longest silence after a loss is 0.7 round trips, expected at most 0.5 round trips; "
        "cwnd was below BWE*RTTmin 2 times",
    ),
}


@pytest.mark.parametrize("claim", CASES)
def test_the_papers_results_hold_and_others_differ(claim):
    right, wrong, explanation = CASES[claim]
    if why_not := claims.claims()[claim].undecidable:
        assert verdict(claim, right) == verdict(claim, wrong) == ("NOT DECIDABLE", why_not)
        return
    assert verdict(claim, right) == ("HOLDS", "")
    decided, why = verdict(claim, wrong)
    assert decided == "DIFFERS" and explanation in why


TWO_OURS = (1.9, 1.5, 1.0)
RATES7 = ("2Mbps", "4Mbps", "8Mbps")
FLAT = dict.fromkeys(OTHERS, (0.4, 0.4, 0.4))
STEPS = {**FLAT, "westwood-ns3": (1.0, 2.0, 2.8), "westwood+-ns3": (0.8, 1.2, 1.4)}
MORE_CASES: list[tuple[str, dict[str, Measured], str]] = [
    (
        "ns3.fig7.bandwidth",
        {"fig7": over("bottleneck.rate", RATES7, {**STEPS, "westwood-ns3": (1.0, 2.566, 2.414)})},
        "Westwood (ns-3, 2013): falls by 5.9% from 4Mbps to 8Mbps",
    ),
    (
        "ns3.fig7.bandwidth",
        {"fig7": over("bottleneck.rate", RATES7, {**STEPS, "westwood+-ns3": (0.95, 1.9, 2.6)})},
        "Westwood (ns-3, 2013) over Westwood+ (ns-3, 2013): by 10% at 0 of 3 points",
    ),
    (
        "ns3.fig8.delack",
        {"fig8": delayed_ack(plus_at_high_rates=0.95)},
        "Westwood+ keeps 0.95 of its throughput with 8 segments an ACK above an error rate of "
        "0.001, and 0.892 up to it",
    ),
    (
        "ns3.fig9.mtu",
        {"fig9": mtu(reno_at_0_0005=0.5)},
        "Reno's spread is largest at 0.0005, expected at 0.001",
    ),
    (
        "ns3.fig9.mtu",
        {"fig9": mtu(reno_at_0_01=0.5)},
        "Reno's spread over Westwood's spread at 0.01: 55.6% below",
    ),
    (
        "ns3.fig9.mtu",
        {"fig9": mtu(between=1.99)},
        "Westwood (ns-3, 2013) with 400B over Westwood (ns-3, 2013) with 1500B at 0.0005: above",
    ),
    (
        "ns3.fig11.ack_compression",
        {"ack-compression": estimates(5.2e5, peak=2.5e6)},
        "Westwood's peak is 2.5 Mb/s, expected about 8 Mb/s",
    ),
    (
        "mobicom.fading",
        {"fading": over("bottleneck.loss.bad_rate", (0.0, 0.1, 0.3), {**TWO, "reno": TWO_OURS})},
        "Westwood over Reno: above at 0 of 3 points, expected more than half",
    ),
    ("mobicom.fairness", fairness(0.95, -0.2), "westwood's index with red is 0.75"),
    (
        "plateau.wired",
        {"plateau-wired": wired(4.45e6)},
        "the gain is 0.316 %, expected about 2.3 %",
    ),
    (
        "plateau.friendly_newreno",
        {"plateau-friendly": plateau_friendly(2.88e6, 2.4e6, "newreno")},
        "the gain over NewReno is 20 %, expected about 44.29 %",
    ),
    (
        "plateau.friendly_westwood",
        {"plateau-friendly": plateau_friendly(2.4e6, 2.4e6, "westwoodnr")},
        "the ratio is 1, expected from 1 to 1.1",
    ),
    (
        "plateau.stages",
        over_time(cwnd_swing=60.0),
        "the window swings 1 times as far as without stages",
    ),
    (
        "linux.rate_halving",
        {"rate-halving": recoveries(silence=0.0, seen=0.0)},
        "no run has a fast recovery",
    ),
    ("linux.ssthresh", uploads(cwnd=0.8), "to Parma 0 of 1 paths have these windows"),
    ("linux.ucla", uploads(resent=1.2), "none of 2 paths has all of Table 4"),
]


@pytest.mark.parametrize(("claim", "wrong", "explanation"), MORE_CASES)
def test_each_word_of_a_claim_counts(claim, wrong, explanation):
    decided, why = verdict(claim, wrong)
    assert decided == "DIFFERS" and explanation in why


def test_every_claim_is_decided_once_or_names_its_tests():
    decided = [claim for study in STUDIES.values() for claim in study.claims]
    assert len(decided) == len(set(decided)) and set(decided) == set(CHECKS)
    assert set(CASES) | {claim for claim in CHECKS if claim.startswith("ns3.fig5")} == set(CHECKS)
    for claim in claims.claims().values():
        assert (claim.id in CHECKS) != bool(claim.tested), claim.id
        assert claim.says and claim.setup and claim.measure and claim.paper.reference
    assert {claim_verdict.claim.id for claim_verdict in claims.tested()} == set(
        claims.claims()
    ) - set(CHECKS)


def test_every_decided_claim_quotes_its_paper():
    without = [check for check in CHECKS if not claims.claims()[check].quote]
    assert without == [name for name in without if name.startswith("mobicom.")], (
        "slides have figures"
    )
