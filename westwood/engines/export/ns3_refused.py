# SPDX-License-Identifier: BSD-3-Clause
"""Refuses, with a one-line error, scenarios that can't be written as programs of ns-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood.control.catalogue import IMPAIRMENTS, PROTOCOLS
from westwood.engines import ns3_limits
from westwood.errors import InputError
from westwood.units import format_rate

if TYPE_CHECKING:
    from collections.abc import Collection

    from westwood.scenario import Scenario
    from westwood.scenario.links import Link

_OF_RUNNER = ("bbr3", "loaded")  # these need more of the module than a program names


def check(scenario: Scenario, queues: Collection[str], losses: Collection[str]) -> None:
    """Raises InputError for what ns-3 or a program can't do; a program has these kinds."""
    ns3_limits.check(scenario)
    for link in scenario.link:
        _check_link(link, queues, losses)
    for flow in scenario.flow:
        if PROTOCOLS[flow.cc.name].algorithm in _OF_RUNNER:
            expected = "export expects a control of Westwood's family or ns-3's own"
            raise InputError(expected, key=f"{flow.name}.cc", value=flow.cc.name)


def _check_link(link: Link, queues: Collection[str], losses: Collection[str]) -> None:
    if link.backward_rate is not None:
        expected = "export expects one rate for both directions"
        value = format_rate(link.backward_rate)
        raise InputError(expected, key=f"{link.name}.backward_rate", value=value)
    impaired = ("delays", "reroute", "jitter", "reorder", *IMPAIRMENTS)
    for key in (name_ for name_ in impaired if getattr(link, name_)):
        value = link.model_dump(exclude_none=True)[key]
        expected = "export expects a link without impairments"
        raise InputError(expected, key=f"{link.name}.{key}", value=value)
    for key, known in (("queue", queues), ("loss", losses)):
        if (kind := getattr(link, key).kind) not in known:
            expected = f"export expects {' or '.join(known)}"
            raise InputError(expected, key=f"{link.name}.{key}.kind", value=kind)
