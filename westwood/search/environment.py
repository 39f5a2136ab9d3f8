# SPDX-License-Identifier: BSD-3-Clause
"""An environment is a path and the flows over it in plain values; a scenario is made of one.

The bottleneck is one link. What is in a run besides is told by its flows' names, whose first word
is their role: `tcp` for the flows of the control in question, `beside`, `reverse` and `short`.
"""

from __future__ import annotations

import math
import random
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from westwood.errors import InputError, suggestion
from westwood.scenario import Scenario, written
from westwood.units import PS_PER_S, format_rate, format_time

ITSELF = "itself"  # beside a control: flows of its own kind
AQMS = ("droptail", "red", "red-ecn")
LOSSES = ("none", "uniform", "two-state")
PROFILE = "linux"
PACKET_BYTES = 1500

_PS_PER_US = PS_PER_S // 1_000_000
_OPPORTUNITY_BYTES = 1504  # of a recorded rate: Mahimahi's
_SWING_STEP_MS = 200  # a varying rate takes another value so often
WINDOW_BYTES = 3 << 20  # the profile's; a path that holds more gets a larger buffer, as tcp_rmem


@dataclass(frozen=True)
class Environment:
    """A path, the flows over it and how long they last; the control in question is not said."""

    rate_bps: int
    delay_us: int  # propagation there and back
    queue_packets: int
    duration_us: int
    seed: int  # of the run
    aqm: str = "droptail"  # RED's thresholds follow from the queue; with red-ecn all flows ask
    loss: str = "none"
    loss_rate: float = 0.0  # a packet's; of two-state loss in the bad state, and 0 in the good one
    good_us: int = 0  # mean times in the two states
    bad_us: int = 0
    jitter_us: int = 0
    rate_swing: float = 1.0  # the rate wanders between rate_bps and this part of it
    flows: int = 1  # of the control in question
    rtt_spread: float = 1.0  # the longest propagation of these flows over the shortest, delay_us
    beside: str | None = None  # a protocol, or ITSELF
    beside_flows: int = 0
    reverse_flows: int = 0  # of CUBIC, with data where the others have ACKs
    short_bytes: int = 0  # transfers of the control in question, so large,
    short_every_us: int = 0  # which arrive by a Poisson process, a mean of this apart

    def __post_init__(self) -> None:
        check_one_of("aqm", self.aqm, AQMS)
        check_one_of("loss", self.loss, LOSSES)
        if (self.beside is None) != (self.beside_flows == 0):
            raise InputError("expected as many as beside has", key="beside_flows")

    @property
    def bdp_packets(self) -> float:
        """Bandwidth-delay product of the shortest round trip."""
        return self.rate_bps * self.delay_us / (8e6 * PACKET_BYTES)

    @property
    def queue_bdp(self) -> float:
        """The queue in bandwidth-delay products."""
        return self.queue_packets / self.bdp_packets

    @property
    def packets(self) -> float:
        """What the link carries in a run, at most."""
        return self.rate_bps * self.duration_us / (8e6 * PACKET_BYTES)


def role(flow: str) -> str:
    """Returns the role of a flow by its name in a scenario: tcp, beside, reverse or short."""
    return flow.partition("-")[0]


def check_one_of(key: str, value: object, known: Any) -> None:
    """InputError unless the value is one of those known."""
    if value not in known:
        raise InputError(f"unknown {key}, {suggestion(value, list(known))}", key=key, value=value)


def scenario(
    environment: Environment,
    protocol: str,
    cc_settings: Mapping[str, Any] | None = None,
    profile: str = PROFILE,
) -> Scenario:
    """Makes the scenario of an environment with this control in question, set so."""
    return Scenario(**given(environment, protocol, cc_settings or {}, profile))


def toml(
    environment: Environment,
    protocol: str,
    cc_settings: Mapping[str, Any] | None = None,
    profile: str = PROFILE,
) -> str:
    """Writes that scenario as a file of a few lines; the rest is the profile's."""
    return written.toml({**given(environment, protocol, cc_settings or {}, profile), "sweep": {}})


def given(
    one: Environment, protocol: str, cc_settings: Mapping[str, Any], profile: str
) -> dict[str, Any]:
    """Returns what a scenario file says of an environment with this control in question."""
    if "name" in cc_settings:
        problem = "names the congestion control itself, expected a setting of it"
        raise InputError(problem, key="tcp.cc.name", value=cc_settings["name"])
    cc: Any = {"name": protocol, **cc_settings} if cc_settings else protocol
    return {
        "name": "environment",
        "duration": _time(one.duration_us),
        "seeds": 1,
        "profile": profile,
        "link": [_link(one), *_access_links(one)],
        "flow": _flows(one, cc),
    }


