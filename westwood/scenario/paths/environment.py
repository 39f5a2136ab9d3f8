# SPDX-License-Identifier: BSD-3-Clause
"""Describes a path and the flows over it in numbers, and makes a scenario of them.

The bottleneck is one link. The first word of a flow's name is its role: `tcp` for the control under
test, `beside` for competing flows, `reverse` and `short`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from westwood.errors import InputError, suggestion
from westwood.scenario import Scenario
from westwood.scenario.paths import recorded
from westwood.scenario.paths.access import Access, Sender, nearest_us, senders
from westwood.scenario.paths.aqms import AQMS
from westwood.units import PS_PER_S, format_rate, format_time

ITSELF = "itself"  # competing flows of the control's own kind
LOSSES = ("none", "uniform", "two-state", "recorded")
PROFILE = "linux"
PACKET_BYTES = 1500

_PS_PER_US = PS_PER_S // 1_000_000
_OPPORTUNITY_BYTES = 1504  # bytes per opportunity of a recorded rate, as in Mahimahi
_MORE_PACKETS = 1.5  # packets over full-sized packets in a run, since some are short
_SWING_STEP_MS = 200  # how often a varying rate changes
WINDOW_BYTES = 3 << 20  # the profile's; a larger path gets a larger buffer, as with tcp_rmem


@dataclass(frozen=True)
class Environment:
    """A path, the flows over it and the duration; the control under test is not part of it."""

    rate_bps: int
    delay_us: int  # two-way propagation delay of the control under test
    queue_packets: int
    duration_us: int
    seed: int  # seed of the run
    aqm: str = "droptail"  # a row of aqms.py
    aqm_us: int = 0  # delay at which it begins to act; 0: its default
    aqm_span: float = 3.0  # RED's upper threshold over its lower one
    loss: str = "none"
    loss_rate: float = 0.0  # loss rate per packet; in the bad state for two-state loss
    loss_recording: str = ""  # a name in recorded.py, scaled to the mean loss_rate
    good_us: int = 0  # mean times in the two states
    bad_us: int = 0
    jitter_us: int = 0
    rate_swing: float = 1.0  # the rate wanders between rate_bps and this fraction of it
    flows: int = 1  # flows of the control under test
    rtt_spread: float = 1.0  # longest propagation delay of these flows over the shortest, delay_us
    beside: str | None = None  # a protocol, or ITSELF
    beside_flows: int = 0
    beside_delay_us: int = 0  # propagation delay of the nearest competing flow; 0: delay_us
    beside_spread: float = 1.0  # rtt_spread of the competing flows
    # Rate of the slowest flow's access link over an even share; 0: fast links.
    access_share: float = 0.0
    late_us: int = 0  # the last flow of the control under test starts this much later
    reverse_flows: int = 0  # CUBIC flows with data in the ACKs' direction
    short_bytes: int = 0  # size of short transfers
    short_every_us: int = 0  # their mean interval; they arrive by a Poisson process
    short_cc: str = ITSELF  # their protocol; ITSELF: the control under test

    def __post_init__(self) -> None:
        check_one_of("aqm", self.aqm, AQMS)
        check_one_of("loss", self.loss, LOSSES)
        if self.loss == "recorded":
            check_one_of("loss_recording", self.loss_recording, recorded.RECORDINGS)
        if (self.beside is None) != (self.beside_flows == 0):
            raise InputError("expected 0 without beside, else at least 1", key="beside_flows")

    def packets_in(self, us: float) -> float:
        """Returns how many full packets the link sends in this time."""
        return self.rate_bps * us / (8e6 * PACKET_BYTES)

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product of the control's shortest round trip."""
        return self.packets_in(self.delay_us)

    @property
    def queue_bdp(self) -> float:
        """Queue limit in bandwidth-delay products."""
        return self.queue_packets / self.bdp_packets

    @property
    def packets(self) -> float:
        """Most packets that the link carries in a run."""
        return self.packets_in(self.duration_us)


Draw = Callable[[random.Random, int], Environment]


def role(flow: str) -> str:
    """Returns the role of a flow from its name: tcp, beside, reverse or short."""
    return flow.partition("-")[0]


def check_one_of(key: str, value: object, known: Any) -> None:
    """Raises InputError unless the value is a known one."""
    if value not in known:
        raise InputError(f"unknown {key}, {suggestion(value, list(known))}", key=key, value=value)


def scenario(
    environment: Environment, protocol: str, cc_settings: Mapping[str, Any] | None = None
) -> Scenario:
    """Makes the scenario of an environment with this control and its settings."""
    return Scenario(**given(environment, protocol, cc_settings or {}))


