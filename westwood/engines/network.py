# SPDX-License-Identifier: BSD-3-Clause
"""Converts a scenario to the simulator's data, which has other units and refers by index."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from westwood import _engine
from westwood.catalogue import Setting, settings_of
from westwood.scenario.declared import to_field
from westwood.scenario.flows import configured

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Direction, Link, Loss, Queue
    from westwood.scenario.parts import Part

_UNLIMITED = -1


def build(scenario: Scenario) -> _engine.Network:
    """Returns the engine's network for the scenario."""
    index = {node: i for i, node in enumerate(scenario.nodes)}
    network = _engine.Network()
    network.nodes = len(index)
    network.links = [_link(link, index) for link in scenario.link]
    # A group's flows are identical: making hundreds one by one can take longer than the run.
    network.flows = [one for flow in scenario.flow for one in [_flow(flow, index)] * flow.count]
    network.duration = scenario.duration
    return network


@cache
def _shared(section: str, part: type[Part], built: type) -> tuple[tuple[str, Setting], ...]:
    """Returns the declared settings that both the part and the engine's object have, by key."""
    settings, fields = settings_of(section).items(), part.model_fields
    return tuple((key, one) for key, one in settings if key in fields and hasattr(built, one.field))


def _set_declared(built: Any, section: str, part: Part, mss: int = 1) -> None:
    """Sets every declared setting that both objects have."""
    for key, setting in _shared(section, type(part), built.__class__):
        value = getattr(part, key)
        if value is not None or setting.kind in ("TIME_OR_NEVER", "SIZE_OR_ALL"):
            setattr(built, setting.field, to_field(setting, value, mss))


def _link(link: Link, index: dict[str, int]) -> _engine.Link:
    built = _engine.Link()
    built.a, built.b = (index[node] for node in link.between)
    _set_declared(built, "link", link)
    built.forward = _direction(link, "forward")
    built.backward = _direction(link, "backward")
    return built


def _direction(link: Link, side: Direction) -> _engine.Direction:
    built = _engine.Direction()
    _set_declared(built, "link", link)
    if link.rate is None:
        built.rate_bps = max(1000, round(link.mean_rate_bps(side)))
    built.opportunities_ms = list(link.opportunities(side))
    set_queue(built, link.queue)
    if link.loss.on in (side, "both"):
        _set_loss(built.loss, link.loss)
    if link.reorder and link.reorder.on in (side, "both"):
        built.reorder_rate, built.reorder_delay = link.reorder.rate, link.reorder.delay
    return built


def set_queue(built: _engine.Direction, queue: Queue) -> None:
    """Sets the queue of a link's direction."""
    limit = _UNLIMITED if queue.limit.count is None else queue.limit.count
    in_packets = queue.limit.unit == "p"
    built.queue_packets = limit if in_packets else _UNLIMITED
    built.queue_bytes = _UNLIMITED if in_packets else limit
    if queue.kind == "red":
        built.red.on = True
        _set_declared(built.red, "red", queue)


def _set_loss(built: _engine.Loss, loss: Loss) -> None:
    if loss.kind == "uniform" or loss.kind == "bits":
        built.kind, built.rate = loss.kind, loss.rate
    elif loss.kind == "script":
        built.kind, built.packets = loss.kind, list(loss.packets)
    elif loss.kind == "markov" or (loss.kind == "blackout" and loss.bad > 0):
        built.kind = "states"
        built.state_mean = loss.good, loss.bad
        built.state_fixed = loss.durations == "fixed"
        built.state_rate = (loss.good_rate, loss.bad_rate) if loss.kind == "markov" else (0.0, 1.0)


def _flow(flow: Flow, index: dict[str, int]) -> _engine.Flow:
    built = _engine.Flow()
    built.from_node, built.to_node = index[flow.from_], index[flow.to]
    _set_declared(built, "flow", flow, flow.mss)
    if flow.app.kind == "udp":
        source = built.datagrams
        source.on, source.rate_bps = True, flow.app.rate
        source.on_mean = _UNLIMITED if flow.app.on is None else flow.app.on
        source.off_mean, source.spread = flow.app.off or 0, flow.app.durations
        source.spacing = flow.app.spacing
        return built
    built.cc = configured(flow.cc)
    built.recovery = flow.recovery
    if flow.arrivals:
        built.arrivals_mean = flow.arrivals.every
        built.size_bytes, built.size_spread = flow.arrivals.size, flow.arrivals.sizes
    return built