def _link(one: Environment) -> dict[str, Any]:
    link: dict[str, Any] = {"name": "path", "between": ["source", "sink"]}
    link |= {"rate": format_rate(one.rate_bps), "delay": _time(one.delay_us / 2)}
    if one.jitter_us:
        link["jitter"] = _time(one.jitter_us)
    link["queue"] = _queue(one)
    if one.loss == "uniform":
        link["loss"] = {"kind": "uniform", "rate": one.loss_rate, "on": "forward"}
    if one.loss == "two-state":
        states = {"good": _time(one.good_us), "bad": _time(one.bad_us), "bad_rate": one.loss_rate}
        link["loss"] = {"kind": "markov", **states, "on": "forward"}
    if one.rate_swing > 1:
        link["trace"] = {"forward": _opportunities_ms(one)}
    return link


def _queue(one: Environment) -> dict[str, Any]:
    limit = f"{one.queue_packets}p"
    if one.aqm == "droptail":
        return {"kind": "droptail", "limit": limit}
    least = red_least(one)
    red = {"kind": "red", "limit": limit, "min": least, "max": 3 * least, "gentle": True}
    return red | ({"ecn": True} if one.aqm == "red-ecn" else {})


def red_least(one: Environment) -> float:
    """Returns RED's lower threshold, packets; by Floyd's advice the upper one is three times it."""
    return max(1.0, round(one.queue_packets / 6, 1))


def _opportunities_ms(one: Environment) -> list[int]:
    """A rate with a random step every _SWING_STEP_MS, as the times at which a packet can leave."""
    choices = random.Random(one.seed)
    lowest, place = math.log(1 / one.rate_swing), choices.random()
    bytes_a_ms = one.rate_bps / 8000
    times, due = [], 0.0
    for ms in range(1, max(2, one.duration_us // 1000) + 1):
        if ms % _SWING_STEP_MS == 0:
            place = min(1.0, max(0.0, place + choices.uniform(-0.3, 0.3)))
        due += bytes_a_ms * math.exp(lowest * place) / _OPPORTUNITY_BYTES
        times += [ms] * int(due)
        due -= int(due)
    return times or [1]


def _access_links(one: Environment) -> list[dict[str, Any]]:
    """The links from more distant sources, where round trips differ: fast, and never full."""
    return [
        {
            "name": f"access-{number}",
            "between": [f"source-{number}", "source"],
            "rate": format_rate(min(10 * one.rate_bps, 10**12)),
            "delay": _time((rtt_us - one.delay_us) / 2),
            "queue": {"kind": "droptail", "limit": "unlimited"},
        }
        for number, rtt_us in _farther(one)
    ]


def _farther(one: Environment) -> list[tuple[int, float]]:
    """Number and propagation of each flow that is farther than the first, in equal ratios."""
    if one.rtt_spread == 1 or one.flows < 2:
        return []
    steps = one.flows - 1
    return [(n + 1, one.delay_us * one.rtt_spread ** (n / steps)) for n in range(1, one.flows)]


def _flows(one: Environment, cc: Any) -> list[dict[str, Any]]:
    common = _of_all_flows(one)
    there = {"from": "source", "to": "sink"}
    farther = _farther(one)
    made = []
    if farther:
        made += [{"name": "tcp-1", **there, "cc": cc}]
        made += [
            {"name": f"tcp-{n}", "from": f"source-{n}", "to": "sink", "cc": cc} for n, _ in farther
        ]
    elif one.flows:
        made += [{"name": "tcp", **there, "cc": cc, **_count(one.flows)}]
    if one.beside is not None:
        beside = cc if one.beside == ITSELF else one.beside
        made += [{"name": "beside", **there, "cc": beside, **_count(one.beside_flows)}]
    if one.reverse_flows:
        back = {"from": "sink", "to": "source", "cc": "cubic", **_count(one.reverse_flows)}
        made += [{"name": "reverse", **back}]
    if one.short_bytes:
        arrivals = {"every": _time(one.short_every_us), "size": f"{one.short_bytes}B"}
        made += [{"name": "short", **there, "cc": cc, "arrivals": arrivals}]
    return [flow | common for flow in made]


def window_bytes(one: Environment) -> int:
    """Returns the buffer of every receiver: the profile's, or twice what the path can hold."""
    held = PACKET_BYTES * (one.bdp_packets * one.rtt_spread + one.queue_packets)
    return max(WINDOW_BYTES, min(round(2 * held), 1 << 30))


def _count(count: int) -> dict[str, int]:
    return {"count": count} if count > 1 else {}


def _of_all_flows(one: Environment) -> dict[str, Any]:
    """What all flows of a run have: ECN, buffers that the path can't fill, starts not at once."""
    common: dict[str, Any] = {"ecn": True} if one.aqm == "red-ecn" else {}
    if window_bytes(one) > WINDOW_BYTES:
        common["receive_window"] = f"{window_bytes(one)}B"
    if one.flows + one.beside_flows > 1:
        common["start_spread"] = _time(one.duration_us // 20)
    return common


def _time(us: float) -> str:
    return format_time(round(us * _PS_PER_US))
