# SPDX-License-Identifier: BSD-3-Clause
"""Lists the parts, in the order of the page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from westwood.errors import InputError, suggestion
from westwood.evaluation import basics, c4, harnesses, prudentia, regressions, rfc9743, tcpeval
from westwood.evaluation.criterion import Criterion, Effort, Part

PARTS: Mapping[str, Part] = {
    one.name: one
    for one in (
        basics.PART,
        rfc9743.PART,
        c4.PART,
        prudentia.PART,
        regressions.PART,
        harnesses.POPULATION,
        tcpeval.PART,
        harnesses.CONFORM,
    )
}


def chosen(
    only: Sequence[str], effort: Effort
) -> tuple[dict[str, Sequence[Criterion]], list[Part]]:
    """Returns the criteria by part, and the parts with a harness, that these names ask for.

    Without names these are all that the effort runs.
    """
    names = [name for part in PARTS.values() for name in (part.name, *_names(part))]
    for name in only:
        if name not in names:
            parts = f"expected a criterion or a part: {', '.join(PARTS)}"
            problem = f"no such part or criterion, {suggestion(name, names, parts)}"
            raise InputError(problem, key="--only", value=name)
    criteria: dict[str, Sequence[Criterion]] = {}
    harnesses = []
    for part in PARTS.values():
        whole = part.name in only or (not only and part.runs_with(effort))
        wanted = [one for one in part.criteria if whole or one.name in only]
        if wanted:
            criteria[part.name] = wanted
        if part.harness and (whole or set(part.names) & set(only)):
            harnesses.append(part)
    return criteria, harnesses


def _names(part: Part) -> list[str]:
    return [*(one.name for one in part.criteria), *part.names]
