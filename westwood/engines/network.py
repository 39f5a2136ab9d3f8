# SPDX-License-Identifier: BSD-3-Clause
"""A scenario as the simulator's data: every unit and name turned into what the engine counts in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood import _engine
from westwood.catalogue import PROTOCOLS

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.flows import CongestionControl, Flow
    from westwood.scenario.links import Direction, Link, Loss, Queue

_PS_PER_US = 10**6
_UNLIMITED = -1
_LARGEST_WINDOW = 2**28  # segments: the core's WW_CWND_MAX


def build(scenario: Scenario) -> _engine.Network:
    """The scenario as the engine's data."""
    index = {node: i for i, node in enumerate(scenario.nodes)}
    network = _engine.Network()
    network.nodes = len(index)
    network.links = [_link(link, index) for link in scenario.link]
    network.flows = [_flow(flow, index) for flow in scenario.flows]
    network.duration_ps = scenario.duration
    return network


def _link(link: Link, index: dict[str, int]) -> _engine.Link:
    built = _engine.Link()
    built.a, built.b = (index[node] for node in link.between)
    built.overhead_bytes = link.overhead
    built.forward = _direction(link, "forward")
    built.backward = _direction(link, "backward")
    return built


def _direction(link: Link, side: Direction) -> _engine.Direction:
    built = _engine.Direction()
    built.rate_bps = link.rate or max(1, round(link.mean_rate_bps(side)))
    built.opportunities_ms = list(link.recorded(side))
    built.delay_ps, built.jitter_ps = link.delay, link.jitter
    _set_queue(built, link.queue)
    if link.loss.on in (side, "both"):
        _set_loss(built.loss, link.loss)
    if link.reorder and link.reorder.on in (side, "both"):
        built.reorder_rate, built.reorder_delay_ps = link.reorder.rate, link.reorder.delay
    return built


def _set_queue(built: _engine.Direction, queue: Queue) -> None:
    limit = _UNLIMITED if queue.limit.count is None else queue.limit.count
    in_packets = queue.limit.unit == "p"
    built.queue_packets = limit if in_packets else _UNLIMITED
    built.queue_bytes = _UNLIMITED if in_packets else limit
    if queue.kind == "red":
        built.red.on = True
        built.red.min_packets, built.red.max_packets = queue.min, queue.max
        built.red.max_p, built.red.weight = queue.max_p, queue.weight
        built.red.gentle, built.red.ecn = queue.gentle, queue.ecn
        built.red.mean_packet_bytes = queue.mean_packet


def _set_loss(built: _engine.Loss, loss: Loss) -> None:
    if loss.kind == "uniform" or loss.kind == "bits":
        built.kind, built.rate = loss.kind, loss.rate
    elif loss.kind == "script":
        built.kind, built.packets = loss.kind, list(loss.packets)
    elif loss.kind == "markov" or (loss.kind == "blackout" and loss.bad > 0):
        built.kind = "states"
        built.state_mean_ps = loss.good, loss.bad
        built.state_fixed = loss.durations == "fixed"
        built.state_rate = (loss.good_rate, loss.bad_rate) if loss.kind == "markov" else (0.0, 1.0)


def _flow(flow: Flow, index: dict[str, int]) -> _engine.Flow:
    built = _engine.Flow()
    built.from_node, built.to_node = index[flow.from_], index[flow.to]
    built.start_ps, built.start_spread_ps = flow.start, flow.start_spread
    built.stop_ps = _UNLIMITED if flow.stop is None else flow.stop
    built.size_bytes = _UNLIMITED if flow.size is None else flow.size
    built.mss, built.header_bytes = flow.mss, flow.header
    if flow.app.kind == "udp":
        source = built.datagrams
        source.on, source.rate_bps = True, flow.app.rate
        source.on_mean_ps = _UNLIMITED if flow.app.on is None else flow.app.on
        source.off_mean_ps, source.spread = flow.app.off or 0, flow.app.durations
        return built
    built.cc = _congestion_control(flow.cc)
    built.recovery = flow.recovery
    built.ecn = flow.ecn
    if flow.arrivals:
        built.arrivals_mean_ps = flow.arrivals.every
        built.size_bytes, built.size_spread = flow.arrivals.size, flow.arrivals.sizes
    _set_windows_and_timers(built, flow)
    return built


def _set_windows_and_timers(built: _engine.Flow, flow: Flow) -> None:
    built.initial_cwnd = min(max(1, flow.initial_cwnd.packets(flow.mss) or 1), _LARGEST_WINDOW)
    ssthresh = flow.initial_ssthresh.packets(flow.mss)
    built.initial_ssthresh = _UNLIMITED if ssthresh is None else max(2, ssthresh)
    built.receive_window = flow.receive_window
    built.min_rto_ps, built.max_rto_ps = flow.min_rto, flow.max_rto
    built.initial_rto_ps = flow.initial_rto
    built.clock_granularity_ps = flow.clock_granularity
    built.delayed_ack = flow.delayed_ack
    built.delayed_ack_timeout_ps = flow.delayed_ack_timeout
    built.dupack_threshold = flow.dupack_threshold
    built.limited_transmit = flow.limited_transmit
    built.handshake_rtt = flow.handshake_rtt
    built.flight_excludes_sacked = flow.flight_excludes_sacked
    built.ssthresh_from_cwnd = flow.ssthresh_from_cwnd


def _congestion_control(cc: CongestionControl) -> _engine.CongestionControl:
    """The protocol's preset, with what the scenario says otherwise."""
    built = _engine.preset(PROTOCOLS[cc.name].preset)
    settings = cc.model_dump(exclude={"name", "tau", "m", "alpha", "min_interval", "cte"})
    settings |= {
        "tau_us": None if cc.tau is None else cc.tau // _PS_PER_US,
        "virtual_m": cc.m,
        "alpha_permille": _permille(cc.alpha),
        "min_interval_us": None if cc.min_interval is None else cc.min_interval // _PS_PER_US,
        "cte_permille": _permille(cc.cte),
    }
    for name, value in settings.items():
        if value is not None:
            setattr(built, name, value)
    return built


def _permille(value: float | None) -> int | None:
    return None if value is None else round(1000 * value)
