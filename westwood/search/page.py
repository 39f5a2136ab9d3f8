# SPDX-License-Identifier: BSD-3-Clause
"""Describes the result of a search in words and as a figure."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from westwood.control.catalogue import label
from westwood.results.tables import on_its_side
from westwood.scenario.toml_format import toml_value
from westwood.search import space
from westwood.search.objective import TARGETS, Target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.search.result import Ablation, SearchResult
    from westwood.search.space import Parameter

SETTINGS_HEADS = ("setting", "default", "best", "resetting\ncosts", "95 %\ninterval")
ENDS_HEADS = ("setting", "best", "instead", "costs", "95 %\ninterval")
_ALL_IDLE = "all near 0"
TARGETS_HEADS = ("target", "wanted", "default", "best", "", "what")


def title(found: SearchResult) -> str:
    """Returns a title with the cost of the best trial and of the default."""
    best, first = found.best, found.trials[0]
    of = f"{label(found.search.protocol)}: trial {best.number} of {len(found.trials)}"
    if not found.changed():
        return f"{of}, the default, costs least: {first.cost:.3f}"
    return f"{of} costs {best.cost:.3f}, the default {first.cost:.3f}"


def settings_rows(found: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns the settings that the best trial changed, those with the largest effect first."""
    values = found.best.values
    rows = [
        (
            _name(parameter, made),
            str(parameter.written(parameter.default)),
            str(parameter.written(values[parameter.key])),
            *_effect(made),
        )
        for parameter, made in found.ablation()
    ]
    if found.simpler:
        rows.append((f"{_ALL_IDLE} ({len(found.simpler.keys)})", "", "", *_effect(found.simpler)))
    return tuple(rows)


def _effect(made: Ablation) -> tuple[str, str]:
    return f"{made.effect:+.3f}", f"{made.low:+.3f} to {made.high:+.3f}"


def _name(parameter: Parameter, made: Ablation) -> str:
    others = [key for key in made.keys if key != parameter.key]
    return f"{parameter.key} (with {', '.join(others)})" if others else parameter.key


def ends_rows(found: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns the cost of moving each setting to an end of its range, largest first."""
    values = found.best.values
    return tuple(
        (
            parameter.key,
            str(parameter.written(values[parameter.key])),
            str(parameter.written(end)),
            *_effect(made),
        )
        for parameter, end, made in found.end_effects()
    )


def targets_rows(found: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns every target with the values of the default and of the best trial."""
    best, first = found.best.targets, found.trials[0].targets
    return tuple(
        (
            one.name,
            f"{'at most' if one.at_most else 'at least'} {one.bound:g}",
            _number(one, first[one.name]),
            _number(one, best[one.name]),
            _verdict(one, best[one.name]),
            f"{one.statistic} of {one.what}",
        )
        for one in TARGETS
    )


def _number(target: Target, value: float) -> str:
    return "-" if math.isnan(value) else on_its_side(value, 2, target.reached)


def _verdict(target: Target, value: float) -> str:
    return "" if math.isnan(value) else "reached" if target.reached(value) else "missed"


def as_toml(found: SearchResult) -> str:
    """Returns the settings to keep as a flow's `cc` in a scenario."""
    search = found.search
    settings: dict[str, Any] = space.settings(found.best.values, found.chosen(), search.held)
    return toml_value({"name": search.protocol, **settings})


def drawn(found: SearchResult) -> Figure:
    """Draws the trials and the ablation."""
    from westwood.draw import search_plots

    back = [
        search_plots.ResetCost(_name(parameter, made), made.effect, made.low, made.high)
        for parameter, made in found.ablation()
    ]
    if found.simpler:
        made = found.simpler
        back.append(search_plots.ResetCost(_ALL_IDLE, made.effect, made.low, made.high))
    costs = [found.trials[number].cost for number in sorted(found.trials)]
    return search_plots.search(found.search.protocol, costs, back, title(found))
