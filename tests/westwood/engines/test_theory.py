# SPDX-License-Identifier: BSD-3-Clause
"""The formulas of docs/theory.md have their published values, and its tables are up to date."""

import itertools
import math
import random

import pytest

from bench.theory import formulas
from bench.theory.page import PAGE
from bench.theory.studies import STUDIES, correlated_losses
from tools.pages import table_of

POINTS = {
    f"{study.name}: {point.name}": (study.name, point)
    for study in STUDIES
    for point in study.points
}


def test_mathis_has_the_constants_of_table_1():
    """Mathis et al. 1997, Table 1: periodic 1.22 and 0.87, random 1.31 and 0.93."""
    for constant, every, delayed in (
        (formulas.PERIODIC, 1.22, 0.87),
        (formulas.RANDOM, 1.31, 0.93),
    ):
        assert formulas.mathis(1, constant) == pytest.approx(every, abs=0.006)
        assert formulas.mathis(1, constant, 2) == pytest.approx(delayed, abs=0.006)


@pytest.mark.parametrize(
    ("p", "window"),
    [(1e-4, 187), (1e-5, 1054), (1e-6, 5926), (1e-7, 33325), (1e-8, 187400)],
)
def test_cubic_has_the_windows_of_rfc_9438(p, window):
    """RFC 9438, Table 1: RTT 0.1 s, C = 0.4."""
    assert formulas.cubic(p, 0.1) == pytest.approx(window, abs=0.5, rel=1e-4)


def test_cubic_is_reno_friendly_below():
    """RFC 9438, Table 1: 12 and 38 at 1e-2 and 1e-3, where it rounds the constant to 1.2."""
    assert formulas.cubic(1e-2, 0.1) == pytest.approx(12, rel=0.03)
    assert formulas.cubic(1e-3, 0.1) == pytest.approx(38, rel=0.03)


def test_pftk_has_its_limits():
    """SIGCOMM 1998: for rare losses it is the square-root law; Q is 1 for a window of three."""
    for b in (1, 2):
        rate = formulas.pftk(1e-8, 0.1, 1, b)
        assert rate == pytest.approx(math.sqrt(3 / (2 * b * 1e-8)) / 0.1, abs=0.5, rel=1e-4)
        assert formulas.pftk_simple(1e-8, 0.1, 1, b) == pytest.approx(rate, abs=0.5, rel=1e-4)
    assert formulas.pftk_timeout_share(0.1, 3) == 1
    assert formulas.pftk_timeout_share(1e-6, 30) == pytest.approx(3 / 30, rel=0.01)
    assert formulas.pftk(0.02, 0.1, 1) == pytest.approx(
        formulas.pftk_simple(0.02, 0.1, 1), rel=0.05
    )


def test_waits_have_their_known_values():
    assert formulas.md1_wait(0.5) == 0.5 and formulas.md1_wait(0.8) == pytest.approx(2)
    assert formulas.sum_dd1_wait(1, 0.5) == 0, "a single periodic source never waits"
    # Two sources collide with probability 2 / period; the later then waits half a service time.
    assert formulas.sum_dd1_wait(2, 0.5) == pytest.approx(1 / (2 * 4))
    assert formulas.sum_dd1_wait(100, 0.5) == pytest.approx(formulas.md1_wait(0.5), rel=0.08)


def test_the_wait_of_periodic_sources_is_that_of_drawn_phases():
    draws, sources, load = random.Random(1), 8, 0.9
    period = sources / load
    waits = []
    for _ in range(4000):
        work, last = 0.0, 0.0
        phases = sorted(draws.random() * period for _ in range(sources))
        for turn in range(3):  # starts empty; later periods equal the second
            for phase in phases:
                now = turn * period + phase
                work = max(0, work - (now - last))
                if turn == 2:
                    waits.append(work)
                work, last = work + 1, now
    assert math.fsum(waits) / len(waits) == pytest.approx(
        formulas.sum_dd1_wait(sources, load), rel=0.03
    )


def test_bbrs_probing_of_the_rtt_costs_two_percent():
    """The draft, 4.3.5: 200 ms in 10 s."""
    assert formulas.bbr_share(0, 1e9) == pytest.approx(0.98, abs=0.001)


def test_a_correlated_loss_takes_the_rest_of_its_burst():
    lost, _ = correlated_losses(0.05, 5, seed=1)
    bursts = 1 + sum(two != number + 1 for number, two in itertools.pairwise(lost))
    assert lost == sorted(set(lost)) and bursts <= 5 and len(lost) > 5


@pytest.mark.parametrize("name", [name for name, (_, point) in POINTS.items() if point.quick])
def test_the_page_has_what_is_measured_now(name):
    study, point = POINTS[name]
    page = table_of(study, PAGE.page.read_text(encoding="utf-8"))
    assert point.row() in page.splitlines(), "docs/theory.md is out of date: make theory"


@pytest.mark.parametrize("study", STUDIES, ids=lambda study: study.name)
def test_the_page_has_every_point_with_its_theory(study):
    lines = table_of(study.name, PAGE.page.read_text(encoding="utf-8")).splitlines()
    points = study.points
    assert len(lines) == 2 + len(points)
    for point, line in zip(points, lines[2:], strict=True):
        assert line.startswith(point.start)
