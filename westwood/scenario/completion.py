# SPDX-License-Identifier: BSD-3-Clause
"""Completes a scenario's given settings from its profile and its path: plan/completion.hpp."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any

from westwood import _engine
from westwood.catalogue import UDP
from westwood.errors import InputError
from westwood.scenario import profiles
from westwood.scenario.addresses import kind_of
from westwood.scenario.flows import OF_DATAGRAMS, check_obeyed


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


def with_windows(completed: Mapping[str, Any]) -> Mapping[str, Any]:
    """Returns the completed settings with a receive window for each connection without one.

    What plan/ refuses stays as it is, since the scenario's own check has the better message.
    """
    places = list(_without_window(completed.get("flow")))
    if not places:
        return completed
    try:
        network = _engine.plan({k: v for k, v in completed.items() if k != "sweep"}).network
    except (ValueError, TypeError):
        return completed
    flows = list(completed["flow"])
    first = 0
    for place, flow in enumerate(flows):
        if place in places:
            window = network.flows[first].receive_window_bytes
            flows[place] = {**flow, profiles.OF_THE_PATH: f"{window}B"}
        first += flow.get("count", 1)
    return {**completed, "flow": flows}


def _without_window(flows: object) -> Iterator[int]:
    for place, flow in enumerate(flows if isinstance(flows, (list, tuple)) else ()):
        is_open = isinstance(flow, Mapping) and profiles.OF_THE_PATH not in flow
        if is_open and kind_of(flow.get("app")) != UDP:
            yield place


def _complete_link(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    link = {**profile.defaults("link"), **given}
    if isinstance(link.get("loss"), Mapping):
        link["loss"] = {**profile.defaults("loss"), **link["loss"]}
    return link


def _complete_flow(given: Mapping[str, Any], profile: profiles.Profile) -> dict[str, Any]:
    if kind_of(given.get("app")) == UDP:
        try:
            check_obeyed(given)
        except InputError as error:
            raise error.located(key=f"{given.get('name', 'flow')}.{error.key}") from None
    cc = given.get("cc", UDP if kind_of(given.get("app")) == UDP else {})
    cc = {"name": cc} if isinstance(cc, str) else cc
    if not isinstance(cc, Mapping):
        return {**profile.defaults("flow"), **given}  # the model reports the error
    of_flow = _of_flow(profile.name, _word(cc.get("name")), _word(given.get("recovery")))
    of_cc = _of_control(profile.name, _word(cc.get("name")), _word(cc.get("source")))
    return {**of_flow, **given, **({"cc": {**of_cc, **cc}} if cc else {})}


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
