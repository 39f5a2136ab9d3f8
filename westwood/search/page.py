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


def title(result: SearchResult) -> str:
    """Returns a title with the cost of the best trial and of the default."""
    best, first = result.best, result.trials[0]
    heading = f"{label(result.search.protocol)}: trial {best.number} of {len(result.trials)}"
    if not result.changed():
        return f"{heading}, the default, costs least: {first.cost:.3f}"
    return f"{heading} costs {best.cost:.3f}, the default {first.cost:.3f}"


def settings_rows(search_result: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns the settings that the best trial changed, those with the largest effect first."""
    values = search_result.best.values
    rows = [
        (
            _name(parameter, ablation),
            str(parameter.written(parameter.default)),
            str(parameter.written(values[parameter.key])),
            *_effect(ablation),
        )
        for parameter, ablation in search_result.ablation()
    ]
    if search_result.simpler:
        rows.append(
            (
                f"{_ALL_IDLE} ({len(search_result.simpler.keys)})",
                "",
                "",
                *_effect(search_result.simpler),
            )
        )
    return tuple(rows)


def _effect(ablation: Ablation) -> tuple[str, str]:
    return f"{ablation.effect:+.3f}", f"{ablation.low:+.3f} to {ablation.high:+.3f}"


def _name(parameter: Parameter, ablation: Ablation) -> str:
    others = [key for key in ablation.keys if key != parameter.key]
    return f"{parameter.key} (with {', '.join(others)})" if others else parameter.key


def ends_rows(search_result: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns the cost of moving each setting to an end of its range, largest first."""
    values = search_result.best.values
    return tuple(
        (
            parameter.key,
            str(parameter.written(values[parameter.key])),
            str(parameter.written(end)),
            *_effect(effect),
        )
        for parameter, end, effect in search_result.end_effects()
    )


def targets_rows(search_result: SearchResult) -> tuple[tuple[str, ...], ...]:
    """Returns every target with the values of the default and of the best trial."""
    best, first = search_result.best.targets, search_result.trials[0].targets
    return tuple(
        (
            target.name,
            f"{'at most' if target.quantity.at_most else 'at least'} {target.bound:g}",
            _number(target, first[target.name]),
            _number(target, best[target.name]),
            _verdict(target, best[target.name]),
            f"{target.statistic} of {target.quantity.what}",
        )
        for target in TARGETS
    )


def _number(target: Target, value: float) -> str:
    return "-" if math.isnan(value) else on_its_side(value, 2, target.reached)


def _verdict(target: Target, value: float) -> str:
    return "" if math.isnan(value) else "reached" if target.reached(value) else "missed"


def as_toml(search_result: SearchResult) -> str:
    """Returns the settings to keep as a flow's `cc` in a scenario."""
    search = search_result.search
    settings: dict[str, Any] = space.settings(
        search_result.best.values, search_result.chosen(), search.held
    )
    return toml_value({"name": search.protocol, **settings})


def drawn(search_result: SearchResult) -> Figure:
    """Draws the trials and the ablation."""
    from westwood.draw import search_plots

    back = [
        search_plots.ResetCost(
            _name(parameter, ablation), ablation.effect, ablation.low, ablation.high
        )
        for parameter, ablation in search_result.ablation()
    ]
    if search_result.simpler:
        simpler = search_result.simpler
        back.append(search_plots.ResetCost(_ALL_IDLE, simpler.effect, simpler.low, simpler.high))
    costs = [search_result.trials[number].cost for number in sorted(search_result.trials)]
    return search_plots.search(search_result.search.protocol, costs, back, title(search_result))
