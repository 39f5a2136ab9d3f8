# SPDX-License-Identifier: BSD-3-Clause
"""A search's counts stand beside those of independent claims."""

import math

import pytest

from westwood.papers.infer import chance, page
from westwood.papers.infer.report import InferenceReport, packaged


def test_chance_is_that_of_independent_claims():
    assert chance.at_once([0.5, 0.5]) == [0.25, 0.5, 0.25]
    assert chance.expected([0.5, 0.5], 2, 100) == pytest.approx(25)
    assert chance.by_chance([0.5, 0.5, 0.001], 100) == 2
    assert chance.by_chance([1.0, 0.0], 100) == 1


def test_chance_counts_how_many_claims_hold_at_once_and_which_exclude_each_other():
    held = [{"a": place % 2 == 0, "b": place % 2 == 1, "c": True} for place in range(40)]

    counts = chance.counted(held)

    assert counts["shares"] == {"a": 0.5, "b": 0.5, "c": 1.0}
    assert counts["together"] == [0, 0, 40, 0]
    (pair,) = [claim_pair for claim_pair in chance.pairs(counts) if claim_pair.is_apart]
    assert (pair.first, pair.second, pair.both, pair.expected) == ("a", "b", 0, 10.0)
    assert pair.at_most_by_chance == pytest.approx(1 / math.comb(40, 20))


def test_claims_that_share_as_many_settings_as_by_chance_do_not_exclude_each_other():
    held = [{"a": place % 2 == 0, "b": place % 4 < 2} for place in range(40)]

    (pair,) = chance.pairs(chance.counted(held))

    assert (pair.both, pair.expected, pair.is_apart) == (10, 10.0, False)
    assert 0.5 < pair.at_most_by_chance < 0.8


def test_the_page_says_whether_figures_7_and_8_exclude_those_of_figure_5():
    report = packaged()["ns3-2013"]
    held = [
        {claim: claim.startswith("ns3.fig5") == (place % 2 == 0) for claim in report.claims}
        for place in range(40)
    ]
    never = InferenceReport({**report.data, "chance": chance.counted(held)})

    text = page.written({"ns3-2013": never}, never.command)

    assert "### Do Figures 7 and 8 exclude Figure 5's claims?" in text
    for two in ("ns3.fig7.bandwidth", "ns3.fig8.delack"):
        for claim_id in ("ns3.fig5.order", "ns3.fig5.westwoodplus_knee"):
            assert f"| `{two}` | `{claim_id}` | 0 | 10.0 | 7.3e-12 |" in text
