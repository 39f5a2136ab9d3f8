# SPDX-License-Identifier: BSD-3-Clause
"""Builds the simulator's networks for attacks, and validates similar attacks only once.

Attacks with the same features and number of flows differ only in numbers. The first of a kind
becomes a validated scenario. For the next ones only the numbers are set, which is ten times as fast
and gives the same bits (tests/westwood/hunt/test_networks.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from westwood import _engine
from westwood.engines.network import build
from westwood.hunt.attack import Attack
from westwood.hunt.scenarios import opportunities_ms
from westwood.hunt.scenarios import scenario as scenario_of
from westwood.paths.access import Access, nearest_us, senders
from westwood.paths.aqms import AQMS
from westwood.paths.environment import accesses, recorded_losses, role, window_bytes
from westwood.units import PS_PER_S

_PS_PER_US = PS_PER_S // 1_000_000


@dataclass(frozen=True)
class _Template:
    """Holds the network of an attack, views of its links and flows, and the flows' names."""

    network: _engine.Network
    links: list[_engine.Link]
    flows: list[_engine.Flow]
    names: list[str]


class Networks:
    """Builds networks and caches a template of each kind."""

    def __init__(self) -> None:
        self._known: dict[tuple[Any, ...], _Template] = {}

    def of(self, attack: Attack, protocol: str) -> tuple[_engine.Network, list[str]]:
        """Returns the network of an attack with this control, and the names of its flows."""
        key = _kind(attack, protocol)
        template = self._known.get(key)
        if template is not None:
            return _with_numbers(template, attack), template.names
        scenario = scenario_of(attack, protocol)
        network = build(scenario)
        names = [flow.name for flow in scenario.flows]
        self._known[key] = _Template(network, network.links, network.flows, names)
        return network, names


def _kind(attack: Attack, protocol: str) -> tuple[Any, ...]:
    """Returns everything that decides a network's structure, without the numbers."""
    return (
        protocol,
        attack.aqm,
        attack.loss,
        attack.loss_on,
        attack.is_steady,
        attack.jitter_us > 0,
        attack.reorder_rate > 0,
        attack.burst_bps > 0,
        attack.calm_us > 0,
        attack.dip_every_us > 0,
        attack.min_rto_us,
        attack.flows,
        attack.beside,
        attack.beside_flows,
        attack.reverse_flows,
        attack.short_bytes > 0,
        attack.short_cc,
        tuple(
            (one.flow, one.access and (one.access.name, one.access.queue_packets is None))
            for role in ("tcp", "beside")
            for one in senders(attack, role)
        ),
    )


def _with_numbers(template: _Template, attack: Attack) -> _engine.Network:
    network = template.network
    _set_link(template.links[0], attack)
    for link, access in zip(template.links[1:], accesses(attack), strict=True):
        _set_access(link, access)
    for name, flow in zip(template.names, template.flows, strict=True):
        _set_flow(name, flow, attack)
    if ours := [n for n, name in enumerate(template.names) if role(name) == "tcp"]:
        template.flows[ours[-1]].start = attack.late_us * _PS_PER_US
    network.duration = attack.duration_us * _PS_PER_US
    return network


def _set_link(link: _engine.Link, attack: Attack) -> None:
    queue = AQMS[attack.aqm].queue(attack)
    for name, side in (("forward", link.forward), ("backward", link.backward)):
        side.rate_bps = attack.rate_bps
        side.delay = nearest_us(attack) * _PS_PER_US // 2
        side.jitter = attack.jitter_us * _PS_PER_US
        _engine.set_queue(side, queue)
        if attack.loss_on in (name, "both"):
            _set_loss(side, attack)
    if attack.dip_every_us:
        link.forward.opportunities_ms = opportunities_ms(attack)
    link.forward.reorder_rate = attack.reorder_rate
    link.forward.reorder_delay = attack.reorder_us * _PS_PER_US


def _set_loss(side: _engine.Direction, attack: Attack) -> None:
    loss: Any = side.loss  # a copy
    match attack.loss:
        case "uniform":
            loss.rate = attack.loss_rate
        case "two-state":
            loss.good, loss.bad = attack.good_us * _PS_PER_US, attack.bad_us * _PS_PER_US
            loss.bad_rate = attack.loss_rate
        case "recorded":
            loss.packets = recorded_losses(attack)
    side.loss = loss


def _set_access(link: _engine.Link, access: Access) -> None:
    for side in (link.forward, link.backward):
        side.rate_bps = access.rate_bps
        side.delay = round(access.delay_us * _PS_PER_US)
        if access.queue_packets is not None:
            side.queue_packets = access.queue_packets


def _set_flow(name: str, flow: _engine.Flow, attack: Attack) -> None:
    if name == "bursts":
        source = flow.datagrams
        source.rate_bps = attack.burst_bps
        source.on_mean = attack.burst_on_us * _PS_PER_US
        source.off_mean = attack.burst_off_us * _PS_PER_US
        flow.stop = attack.calm_us * _PS_PER_US if attack.calm_us else -1
        return
    flow.receive_window_bytes = window_bytes(attack)
    if attack.flows + attack.beside_flows > 1:
        flow.start_spread = attack.duration_us // 20 * _PS_PER_US
    if name == "short":
        flow.size_bytes = attack.short_bytes
        flow.arrivals_mean = attack.short_every_us * _PS_PER_US
