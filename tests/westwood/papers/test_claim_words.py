# SPDX-License-Identifier: BSD-3-Clause
"""Each word of a paper's claim counts: what fails a single one makes the claim differ."""

import pytest
from invented import (
    delayed_ack,
    estimates,
    fairness,
    mtu,
    over,
    over_time,
    plateau_friendly,
    recoveries,
    uploads,
    verdict,
    wired,
)

from westwood.papers import claims
from westwood.papers.checks import CHECKS
from westwood.papers.checks.common import Measured

TWO = {"westwood": (1.9, 1.5, 1.0), "reno": (1.0, 0.6, 0.3)}
OTHERS = ("reno", "newreno", "tahoe")
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


def test_every_decided_claim_quotes_its_paper():
    without = [check for check in CHECKS if not claims.claims()[check].quote]
    assert without == [name for name in without if name.startswith("mobicom.")], (
        "slides have figures"
    )
