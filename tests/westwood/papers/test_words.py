# SPDX-License-Identifier: BSD-3-Clause
"""A word of the papers holds for curves that a reader calls so, for no others, and not by noise."""

import random
from collections.abc import Callable, Iterable, Sequence

import pytest

from westwood.papers.checks import noise, words
from westwood.papers.checks.words import CLEARLY, HUGELY, Estimate, Named, Runs

SEEDS = range(1, 11)
NOISE = 0.01  # of a run, relative


def curve(*means: float, noise: float = NOISE, seed: int = 0) -> Named:
    """Makes a curve over 1.0, 2.0, ... with a little noise of ten runs."""
    draw = random.Random(seed)
    runs = {
        float(x): Runs({run: mean * draw.gauss(1, noise) for run in SEEDS})
        for x, mean in enumerate(means, 1)
    }
    return Named("it", runs)


def leads(upper: Sequence[float], lower: Sequence[float], by: float = 0.0) -> list[str]:
    return list(words.leads(curve(*upper, seed=1), curve(*lower, seed=2), by))


FULL = (4.9, 4.9, 4.5, 3.0)  # the link is full at the first two points
LOWER = (4.9, 4.9, 3.9, 1.5)


def test_a_curve_leads_that_touches_the_other_where_the_link_is_full():
    assert not leads((4.9, 4.5, 4.2, 3.0), (4.9, 4.2, 3.0, 1.5))


def test_a_curve_that_is_below_by_less_than_a_line_is_thick_still_leads():
    assert not leads((4.895, 4.5, 4.2, 3.0), (4.9, 4.2, 3.0, 1.5))


def test_equal_curves_do_not_lead():
    assert leads(FULL, FULL)


def test_a_curve_that_touches_at_half_of_the_points_does_not_lead():
    assert leads(FULL, LOWER) == ["it over it: above at 2 of 4 points, expected more than half"]


def test_a_curve_that_is_below_once_does_not_lead():
    (failure,) = leads((5.0, 4.5, 4.2, 3.0), (4.0, 4.2, 4.4, 1.5))
    assert failure.startswith("it over it at 3: ") and failure.endswith("% below")


def test_a_lead_of_a_few_percent_is_not_clear_and_one_of_a_fifth_is():
    assert not leads((1.05, 1.05, 1.05), (1, 1, 1)) and leads((1.05,) * 3, (1,) * 3, CLEARLY)
    assert not leads((1.2,) * 3, (1,) * 3, CLEARLY) and leads((1.2,) * 3, (1,) * 3, HUGELY)
    assert not leads((1.6, 3, 1.05), (1, 1, 1), HUGELY)


GROWING = (1.0, 1.8, 2.5, 2.5)


def test_a_curve_grows_that_becomes_flat_when_it_is_full():
    assert not list(words.grows(curve(*GROWING)))
    assert not list(words.falls(curve(*reversed(GROWING))))


@pytest.mark.parametrize(
    "means", [(0.398, 0.384, 0.414, 0.420, 0.375), (1.0, 2.0, 2.566, 2.414), (1.0, 1.0, 1.03)]
)
def test_a_curve_that_falls_somewhere_or_hardly_rises_does_not_grow(means):
    assert list(words.grows(curve(*means)))


def test_a_flat_curve_may_vary_by_a_few_percent():
    assert not list(words.stays_flat(curve(1.0, 1.03, 0.98, 1.02)))
    assert list(words.stays_flat(curve(1.0, 1.0, 1.25)))
    assert list(words.stays_flat(curve(1.0, 1.0, noise=0.4))), "noise hides whether it is flat"


def test_two_quantities_are_alike_within_a_tenth_and_noise_is_no_likeness():
    ((ratio,),) = [curve(1.0, seed=1).over(curve(1.03, seed=2)).values()]
    ((two,),) = [curve(1.0, seed=1).over(curve(1.2, seed=2)).values()]
    ((blurred,),) = [curve(1.0, seed=1).over(curve(1.0, noise=0.4, seed=2)).values()]
    assert words.alike(ratio) and not words.alike(two) and not words.alike(blurred)


def test_a_slight_lead_is_a_lead_of_less_than_a_tenth():
    ratios = [curve(mean, seed=1).over(curve(1.0, seed=2))[1.0] for mean in (1.0, 1.05, 1.3)]
    assert [words.slightly_above(ratio) for ratio in ratios] == [False, True, False]


