# SPDX-License-Identifier: BSD-3-Clause
"""Has the parts by name, and chooses what an evaluation asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import import_module

from westwood.errors import InputError, suggestion
from westwood.evaluation import paths, suites
from westwood.evaluation.benchmark.targets import Target
from westwood.evaluation.criterion import Criterion, Effort, Part

PARTS: Mapping[str, Part] = {
    name: import_module(f"westwood.evaluation.{module}").PART
    for name, module in suites.MODULES.items()
}


def chosen(
    only: Sequence[str], effort: Effort, suites: Sequence[str] = (), *, of_queues: bool = False
) -> tuple[dict[str, Sequence[Criterion | Target]], list[Part]]:
    """Returns the criteria by part, and the parts with a harness, that these names ask for.

    Without names these are all that the effort runs. of_queues: parts that judge queue disciplines.
    """
    of_kind = _of_kind(suites, only, of_queues)
    parts = [PARTS[name] for name in dict.fromkeys(suites)] or of_kind
    names = [name for part in parts for name in (*names_of(part), *_sections(part))]
    for name in only:
        if name not in names:
            elsewhere = f"expected --suite {name}" if name in PARTS else ""
            known = f"expected a criterion of {', '.join(part.name for part in parts)}"
            problem = f"no such criterion, {elsewhere or suggestion(name, names, known)}"
            raise InputError(problem, key="--only", value=name)
    criteria: dict[str, Sequence[Criterion | Target]] = {}
    harnesses = []
    for part in PARTS.values():
        whole = not only and (bool(suites) or part.runs_with(effort))
        if part not in parts or not (whole or only):
            continue
        wanted: list[Criterion | Target] = [
            criterion for criterion in part.criteria if whole or criterion.name in only
        ]
        other_names = {known for other in parts if other is not part for known in names_of(other)}
        sections = {*only} - other_names
        for row in part.rows:
            is_whole = whole and (bool(suites) or paths.is_usual(row))
            if is_whole or row.name in only or row.section in sections:
                wanted.append(row)
        if wanted:
            criteria[part.name] = wanted
        if asked := [name for name in part.names if whole or name in only]:
            harnesses.append(replace(part, names=asked))
    return criteria, harnesses


def _of_kind(suites: Sequence[str], only: Sequence[str], of_queues: bool) -> list[Part]:
    """Returns the parts that judge what was given; InputError for names of others."""
    for name in suites:
        if name not in PARTS:
            raise InputError(f"no such suite, {suggestion(name, PARTS)}", key="--suite", value=name)
    others = [part for part in PARTS.values() if part.of_queues != of_queues]
    names = {name for part in others for name in names_of(part)}
    asked = [("--suite", name) for name in suites if PARTS[name] in others]
    for key, name in [*asked, *(("--only", name) for name in only if name in names)]:
        judges, instead = "controls", "CC instead of --queue"
        if not of_queues:
            judges, instead = "queues", "--queue NAME instead of CC"
        raise InputError(f"judges {judges}, expected {instead}", key=key, value=name)
    return [part for part in PARTS.values() if part not in others]


def names_of(part: Part) -> list[str]:
    """Returns the names of a part's criteria."""
    declared = [criterion.name for criterion in part.criteria]
    return [*declared, *(row.name for row in part.rows), *part.names]


def _sections(part: Part) -> Sequence[str]:
    """Returns the sections of a part's rows, each of which names its rows together."""
    return [*dict.fromkeys(row.section for row in part.rows)]
