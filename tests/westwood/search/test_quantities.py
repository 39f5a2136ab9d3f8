# SPDX-License-Identifier: BSD-3-Clause
"""Every quantity of a search agrees with values computed by hand from invented runs."""

import dataclasses
import math

import pytest

from westwood.scenario.paths.environment import Environment
from westwood.search import bounds, quantities
from westwood.search.outcome import Outcome, PathOutcomes

PATH = Environment(10_000_000, 40_000, 33, 10_000_000, 8)


VALUES = {  # values of the control under test and of CUBIC
    "goodput_bps": (4e6, 2e6),
    "beside_bps": (3e6, 6e6),
    "jain": (0.6, 0.8),
    "mean_queue": (5.0, 2.0),
    "short_p50_s": (0.4, 0.2),
    "short_p95_s": (2.0, 0.5),
    "loss_ratio": (0.03, 0.02),
    "latest_bps": (1e6, 4e6),
    "resent": (0.07, 0.01),
    "resent_beyond": (0.04, 0.01),
}
OWN, CUBIC = (Outcome(**{name: pair[n] for name, pair in VALUES.items()}) for n in (0, 1))
BBR, WESTWOOD = (dataclasses.replace(CUBIC, goodput_bps=bps) for bps in (8e6, 5e6))
LEAST = bounds.RESENT_LEAST


def seen(
    outcome: Outcome = OWN, cubic: Outcome = CUBIC, westwood: Outcome = WESTWOOD
) -> PathOutcomes:
    return PathOutcomes(PATH, outcome, cubic, BBR, westwood)


@pytest.mark.parametrize(
    ("quantity", "value"),
    [
        (quantities.OVER_CUBIC, 2),
        (quantities.WHERE_LOSS_BINDS, 0.5),
        (quantities.OVER_BEST, 4 / max(8 * bounds.BURSTS_OF_BBR, 5)),
        (quantities.QUEUE, (5 + 1) / (2 + 1)),
        (quantities.CUBIC_KEEPS, 0.5),
        (quantities.IN_ITS_PLACE, 2),
        (quantities.FAIRNESS, -0.2),
        (quantities.FAIRNESS_AT_A_DISTANCE, 0.75),
        (quantities.LATEST, 0.25),
        (quantities.RESENT, (0.04 + LEAST) / (0.01 + LEAST)),
        (quantities.RESENT_BEYOND, 0.04),
        (quantities.SHORT, 2),
        (quantities.SHORT_P95, 4),
        (quantities.DROPPED, 1.5),
        (quantities.UPLINK, 4),
    ],
    ids=lambda case: getattr(case, "what", ""),
)
def test_a_quantity_has_the_value_computed_by_hand(quantity, value):
    assert quantity.read(seen()) == pytest.approx(value)


def test_without_cubics_goodput_only_queues_and_resent_packets_have_ratios():
    nothing = dataclasses.replace(CUBIC, goodput_bps=0.0, mean_queue=0.0, resent=0.0)
    assert math.isnan(quantities.OVER_CUBIC.read(seen(cubic=nothing)))
    assert quantities.QUEUE.read(seen(cubic=nothing)) == 6
    assert quantities.RESENT.read(seen(cubic=nothing)) == pytest.approx(0.04 / LEAST + 1)


def test_less_resent_than_the_wire_lost_counts_as_nothing_resent():
    outcome = dataclasses.replace(OWN, resent_beyond=-0.005)
    assert quantities.RESENT.read(seen(outcome)) == pytest.approx(LEAST / (0.01 + LEAST))


def test_westwood_is_the_reference_if_it_beats_bbrs_fraction():
    westwood = dataclasses.replace(WESTWOOD, goodput_bps=16e6)
    assert quantities.OVER_BEST.read(seen(westwood=westwood)) == pytest.approx(0.25)
