# SPDX-License-Identifier: BSD-3-Clause
"""Draws the result of a search: the cost of its trials, and of resetting each setting."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from matplotlib.ticker import MaxNLocator

from westwood.control.catalogue import style_of
from westwood.draw.style import SOFT, legend, look, name_rows, subplots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MOST_BARS = 40  # more than any control has
_A_DECADE = 10  # every tick is labelled if the largest cost is below this multiple of the smallest


@dataclass(frozen=True)
class ResetCost:
    """The cost of resetting settings, with its 95 % interval."""

    name: str
    effect: float
    low: float
    high: float


def search(cc: str, costs: Sequence[float], back: Sequence[ResetCost], title: str) -> Figure:
    """Draws the cost of each trial, beginning with the default, and the ablation if any."""
    shown = back[:_MOST_BARS]
    with look():
        height = 3.2 + (0.9 + 0.3 * len(shown) if shown else 0)
        ratios = [3.2, 0.9 + 0.3 * len(shown)] if shown else [1.0]
        figure, axes = subplots(
            len(ratios), 1, size=(7.2, height), height_ratios=ratios, squeeze=False
        )
        _draw_trials(axes[0, 0], cc, costs)
        if shown:
            _draw_back(axes[1, 0], cc, shown)
        figure.suptitle(title)
        return figure


def _draw_trials(axes: Axes, cc: str, costs: Sequence[float]) -> None:
    places, color = range(len(costs)), style_of(cc).color
    axes.axhline(costs[0], color=SOFT, linestyle=":", linewidth=1.2, label="default")
    axes.plot(places, costs, "o", color=color, alpha=0.6, markersize=4, label="a trial")
    least = list(itertools.accumulate(costs, min))
    axes.step(places, least, where="post", color=color, label="best so far")
    axes.set_yscale("log")
    axes.xaxis.set_major_locator(MaxNLocator(integer=True))
    axes.yaxis.set_major_formatter("{x:g}")
    if max(costs) < _A_DECADE * min(costs):
        axes.yaxis.set_minor_formatter("{x:g}")
    axes.set(xlabel="Trial", ylabel="Cost (0: all targets reached)")
    # Above the frame, because trials may lie anywhere within it.
    legend(axes, place="above")


def _draw_back(axes: Axes, cc: str, back: Sequence[ResetCost]) -> None:
    places = range(len(back))
    # A bootstrap interval need not contain the effect itself.
    effects = [ablation.effect for ablation in back]
    ends = [
        [max(0.0, ablation.effect - ablation.low) for ablation in back],
        [max(0.0, ablation.high - ablation.effect) for ablation in back],
    ]
    axes.errorbar(effects, places, xerr=ends, fmt="o", color=style_of(cc).color, capsize=3)
    axes.axvline(0, color=SOFT, linewidth=0.8)
    name_rows(axes, [ablation.name for ablation in back])
    axes.set_xlabel("Cost of resetting the setting to its default, with 95 % interval")
