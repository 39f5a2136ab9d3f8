# SPDX-License-Identifier: BSD-3-Clause
"""Proposes settings to try: two batches that fill the space, one that refines, and so on.

In a batch that fills, every value of every setting comes equally often (as far as the numbers
divide), in an order of its own: a Latin hypercube over words. Shares are taken from these alone,
for they know nothing of any result; what a batch that fills has had, none has again. A batch that
refines is of the optimiser of `control tune`, which returns to what was good: what was tried
before is changed by chance until it is something new. A batch is shorter where nothing new is left.
All of it follows from the seed, the batch's number and the batches before: more settings may be
asked for later, and are the same as if they had been asked for at once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from westwood.papers.infer.space import Chosen, Open

BATCH = 24
_REFINES = 3  # every so many batches one does
_CHANGES = 100  # to a proposal that was had before, until what is left is listed
_LISTED = 100_000  # settings: a larger space is never used up
_REFERENCES = 400  # trials, the best ones, that the optimiser learns from


def fills(number: int) -> bool:
    """Says whether the setting of this number knows nothing of results; 0 is the profile."""
    return number == 0 or not _refines((number - 1) // BATCH)


def _refines(batch: int) -> bool:
    return batch % _REFINES == _REFINES - 1


def numbers(batch: int) -> range:
    """The numbers of a batch's settings."""
    return range(1 + batch * BATCH, 1 + (batch + 1) * BATCH)


def propose(
    open_: Open, seed: int, batch: int, before: Mapping[int, tuple[Chosen, float]]
) -> list[dict[str, str]]:
    """Proposes a batch; `before` has the settings and costs of all batches before it."""
    if _refines(batch):
        had, made = before, _refined(open_, seed, batch, before)
    else:
        had = {n: one for n, one in before.items() if n and fills(n)}
        made = _filled(open_, seed, batch)
    known = {tuple(chosen.values()) for chosen, _ in had.values()}
    draw = random.Random(f"{open_.paper} {seed} {batch}")
    return list(_new(open_, draw, made, known))


def _new(
    open_: Open, draw: random.Random, made: Sequence[dict[str, str]], known: set[tuple[str, ...]]
) -> Iterator[dict[str, str]]:
    """Changes what is known until it is new; leaves out what would be known whatever it became."""
    for chosen in made:
        for _ in range(_CHANGES):
            if tuple(chosen.values()) not in known:
                break
            one = draw.choice(open_.settings)
            chosen[one.key] = draw.choice(one.choices)
        if tuple(chosen.values()) in known:
            left = _left(open_, known)
            if not left:
                continue
            chosen.update(zip(chosen, draw.choice(left), strict=True))
        known.add(tuple(chosen.values()))
        yield chosen


def _left(open_: Open, known: set[tuple[str, ...]]) -> list[tuple[str, ...]]:
    if open_.count > _LISTED:
        return []
    return [one for one in product(*(s.choices for s in open_.settings)) if one not in known]


def _filled(open_: Open, seed: int, batch: int) -> list[dict[str, str]]:
    made: list[dict[str, str]] = [{} for _ in range(BATCH)]
    for one in open_.settings:
        draw = random.Random(f"{open_.paper} {seed} {batch} {one.key}")
        values: list[str] = []
        while len(values) < BATCH:
            values += draw.sample(one.choices, len(one.choices))
        values = values[:BATCH]
        draw.shuffle(values)
        for chosen, value in zip(made, values, strict=True):
            chosen[one.key] = value
    return made


def _refined(
    open_: Open, seed: int, batch: int, before: Mapping[int, tuple[Chosen, float]]
) -> list[dict[str, str]]:
    from westwood.search.optimiser import propose as optimised

    best = sorted(before.items(), key=lambda item: (item[1][1], item[0]))[:_REFERENCES]
    tried: Sequence[tuple[Chosen, float]] = [one for _, one in sorted(best)]
    proposed = optimised(open_.settings, tried, seed, batch, BATCH)
    return [{key: str(value) for key, value in one.items()} for one in proposed]
