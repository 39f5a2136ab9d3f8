# SPDX-License-Identifier: BSD-3-Clause
"""Measures how often noise alone makes a word of the papers hold (words.py).

Each draw invents measurements that a reader would not call by the word, and that differ from ones
that a reader would by nothing but chance: equal controls, or a quantity at the edge of its bounds.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

from westwood.papers.checks import words
from westwood.papers.checks.words import CLEARLY, HUGELY, Named, Runs

POINTS, SEEDS, SPREAD = 8, 30, 0.05  # of a curve; of a point; the deviation of a run, relative
DRAWS = 2000


def _curve(draw: random.Random, level: float = 1.0, points: int = POINTS) -> Named:
    """Invents a flat curve."""
    return Named(
        "noise",
        {
            float(x): Runs({seed: level * draw.gauss(1, SPREAD) for seed in range(SEEDS)})
            for x in range(points)
        },
    )


def _point(draw: random.Random, level: float = 1.0) -> Runs:
    return _curve(draw, level, 1).curve[0.0]


def _holds(word: Callable[..., Iterable[str]], *invented: object) -> bool:
    """Returns whether a word about curves finds no failure."""
    return not list(word(*invented))


# By word: what is invented, and whether the word holds for it.
WORDS: dict[str, tuple[str, Callable[[random.Random], bool]]] = {
    "above": ("equal quantities", lambda d: words.above(_point(d).over(_point(d)))),
    "slightly above": (
        "equal quantities",
        lambda d: words.slightly_above(_point(d).over(_point(d))),
    ),
    "alike": (
        "one quantity 10 % above the other",
        lambda d: words.alike(_point(d, 1 + words.ALIKE).over(_point(d))),
    ),
    "near": (
        "a quantity 10 % above the number",
        lambda d: words.near(_point(d, 1 + words.NEAR).mean, 1),
    ),
    "exactly": (
        "a quantity 2 % above the number",
        lambda d: words.exactly(_point(d, 1 + words.EXACT).mean, 1),
    ),
    "at most": ("a quantity equal to the number", lambda d: words.at_most(_point(d).mean, 1)),
    "leads": ("equal curves", lambda d: _holds(words.leads, _curve(d), _curve(d))),
    "mostly above": ("equal curves", lambda d: _holds(words.mostly_above, _curve(d), _curve(d))),
    "leads clearly": (
        "a curve 10 % above the other",
        lambda d: _holds(words.leads, _curve(d, 1 + CLEARLY), _curve(d), CLEARLY),
    ),
    "leads hugely": (
        "a curve 50 % above the other",
        lambda d: _holds(words.leads, _curve(d, 1 + HUGELY), _curve(d), HUGELY),
    ),
    "grows": ("a flat curve", lambda d: _holds(words.grows, _curve(d))),
    "falls": ("a flat curve", lambda d: _holds(words.falls, _curve(d))),
    "stays flat": (
        "a curve whose last point is 10 % above the others",
        lambda d: _holds(words.stays_flat, _with_last(_curve(d), _point(d, 1 + words.ALIKE))),
    ),
    "best curve": ("four equal curves", lambda d: _holds(words.best_curve, _four(d))),
    "in order": ("four equal curves", lambda d: _holds(words.in_order, _four(d))),
    "best point": ("a flat curve", lambda d: _holds(words.best_point, _curve(d), POINTS / 2)),
    "improves": ("equal quantities", lambda d: words.improves(_point(d, 0.9), _point(d, 0.9))),
}


def _four(draw: random.Random) -> list[Named]:
    return [_curve(draw) for _ in range(4)]


def _with_last(series: Named, last: Runs) -> Named:
    return Named(series.name, {**series.curve, float(POINTS): last})


def share(word: str, draws: int = DRAWS) -> float:
    """Returns the share of draws in which noise makes the word hold."""
    draw = random.Random(word)
    holds = WORDS[word][1]
    return sum(holds(draw) for _ in range(draws)) / draws
