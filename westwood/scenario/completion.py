# SPDX-License-Identifier: BSD-3-Clause
"""Completes a scenario's given settings from its profile and its path: plan/completion.hpp."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.control.catalogue import OF_DATAGRAMS, UDP, settings_of
from westwood.errors import InputError
from westwood.scenario import controls, profiles
from westwood.scenario.addresses import kind_of
from westwood.units import NOT_CONVERTED

if TYPE_CHECKING:
    from westwood.scenario.links import Link

# The keys of a flow that engine/settings.hpp does not declare.
KEYS_OF_FLOW = ("name", "from", "to", "cc", "recovery", "count", "app", "arrivals")


def completed(given: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings with the profile's values where none was given."""
    name = given.get("profile", profiles.DEFAULT)
    if not isinstance(name, str):
        raise InputError("expected the name of a profile", key="profile", value=name)
    profile = profiles.get(name)
    data = dict(given)
    for section, complete in (("link", _complete_link), ("flow", _complete_flow)):
        parts = data.get(section)
        if isinstance(parts, (list, tuple)):
            data[section] = [
                complete(part, profile) if isinstance(part, Mapping) else part for part in parts
            ]
    return data


def planned(completed: Mapping[str, Any]) -> _engine.Plan | str:
    """Returns what plan/ makes of completed settings, or why it refuses them.

    Links and flows may be models, which a program has taken from another scenario.
    """
    try:
        return _engine.plan(
            {key: _dumped(value) for key, value in completed.items() if key != "sweep"}
        )
    except (ValueError, TypeError) as error:
        return str(error)


def _dumped(value: Any) -> Any:
    if not isinstance(value, (list, tuple)):
        return value
    return [part if isinstance(part, dict) else _dumped_part(part) for part in value]


def _dumped_part(part: Any) -> Any:
    """Returns a model, if it is one, as a table."""
    return part.model_dump() if hasattr(part, "model_dump") else part


def plan_of(given: Mapping[str, Any]) -> _engine.Plan:
    """Returns the plan of a program's own settings without models of them, which takes a tenth.

    They are those of a scenario without links by name. Raises InputError in plan/'s words.
    """
    plan = planned(completed(controls.embedded(given, Path())))
    if isinstance(plan, str):
        raise InputError(plan)
    return plan


def with_derived(completed: Mapping[str, Any], plan: _engine.Plan) -> dict[str, Any]:
    """Returns the completed settings with what follows from the path.

    That is the queue limits such as "1bdp" and "5ms" in packets, and a receive window for each
    connection without one.
    """
    links, flows = list(completed["link"]), list(completed["flow"])
    for place, packets in plan.limits.items():
        links[place] = {**links[place], "queue": {**links[place]["queue"], "limit": f"{packets}p"}}
    for place, window in plan.windows.items():
        flows[place] = {**flows[place], profiles.OF_THE_PATH: f"{window}B"}
    return {**completed, "link": links, "flow": flows}


def check_limits(completed: Mapping[str, Any], links: Sequence[Link], refused: str) -> None:
    """Raises InputError if a queue limit depends on the path of a scenario that plan/ refused."""
    for link, given in zip(links, completed["link"], strict=True):
        if link.queue.limit != NOT_CONVERTED:
            continue
        problem, key = f"can't be converted to packets: {refused}", f"{link.name}.queue.limit"
        if not isinstance(given, Mapping) or not isinstance(given["queue"], Mapping):
            problem = "depends on a path that a part alone lacks, expected packets or bytes"
            raise InputError(problem, key=key)
        raise InputError(problem, key=key, value=given["queue"]["limit"])


def _complete_link(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    link = {**profile.defaults("link"), **given}
    if isinstance(link.get("loss"), Mapping):
        link["loss"] = {**profile.defaults("loss"), **link["loss"]}
    return link


def _complete_flow(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    if kind_of(given.get("app")) == UDP:
        try:
            _check_obeyed(given)
        except InputError as error:
            raise error.located(key=f"{given.get('name', 'flow')}.{error.key}") from None
    if isinstance(given.get("app"), str):
        given = {**given, "app": {"kind": given["app"]}}
    cc = given.get("cc", UDP if kind_of(given.get("app")) == UDP else {})
    cc = {"name": cc} if isinstance(cc, str) else cc
    if not isinstance(cc, Mapping):
        return {**profile.defaults("flow"), **given}  # the model reports the error
    of_flow = _of_flow(profile.name, _word(cc.get("name")), _word(given.get("recovery")))
    of_cc = _of_control(profile.name, _word(cc.get("name")), _word(cc.get("source")))
    return {**of_flow, **given, **({"cc": {**of_cc, **cc}} if cc else {})}


def _check_obeyed(given: Mapping[str, Any]) -> None:
    """Raises InputError if a UDP flow's table has a key that would have no effect."""
    for key in given:
        is_known = key in KEYS_OF_FLOW or key in settings_of("flow")
        if is_known and key not in OF_DATAGRAMS and key != "arrivals":
            raise InputError("has no effect on datagrams, expected none", key=key, value=given[key])


def _word(value: object) -> str | None:
    """Returns a text that the engine takes, which has no lone surrogates; None for other values."""
    if not isinstance(value, str) or value != value.encode(errors="replace").decode():
        return None
    return value


@lru_cache(maxsize=1024)
def _of_flow(profile: str, cc: str | None, recovery: str | None) -> Mapping[str, Any]:
    """Returns the defaults of a flow; cached, as many flows are alike."""
    return profiles.get(profile).supplied.flow(cc or "", recovery)


@lru_cache(maxsize=1024)
def _of_control(profile: str, cc: str | None, source: str | None) -> Mapping[str, Any]:
    """Returns the defaults of a flow's `cc`."""
    return profiles.get(profile).supplied.cc(cc or "", source or "")


def follows_from_protocol(flow: Mapping[str, Any], profile: profiles.Profile) -> set[str]:
    """Returns the keys of a complete flow that completion would fill in the same way.

    They are the recovery, if it follows from the protocol, and the settings that depend on it.
    """
    cc, chosen = flow["cc"]["name"], flow["recovery"]
    follows = {*profile.defaults(profiles.SACK), "recovery"}
    if chosen != _of_flow(profile.name, cc, None)["recovery"]:
        follows.discard("recovery")
    supplied = _of_flow(profile.name, cc, chosen)
    ignored = flow.keys() - OF_DATAGRAMS if cc == UDP else set()
    return ignored | {key for key in follows if flow.get(key) == supplied.get(key)}
