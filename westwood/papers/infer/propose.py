# SPDX-License-Identifier: BSD-3-Clause
"""Proposes settings to try: two batches that fill the space, then one that refines, and so on.

In a filling batch every value of every setting occurs equally often, as far as the numbers divide:
a Latin hypercube over words. Only these batches count for shares, since no result influenced them.
No filling batch repeats an earlier one. A refining batch comes from the optimiser of `control
tune`, which returns to good settings; a proposal that was tried before is mutated at random until
it is new. A batch is shorter when few new settings are left. Proposals depend only on the seed, the
batch's number and earlier batches. More settings requested later are the same as if requested at
once.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from westwood.papers.infer.space import Chosen, Open

BATCH = 24
_REFINES = 3  # every third batch refines
_CHANGES = 100  # mutations of a repeated proposal before the remaining settings are listed
_LISTED = 100_000  # a larger space is never exhausted
_REFERENCES = 400  # best trials that the optimiser learns from


def fills(number: int) -> bool:
    """Returns whether this number belongs to a filling batch; 0 is the profile."""
    return number == 0 or not _refines((number - 1) // BATCH)


def _refines(batch: int) -> bool:
    return batch % _REFINES == _REFINES - 1


def numbers(batch: int) -> range:
    """Returns the numbers of a batch's settings."""
    return range(1 + batch * BATCH, 1 + (batch + 1) * BATCH)


def propose(
    open_: Open, seed: int, batch: int, before: Mapping[int, tuple[Chosen, float]]
) -> list[dict[str, str]]:
    """Proposes a batch from the settings and costs of all batches before it."""
    if _refines(batch):
        had, proposals = before, _refined(open_, seed, batch, before)
    else:
        had = {n: trial for n, trial in before.items() if n and fills(n)}
        proposals = _filled(open_, seed, batch)
    known = {tuple(chosen.values()) for chosen, _ in had.values()}
    draw = random.Random(f"{open_.paper} {seed} {batch}")
    return list(_new(open_, draw, proposals, known))


def _new(
    open_: Open,
    draw: random.Random,
    proposals: Sequence[dict[str, str]],
    known: set[tuple[str, ...]],
) -> Iterator[dict[str, str]]:
    """Mutates repeated proposals until they are new, and drops those that cannot be."""
    for chosen in proposals:
        for _ in range(_CHANGES):
            if tuple(chosen.values()) not in known:
                break
            setting = draw.choice(open_.settings)
            chosen[setting.key] = draw.choice(setting.choices)
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
    return [
        choice for choice in product(*(s.choices for s in open_.settings)) if choice not in known
    ]


def _filled(open_: Open, seed: int, batch: int) -> list[dict[str, str]]:
    proposals: list[dict[str, str]] = [{} for _ in range(BATCH)]
    for setting in open_.settings:
        draw = random.Random(f"{open_.paper} {seed} {batch} {setting.key}")
        values: list[str] = []
        while len(values) < BATCH:
            values += draw.sample(setting.choices, len(setting.choices))
        values = values[:BATCH]
        draw.shuffle(values)
        for chosen, value in zip(proposals, values, strict=True):
            chosen[setting.key] = value
    return proposals


def _refined(
    open_: Open, seed: int, batch: int, before: Mapping[int, tuple[Chosen, float]]
) -> list[dict[str, str]]:
    from westwood.experiments.optimiser import propose as optimised

    best = sorted(before.items(), key=lambda item: (item[1][1], item[0]))[:_REFERENCES]
    tried: Sequence[tuple[Chosen, float]] = [trial for _, trial in sorted(best)]
    proposed = optimised(open_.settings, tried, seed, batch, BATCH)
    return [{key: str(value) for key, value in proposal.items()} for proposal in proposed]