def test_near_is_within_a_tenth_and_exactly_within_a_fiftieth():
    def around(mean: float) -> Estimate:
        return Estimate(mean, mean - 0.01, mean + 0.01)

    near = [ratio for ratio in (4.46, 4.52, 5.48, 5.6) if words.near(around(ratio), 5.0)]
    assert near == [4.52, 5.48]
    assert [ratio for ratio in (4.88, 4.92, 5.2) if words.exactly(around(ratio), 5.0)] == [4.92]
    assert [words.at_most(around(ratio), 5.0) for ratio in (4.0, 4.995)] == [True, False]
    assert words.at_most(Estimate(5.0, 5.0, 5.0), 5.0), "as much is at most as much"


def test_no_other_point_is_above_the_best_one_beyond_the_paired_interval():
    peaked = curve(1.0, 1.1, 1.2, 1.1, 1.0)
    assert not list(words.best_point(peaked, 3.0))
    assert list(words.best_point(peaked, 2.0))
    assert list(words.best_point(curve(1.0, 1.003, 1.0, noise=0.0001), 3.0))


def test_a_flat_curve_has_no_worse_point_and_is_called_flat():
    flat, peaked = curve(1.0, 1.0, 1.0, 1.0, noise=0.001), curve(1.0, 1.1, 1.2, 1.1, 1.0)
    assert not list(words.best_point(flat, 3.0))
    assert words.flatness(flat) < 0.002 and words.flatness(peaked) == pytest.approx(0.2, abs=0.02)


def test_a_search_takes_a_point_less_than_a_line_below_another_for_the_best():
    points = {cte: Runs({1: mean}, with_interval=False) for cte, mean in ((1.0, 1.005), (2.0, 1.0))}
    assert not list(words.best_point(Named("it", points), 2.0))


@pytest.mark.parametrize(
    ("before", "after", "holds"),
    [
        (0.8, 0.9, True),
        (0.9, 0.9, False),
        (1.0, 1.0, True),
        (0.993, 0.995, True),
        (1.0, 0.9, False),
    ],
)
def test_a_quantity_improves_unless_it_is_as_good_as_possible(before, after, holds):
    first, second = (
        curve(mean, noise=0.001, seed=seed).curve[1.0] for seed, mean in enumerate((after, before))
    )
    assert words.improves(first, second) == holds


def test_the_best_curve_may_cross_another_by_less_than_a_line():
    best, middle, worst = (4.87, 3.0, 2.0, 1.0), (4.9, 2.5, 1.5, 0.8), (4.8, 2.0, 1.0, 0.5)
    assert not list(
        words.best_curve([curve(*arguments, noise=0.001) for arguments in (best, middle, worst)])
    )
    crossing = (4.9, 3.4, 1.5, 0.8)
    assert list(words.best_curve([curve(*arguments) for arguments in (best, crossing, worst)]))


def test_curves_in_order_are_so_between_the_first_and_the_last_too():
    best, middle, worst = (4.9, 3.0, 2.0, 1.0), (4.88, 2.5, 1.5, 0.8), (4.7, 2.0, 1.0, 0.5)
    assert not list(words.in_order([curve(*arguments) for arguments in (best, middle, worst)]))
    four = [curve(*arguments) for arguments in (best, worst, middle, worst)]
    assert list(words.in_order(four)) and not list(words.best_curve(four))


def test_a_search_with_few_seeds_decides_by_means():
    runs = Runs({1: 1.0, 2: 3.0}, with_interval=False)
    assert runs.mean == Estimate(2.0, 2.0, 2.0)


def test_a_run_alone_has_no_interval():
    assert Runs({1: 2.0}).over(Runs({1: 1.0})) == Estimate(2.0, 2.0, 2.0)


def test_what_delivered_nothing_is_not_above_or_below():
    unknown = Runs({1: 1.0, 2: 1.0}).over(Runs({1: 0.0, 2: 0.0}))
    checks: Iterable[Callable[[Estimate], bool]] = (words.above, words.below, words.alike)
    assert not any(check(unknown) for check in checks)


@pytest.mark.parametrize("word", [word for word in noise.WORDS if word != "best point"])
def test_noise_alone_seldom_makes_a_word_hold(word):
    assert noise.share(word, draws=300) <= 0.05


def test_every_point_of_a_flat_curve_is_a_best_point():
    assert noise.share("best point", draws=100) > 0.5
