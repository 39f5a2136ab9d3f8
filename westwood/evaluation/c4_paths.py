# SPDX-License-Identifier: BSD-3-Clause
"""Makes the paths of C4's trials: rates and Wi-Fi's delays that change, and who sends.

Numbers are those of the specifications that the draft's authors run (`sim_specs/` of
private-octopus/c4), not of its prose where the two differ.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from westwood.experiments.control import Control
from westwood.scenario import Scenario
from westwood.scenario.one_link import one_link
from westwood.scenario.paths.environment import ITSELF, PROFILE, WINDOW_BYTES

DRAFT = "draft-huitema-ccwg-c4-test-02"
_DURATION_S = 60
_OPPORTUNITY_BYTES = 1504
_PACKET_US = 12_000  # of a packet at 1 Mb/s
_WIFI_STEP_MS, _SHORT_MS, _LONG_MS, _SPAN_MS = 1, 1.0, 7.5, 90.0
DRAWS = 4  # of Wi-Fi's delays where their mean changes

Spans = Sequence[tuple[float, float]]  # seconds and Mb/s, one after another; the last one stays


@dataclass(frozen=True)
class Other:
    """The transfer beside the control's."""

    cc: str  # a protocol, or ITSELF
    megabytes: float
    start_s: float = 0


@dataclass(frozen=True)
class Trial:
    """A specification: a path, the transfer and its time, and who else uses the path."""

    name: str
    says: str
    megabytes: float
    within_s: float
    mbps: float
    delay_ms: float  # one way
    queue_ms: float = 80
    start_s: float = 0
    other: Other | None = None
    rates: Spans = ()
    recurs: bool = False  # the rates begin again after the last span
    link: Mapping[str, Any] = field(default_factory=dict)  # further keys of the link
    flow: Mapping[str, Any] = field(default_factory=dict)
    wifi_means_ms: Spans = ()  # seconds and the parameter of Wi-Fi's jitter
    note: str = ""

    def scenario(self, control: Control, draw: int = 0) -> Scenario:
        """Returns the scenario of this trial with a control."""
        cc = {"name": control.cc, **control.settings}
        flows = [self._flow("tcp", cc, self.megabytes, self.start_s) | dict(self.flow)]
        if self.other:
            others = cc if self.other.cc == ITSELF else {"name": self.other.cc}
            flows.append(self._flow("beside", others, self.other.megabytes, self.other.start_s))
        name = f"c4-{self.name}"
        return one_link(name, f"{_DURATION_S}s", self._link(draw), *flows, profile=PROFILE)

    def _flow(self, name: str, cc: Any, megabytes: float, start_s: float) -> dict[str, Any]:
        held_bytes = self.mbps * 125 * (2 * self.delay_ms + self.queue_ms)
        return {
            "name": name,
            "cc": cc,
            "size": f"{megabytes:g}MB",
            "start": f"{start_s:g}s",
            "receive_window": f"{max(WINDOW_BYTES, round(2 * held_bytes))}B",
        }

    def _link(self, draw: int) -> dict[str, Any]:
        """Jitter of a packet's time makes runs differ; in picoquic other chance does."""
        packets = max(2, round(self.queue_ms * 1e3 * self.mbps / _PACKET_US))
        link: dict[str, Any] = {
            "queue": {"kind": "droptail", "limit": f"{packets}p"},
            "jitter": f"{round(_PACKET_US / self.mbps)}us",
        }
        if self.wifi_means_ms:
            delays = [
                wifi_ms(self.delay_ms, tuple(self.wifi_means_ms), draw, way) for way in (0, 1)
            ]
            steps = {"interval": f"{_WIFI_STEP_MS}ms"}
            link["delays"] = {"forward": delays[0], "backward": delays[1], **steps}
        else:
            link["delay"] = f"{self.delay_ms:g}ms"
        if self.rates:
            times = _opportunities_ms(tuple(self.rates), self.recurs)
            link["trace"] = {"forward": times, "backward": times}
        else:
            link["rate"] = f"{self.mbps:g}Mbps"
        return link | dict(self.link)


@cache
def _opportunities_ms(rates: tuple[tuple[float, float], ...], recurs: bool) -> list[int]:
    """Returns the sending times of rates that change; the last rate lasts to the end of the run."""
    lasting = rates if recurs else (*rates[:-1], (float(_DURATION_S), rates[-1][1]))
    times: list[int] = []
    at_ms, due = 0, 0.0
    for seconds, mbps in lasting:
        for _ in range(round(seconds * 1000)):
            at_ms += 1
            due += mbps * 125 / _OPPORTUNITY_BYTES
            times += [at_ms] * int(due)
            due -= int(due)
    return times if times[-1] == at_ms else [*times, at_ms]  # the list recurs after its last time


@cache
def wifi_ms(
    delay_ms: float, means_ms: tuple[tuple[float, float], ...], draw: int, way: int
) -> list[int]:
    """Draws a path's delay in each millisecond, by the model of engine's wifi_jitter.hpp."""
    choices = random.Random(f"c4 {draw} {way}")
    lasting = (*means_ms[:-1], (float(_DURATION_S), means_ms[-1][1]))
    return [
        round(delay_ms + _drawn_ms(choices, mean))
        for seconds, mean in lasting
        for _ in range(round(seconds * 1000 / _WIFI_STEP_MS))
    ]


def _drawn_ms(choices: random.Random, mean_ms: float) -> float:
    short = _poisson(choices, 1.0)
    delay_ms = short * _SHORT_MS - (choices.random() * _SHORT_MS if short else 0.0)
    if choices.random() < (mean_ms - 1) / _SPAN_MS:
        delay_ms += _poisson(choices, 12.0) * _LONG_MS
    return delay_ms


def _poisson(choices: random.Random, mean: float) -> int:
    """Draws a Poisson number: how many exponential times fit into `mean`."""
    count, arrival = 0, choices.expovariate(1.0)
    while arrival < mean:
        count, arrival = count + 1, arrival + choices.expovariate(1.0)
    return count


BAD_WIFI: Mapping[str, Any] = {"wifi_jitter": {"mean": "7ms", "on": "both"}}
FADE: Spans = ((1, 1), (2, 12), (60, 1))  # the parameter of Wi-Fi's jitter
SUSPENSION: Spans = ((1.8, 20), (0.2, 0))
