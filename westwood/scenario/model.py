# SPDX-License-Identifier: BSD-3-Clause
"""The model of a whole scenario: it says what is wrong with one, and has its links and flows."""

from __future__ import annotations

import math
from typing import Annotated, Any

from pydantic import Field, field_validator

from westwood.errors import InputError
from westwood.scenario import profiles
from westwood.scenario.flows import Flow
from westwood.scenario.links import Link
from westwood.scenario.parts import Duration, Name, Part, make_ready
from westwood.scenario.sweep_values import check_sweep

MOST_POINTS = 100_000  # of a sweep

Values = Annotated[tuple[Any, ...], Field(strict=False, min_length=1)]


class ScenarioModel(Part):
    """All settings of a scenario, with those of its profile."""

    name: Name
    duration: Duration  # ps of simulated time
    seeds: Annotated[int, Field(ge=1, le=1_000_000)] = 30  # runs of every point
    profile: str = profiles.DEFAULT
    link: Annotated[tuple[Link, ...], Field(strict=False, min_length=1, max_length=10_000)]
    flow: Annotated[tuple[Flow, ...], Field(strict=False, min_length=1, max_length=100_000)]
    sweep: dict[str, Values] = Field(default={})

    @field_validator("sweep")
    @classmethod
    def _distinct_and_not_too_many(
        cls, sweep: dict[str, tuple[Any, ...]]
    ) -> dict[str, tuple[Any, ...]]:
        if math.prod(len(values) for values in sweep.values()) > MOST_POINTS:
            raise InputError(f"expected at most {MOST_POINTS} points in all", value=list(sweep))
        check_sweep(sweep)
        return sweep


make_ready(ScenarioModel)