def given(
    environment: Environment, protocol: str, cc_settings: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns the scenario of an environment and a control as a file's data."""
    if "name" in cc_settings:
        problem = "names the congestion control itself, expected a setting of it"
        raise InputError(problem, key="tcp.cc.name", value=cc_settings["name"])
    cc: Any = {"name": protocol, **cc_settings} if cc_settings else protocol
    return {
        "name": "environment",
        "duration": _time(environment.duration_us),
        "seeds": 1,
        "profile": PROFILE,
        "link": [_link(environment), *map(_access_link, accesses(environment))],
        "flow": _flows(environment, cc),
    }


def _link(environment: Environment) -> dict[str, Any]:
    link: dict[str, Any] = {"name": "path", "between": ["source", "sink"]}
    link |= {"rate": format_rate(environment.rate_bps), "delay": _time(nearest_us(environment) / 2)}
    if environment.jitter_us:
        link["jitter"] = _time(environment.jitter_us)
    link["queue"] = AQMS[environment.aqm].queue(environment)
    if environment.loss == "uniform":
        link["loss"] = {"kind": "uniform", "rate": environment.loss_rate, "on": "forward"}
    if environment.loss == "two-state":
        states = {
            "good": _time(environment.good_us),
            "bad": _time(environment.bad_us),
            "bad_rate": environment.loss_rate,
        }
        link["loss"] = {"kind": "markov", **states, "on": "forward"}
    if environment.loss == "recorded":
        link["loss"] = {"kind": "script", "packets": recorded_losses(environment), "on": "forward"}
    if environment.rate_swing > 1:
        link["trace"] = {"forward": _opportunities_ms(environment)}
    return link


def recorded_losses(environment: Environment) -> list[int]:
    """Returns the packets that a recording loses; the seed decides where in it to begin."""
    packets = _MORE_PACKETS * environment.packets + 100
    return recorded.lost_packets(
        environment.loss_recording, environment.loss_rate, packets, environment.seed
    )


def _opportunities_ms(environment: Environment) -> list[int]:
    """Returns the sending times of a rate with a random step every _SWING_STEP_MS."""
    choices = random.Random(environment.seed)
    lowest, place = math.log(1 / environment.rate_swing), choices.random()
    bytes_a_ms = environment.rate_bps / 8000
    times, due = [], 0.0
    for ms in range(1, max(2, environment.duration_us // 1000) + 1):
        if ms % _SWING_STEP_MS == 0:
            place = min(1.0, max(0.0, place + choices.uniform(-0.3, 0.3)))
        due += bytes_a_ms * math.exp(lowest * place) / _OPPORTUNITY_BYTES
        times += [ms] * int(due)
        due -= int(due)
    return times or [1]


def accesses(environment: Environment) -> list[Access]:
    """Returns the access links in the scenario's order."""
    every = [*senders(environment, "tcp"), *senders(environment, "beside")]
    return [sender.access for sender in every if sender.access]


def _access_link(access: Access) -> dict[str, Any]:
    limit = "unlimited" if access.queue_packets is None else f"{access.queue_packets}p"
    return {
        "name": f"access-{access.name}",
        "between": [access.source, "source"],
        "rate": format_rate(access.rate_bps),
        "delay": _time(access.delay_us),
        "queue": {"kind": "droptail", "limit": limit},
    }


def _flows(environment: Environment, cc: Any) -> list[dict[str, Any]]:
    common = _of_all_flows(environment)
    there = {"from": "source", "to": "sink"}
    flows = [_flow(sender, cc) for sender in senders(environment, "tcp")]
    if environment.late_us and flows:
        flows[-1] |= {"start": _time(environment.late_us)}
    if environment.beside is not None:
        beside = cc if environment.beside == ITSELF else environment.beside
        flows += [_flow(sender, beside) for sender in senders(environment, "beside")]
    if environment.reverse_flows:
        back = {"from": "sink", "to": "source", "cc": "cubic", **_count(environment.reverse_flows)}
        flows += [{"name": "reverse", **back}]
    if environment.short_bytes:
        arrivals = {
            "every": _time(environment.short_every_us),
            "size": f"{environment.short_bytes}B",
        }
        whose = cc if environment.short_cc == ITSELF else environment.short_cc
        flows += [{"name": "short", **there, "cc": whose, "arrivals": arrivals}]
    return [flow | common for flow in flows]


def _flow(sender: Sender, cc: Any) -> dict[str, Any]:
    source = sender.access.source if sender.access else "source"
    return {"name": sender.flow, "from": source, "to": "sink", "cc": cc, **_count(sender.count)}


def window_bytes(environment: Environment) -> int:
    """Returns every receiver's buffer: the profile's, or twice what the path can hold."""
    beside = (
        environment.beside_spread
        * (environment.beside_delay_us or environment.delay_us)
        / environment.delay_us
    )
    longest = max(environment.rtt_spread, beside if environment.beside_flows else 1.0)
    held = PACKET_BYTES * (environment.bdp_packets * longest + environment.queue_packets)
    return max(WINDOW_BYTES, min(round(2 * held), 1 << 30))


def _count(count: int) -> dict[str, int]:
    return {"count": count} if count > 1 else {}


def _of_all_flows(environment: Environment) -> dict[str, Any]:
    """Returns what all flows of a run share: ECN, large buffers and staggered starts."""
    common: dict[str, Any] = {"ecn": True} if AQMS[environment.aqm].asks_ecn else {}
    if window_bytes(environment) > WINDOW_BYTES:
        common["receive_window"] = f"{window_bytes(environment)}B"
    if environment.flows + environment.beside_flows > 1:
        common["start_spread"] = _time(environment.duration_us // 20)
    return common


def _time(us: float) -> str:
    return format_time(round(us * _PS_PER_US))
