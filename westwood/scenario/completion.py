# SPDX-License-Identifier: BSD-3-Clause
"""Completes a scenario's given settings with those of its profile."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from westwood.catalogue import PROTOCOLS, RECOVERIES, UDP, settings_of_protocol
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
    return {
        **profile.defaults("flow"),
        **_defaults_of_recovery(cc.get("name"), given.get("recovery"), profile),
        **given,
        **({"cc": {**obeyed(cc.get("name"), profile), **cc}} if cc else {}),
    }


def obeyed(cc: object, profile: profiles.Profile) -> dict[str, Any]:
    """Returns the profile's `cc` settings that this control uses."""
    known = settings_of_protocol(cc) if isinstance(cc, str) and cc in PROTOCOLS else {}
    return {key: value for key, value in profile.defaults("cc").items() if key in known}


def usual_recovery(cc: object, profile: profiles.Profile) -> str:
    """Returns the recovery of a protocol whose flow doesn't set one."""
    protocol = PROTOCOLS.get(cc) if isinstance(cc, str) else None
    own = protocol.recovery if protocol else ""
    if own == profiles.SACK:
        return str(profile.defaults(profiles.SACK).get("recovery", own))
    return own or str(profile.defaults("westwood")["recovery"])


def _defaults_of_recovery(cc: object, chosen: object, profile: profiles.Profile) -> dict[str, Any]:
    """Returns the default recovery and, if the recovery uses SACK, the settings for it."""
    recovery = RECOVERIES.get(chosen if isinstance(chosen, str) else usual_recovery(cc, profile))
    if recovery is None:
        return {}  # the model reports the error
    with_sack = profile.defaults(profiles.SACK) if recovery.uses_sack and cc != UDP else {}
    return {**with_sack, "recovery": recovery.name}


def follows_from_protocol(flow: Mapping[str, Any], profile: profiles.Profile) -> set[str]:
    """Returns the keys of a complete flow that completion would fill in the same way.

    They are the recovery, if it follows from the protocol, and the settings that depend on it.
    """
    cc, chosen = flow["cc"]["name"], flow["recovery"]
    follows = {key: profile.defaults("flow").get(key) for key in profile.defaults(profiles.SACK)}
    follows |= _defaults_of_recovery(cc, chosen, profile)
    if chosen != usual_recovery(cc, profile):
        follows.pop("recovery")
    ignored = flow.keys() - OF_DATAGRAMS if cc == UDP else set()
    return ignored | {key for key, value in follows.items() if flow.get(key) == value}
