# SPDX-License-Identifier: BSD-3-Clause
"""Finds which settings a claim depends on: a decision tree of at most two levels over words.

Breiman, Friedman, Olshen, Stone: Classification and Regression Trees (1984). For a binary outcome
the best division of a setting's values in two keeps them sorted by their share of yes (theorem
4.5), so only those divisions are tried. The best has the lowest Gini impurity. A division that
chance may explain is not made. A library for trees of this size would be a hundred times larger
than this module.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from westwood.papers.infer.space import Chosen, Setting

DEPTH = 2
_LEAST_SHARE = 0.02  # share of all cases that each branch needs
_LEAST_GAIN = 0.02  # gain over the impurity of all cases that a division needs
_LEAST_CHI_SQUARED = 12.0  # for one degree of freedom; chance exceeds it in one of 1900 divisions
Case = tuple[Chosen, bool]


@dataclass(frozen=True)
class Tree:
    """A set of cases with the share of those that hold, and optionally its division."""

    cases: int
    held: int
    setting: str = ""
    values: tuple[str, ...] = ()  # values of the setting in the branch where more hold
    more: Tree | None = None
    less: Tree | None = None

    @property
    def share(self) -> float:
        """Share of cases that hold."""
        return self.held / self.cases if self.cases else 0.0

    def entry(self) -> dict[str, Any]:
        """Returns the tree for JSON."""
        content: dict[str, Any] = {"cases": self.cases, "held": self.held}
        if self.more and self.less:
            content |= {"setting": self.setting, "values": list(self.values)}
            content |= {"more": self.more.entry(), "less": self.less.entry()}
        return content

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Tree:
        """Reads what `entry` returned."""
        if "setting" not in data:
            return cls(data["cases"], data["held"])
        more, less = cls.read(data["more"]), cls.read(data["less"])
        return cls(data["cases"], data["held"], data["setting"], tuple(data["values"]), more, less)

    def best(self) -> tuple[Tree, dict[str, tuple[str, ...]]]:
        """Returns the branch with the highest share, and the settings and values that lead to it.

        A setting that divides twice keeps the values allowed both times.
        """
        if not self.more:
            return self, {}
        leaf, branch = self.more.best()
        return leaf, {self.setting: self.values, **branch}


def grow(settings: Sequence[Setting], cases: Sequence[Case], depth: int = DEPTH) -> Tree:
    """Grows the tree of these cases."""
    return _grown(settings, cases, depth, len(cases), _impurity(cases))


def _grown(
    settings: Sequence[Setting], cases: Sequence[Case], depth: int, total: int, whole: float
) -> Tree:
    held = sum(is_held for _, is_held in cases)
    if depth == 0 or held in (0, len(cases)):
        return Tree(len(cases), held)
    best = max(
        (division for setting in settings for division in _divisions(setting, cases, total)),
        key=lambda division: division[0],
        default=(0.0, "", ()),
    )
    gain, key, values = best
    # Pearson's statistic of the 2 x 2 table is the gain over 2 p (1 - p).
    chi_squared = gain * len(cases) ** 2 / (2 * held * (len(cases) - held))
    if gain < _LEAST_GAIN * whole or chi_squared < _LEAST_CHI_SQUARED:
        return Tree(len(cases), held)
    more = [case for case in cases if case[0][key] in values]
    less = [is_held for is_held in cases if is_held[0][key] not in values]
    grown = (_grown(settings, part, depth - 1, total, whole) for part in (more, less))
    return Tree(len(cases), held, key, values, *grown)


def _divisions(
    setting: Setting, cases: Sequence[Case], total: int
) -> Iterator[tuple[float, str, tuple[str, ...]]]:
    """Yields each division worth trying: its gain, the setting, the values where more hold."""
    counts = {value: [0, 0] for value in setting.choices}
    for chosen, holds in cases:
        counts[chosen[setting.key]][holds] += 1
    seen = [value for value, (no, yes) in counts.items() if no + yes]
    seen.sort(key=lambda value: -counts[value][1] / sum(counts[value]))
    whole = _gini(*(sum(count[side] for count in counts.values()) for side in (0, 1)))
    for place in range(1, len(seen)):
        parts = [
            tuple(sum(counts[value][side] for value in part) for side in (0, 1))
            for part in (seen[:place], seen[place:])
        ]
        if min(map(sum, parts)) >= max(1.0, _LEAST_SHARE * total):
            gain = whole - sum(_gini(*part) for part in parts)
            among = set(seen[:place])
            yield gain, setting.key, tuple(choice for choice in setting.choices if choice in among)


def _impurity(cases: Sequence[Case]) -> float:
    held = sum(case for _, case in cases)
    return _gini(len(cases) - held, held)


def _gini(no: int, yes: int) -> float:
    """Returns the Gini impurity of the cases, multiplied by their number."""
    count = no + yes
    return 2 * no * yes / count if count else 0.0


def drawn(tree: Tree, named: Callable[[str], str], indent: str = "") -> Iterator[str]:
    """Draws the tree in lines of text; `named` gives a setting's name in words."""
    if not indent:
        yield f"holds in {_share(tree)}"
    if not (tree.more and tree.less):
        return
    words = f"{named(tree.setting)}: {' or '.join(tree.values)}"
    ends = ((tree.more, words, "├─ ", "│  "), (tree.less, "otherwise", "└─ ", "   "))
    for branch, condition, mark, below in ends:
        yield f"{indent}{mark}{condition}: {_share(branch)}"
        yield from (line for line in drawn(branch, named, indent + below) if line)


def _share(tree: Tree) -> str:
    return f"{tree.share:.0%} of {tree.cases}"
