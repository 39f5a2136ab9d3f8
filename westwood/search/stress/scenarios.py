# SPDX-License-Identifier: BSD-3-Clause
"""Turns attacks into scenarios."""

from __future__ import annotations

from typing import Any

from westwood.control.catalogue import OPPORTUNITY_BYTES
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import given
from westwood.search.stress.attack import Attack
from westwood.units import PS_PER_S, format_rate, format_time

_PS_PER_US = PS_PER_S // 1_000_000


def as_data(attack: Attack, protocol: str) -> dict[str, Any]:
    """Returns the scenario of an attack as a file's data, with this control under test."""
    data = given(attack, protocol, {})
    link = data["link"][0]
    if "loss" in link:
        link["loss"]["on"] = attack.loss_on
        for key in link["loss"].keys() & {"rate", "bad_rate"} if attack.loss_rate == 1 else ():
            link["loss"][key] = "100%"  # a bare 1 could mean 1 % or 100 %
        if attack.loss == "two-state" and attack.is_steady:
            link["loss"]["durations"] = "fixed"
    if attack.reorder_rate:
        link["reorder"] = {"rate": attack.reorder_rate, "delay": _time(attack.reorder_us)}
    if attack.dip_every_us:
        link["trace"] = {"forward": opportunities_ms(attack)}
    for flow in data["flow"] if attack.min_rto_us else ():
        # Linux bounds the variance term from below with its minimum, so both need the same setting.
        flow |= {"min_rto": _time(attack.min_rto_us), "clock_granularity": _time(attack.min_rto_us)}
    if attack.burst_bps:
        data["flow"].append(_datagrams(attack))
    return data


def _datagrams(attack: Attack) -> dict[str, Any]:
    app = {"kind": "udp", "rate": format_rate(attack.burst_bps)}
    app |= {"on": _time(attack.burst_on_us), "off": _time(attack.burst_off_us)}
    flow: dict[str, Any] = {"name": "bursts", "from": "source", "to": "sink", "app": app}
    return flow | ({"stop": _time(attack.calm_us)} if attack.calm_us else {})


def opportunities_ms(attack: Attack) -> list[int]:
    """Returns one period of opportunities: full rate in its first half, reduced in its second."""
    period_ms = attack.dip_every_us // 1000
    times, due = [], 0.0
    for ms in range(1, period_ms + 1):
        share = 1.0 if 2 * ms <= period_ms else attack.dip_rate
        due += attack.rate_bps * share / 8000 / OPPORTUNITY_BYTES
        times += [ms] * int(due)
        due -= int(due)
    if not times or times[-1] != period_ms:
        times.append(period_ms)
    return times


def scenario(attack: Attack, protocol: str) -> Scenario:
    """Makes the scenario of an attack on this control."""
    return Scenario(**as_data(attack, protocol))


def _time(us: float) -> str:
    return format_time(round(us * _PS_PER_US))
