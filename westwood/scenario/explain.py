# SPDX-License-Identifier: BSD-3-Clause
"""Turns pydantic's validation errors into messages that a newcomer understands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from westwood.control.catalogue import IMPAIRMENTS, LOSSES, QUEUES, settings_of
from westwood.errors import InputError, suggestion
from westwood.scenario.declared import accepted
from westwood.scenario.parts import NAME_PATTERN
from westwood.units import QUEUE_LIMIT

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

_EXPECTED = {
    "bool_type": "expected true or false",
    "string_type": 'expected text in quotes, such as "abc"',
    "float_type": "expected a number",
    "int_type": "expected a whole number",
    "int_from_float": "expected a whole number",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
}
_LIMITS = {
    "ge": "at least",
    "gt": "more than",
    "le": "at most",
    "lt": "less than",
    "min_length": "a list of at least",
    "max_length": "a list of at most",
}
_A_FRACTION = 'a fraction from 0 to 1, such as 0.005 or "0.5%"'
# The values of keys that have no default and are not declared settings.
_TAKES: Mapping[str, str] = {
    "name": f"a name: {NAME_PATTERN}",
    "duration": 'a time such as "600s"',
    "link": "a table [[link]] for each link",
    "flow": "a table [[flow]] for each flow",
    "between": 'the names of two nodes, such as ["source", "sink"]',
    "from": "the name of the node that sends",
    "to": "the name of the node that receives",
    "cc": 'a protocol such as "westwood+" (westwood list protocols shows all)',
    "cc.name": 'a protocol such as "westwood+" (westwood list protocols shows all)',
    "limit": QUEUE_LIMIT,
    "rate": 'a rate such as "2Mbps"',
    "backward_rate": 'a rate such as "384kbps"',
    "loss.rate": _A_FRACTION,
    "reorder.rate": _A_FRACTION,
    "loss.bad_rate": _A_FRACTION,
    "delay": 'a time such as "45ms"',
    "at": 'a list of times such as ["10s", "25s"]',
    "reroute.delay": 'a list of times such as ["30ms", "60ms"]',
    "on": '"forward", "backward" or "both"',
    "app.on": 'a time such as "2s"',
    "app.off": 'a time such as "3s"',
    "packets": "the numbers of the packets, or a file of them",
    "loss.good": 'a time such as "8s"',
    "loss.bad": 'a time such as "4s"',
    "every": 'a time such as "1s"',
    "size": 'a size such as "64KiB"',
}


def explained(
    error: ValidationError, given: Mapping[str, Any], model: type[BaseModel]
) -> InputError:
    """Returns the first error, which holds the others; keys are addressed as in `--set`."""
    errors = error.errors(include_url=False)
    unknown = [problem for problem in errors if problem["type"] == "extra_forbidden"]
    misspelt_in = {
        problem["loc"][:-1] for problem in unknown
    }  # the correct key is then missing, too
    within = {problem["loc"][:depth] for problem in errors for depth in range(len(problem["loc"]))}
    rest = [
        problem
        for problem in errors
        if problem not in unknown
        and not (problem["type"] == "missing" and problem["loc"][:-1] in misspelt_in)
        and problem["loc"] not in within  # an invalid list: its wrong item has its own error
    ]
    by_text = {
        str(problem): problem
        for problem in (_problem(problem, given, model) for problem in unknown + rest)
    }
    first, *others = by_text.values()
    return InputError(first.problem, key=first.key, value=first.value, others=others)


def _problem(problem: ErrorDetails, given: Mapping[str, Any], model: type[BaseModel]) -> InputError:
    place, value = _place(problem["loc"], given)
    error = problem.get("ctx", {}).get("error")
    if isinstance(error, InputError):
        key = ".".join(part for part in (place, error.key) if part)
        shown = value if error.value is ... and not error.key else error.value
        return InputError(error.problem, key=key, value=shown)
    if problem["type"] == "missing":
        key = ".".join(part for part in (place, str(problem["loc"][-1])) if part)
        return InputError(_missing(key), key=key)
    if problem["loc"] in (("link",), ("flow",)) and isinstance(value, Mapping):
        name = problem["loc"][0]
        return InputError(
            f"expected a list: write [[{name}]], not [{name}]", key=place, value=value
        )
    return InputError(_expected(problem, model), key=place, value=value)


def _missing(key: str) -> str:
    """Returns that a key is missing and, if known, which values it takes."""
    *tables, name = key.split(".")
    of_tables = {"queue": [*QUEUES], "loss": [*LOSSES]} | {kind: [kind] for kind in IMPAIRMENTS}
    sections = of_tables.get(tables[-1] if tables else "", ["link"])
    declared = next(
        (setting for section in sections if (setting := settings_of(section).get(name))), None
    )
    taken = _TAKES.get(".".join([*tables, name][-2:]))
    if not taken and declared and tables[1:] in ([], *([table_kind] for table_kind in of_tables)):
        taken = accepted(declared)
    taken = taken or _TAKES.get(name)
    return f"is missing, expected {taken}" if taken else "is missing"


def _expected(problem: ErrorDetails, model: type[BaseModel]) -> str:
    kind, context = problem["type"], problem.get("ctx", {})
    if kind == "extra_forbidden":
        keys = sorted(_keys(model, problem["loc"][:-1]))
        return f"unknown key, {suggestion(problem['loc'][-1], keys)}"
    if kind == "literal_error":
        return f"expected {context['expected']}".replace("'", '"')
    for limit, words in _LIMITS.items():
        if limit in context:
            bound = context[limit]
            return f"expected {words} {f'{bound:g}' if isinstance(bound, float) else bound}"
    return _EXPECTED.get(kind, problem["msg"])


def _place(loc: Sequence[int | str], given: Any) -> tuple[str, Any]:
    """Returns the key, such as `bottleneck.loss.rate` or `link[2].rate`, and its given value.

    Parts of `loc` that are not in the data are pydantic's names for the members of a union.
    """
    words: list[str] = []
    tagged = None
    for part in loc:
        if isinstance(given, Mapping) and given.get("kind") == part and given is not tagged:
            tagged = given  # `part` is the kind; for kind `rate`, the key `rate` may come next
        elif isinstance(given, Mapping) and part in given:
            given = given[str(part)]
            words.append(str(part))
        elif isinstance(part, int) and isinstance(given, (list, tuple)) and part < len(given):
            given = given[part]
            name = given.get("name") if isinstance(given, Mapping) else None
            if words in (["link"], ["flow"]) and isinstance(name, str) and name:
                words = [name]
            else:
                words[-1:] = [f"{words[-1]}[{part + 1}]"] if words else []
    return ".".join(words), given


def _keys(model: type[BaseModel], loc: Sequence[int | str]) -> set[str]:
    """Returns the keys that the table at `loc` may have."""
    models: list[type[BaseModel]] = [model]
    for part in loc:
        if isinstance(part, int):
            continue
        inner: list[type[BaseModel]] = []
        for outer_model in models:
            for name, field in outer_model.model_fields.items():
                if part in (name, field.alias):
                    inner += _models_in(field.annotation)
        models = inner or _tagged(models, part)
    return {field.alias or name for m in models for name, field in m.model_fields.items()}


def _tagged(models: list[type[BaseModel]], tag: str) -> list[type[BaseModel]]:
    """Returns the union's members that `tag` selects, or all members if it selects none."""
    chosen = [m for m in models if "kind" in m.model_fields and tag in str(m.model_fields["kind"])]
    return chosen or models


def _models_in(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [m for arg in getattr(annotation, "__args__", ()) for m in _models_in(arg)]
