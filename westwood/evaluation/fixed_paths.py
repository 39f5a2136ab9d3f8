# SPDX-License-Identifier: BSD-3-Clause
"""Declares the fixed paths of the check of a control's file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from westwood.evaluation.criterion import RowsOf
from westwood.experiments.control import Control
from westwood.scenario import Scenario

OTHERS = (Control("reno"), Control("cubic"), Control("bbr"))
RIVAL = Control("cubic")
LEAST = 0.1  # of the goodput of the slowest of the others
SHARED_QUEUES = ("0.5bdp", "1bdp", "4bdp")
SHARED_SEEDS = range(1, 11)
_BASE: Mapping[str, Any] = {"tcp.recovery": "sack", "path.loss.rate": 0}


@dataclass(frozen=True)
class FixedPath:
    """A path of one flow: the settings of the preset `path` that it changes."""

    name: str
    rate: str
    delay: str  # one way
    queue: str
    duration: str = "30s"
    more: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1  # more than one where something is random

    @property
    def settings(self) -> dict[str, Any]:
        """Returns the changed settings by key."""
        path = {"path.rate": self.rate, "path.delay": self.delay, "path.queue.limit": self.queue}
        return {**_BASE, **path, "duration": self.duration, **self.more}

    @cached_property
    def preset(self) -> Scenario:
        """Returns the path with the preset's control."""
        return Scenario.preset("path").with_settings(self.settings)

    @property
    def rate_bps(self) -> int:
        """Returns the rate of the link."""
        return int(self.preset.link[0].rate or 0)

    def with_control(self, control: Control) -> Scenario:
        """Returns the path with this control."""
        cc = {"name": control.cc, **control.settings} if control.settings else control.cc
        return Scenario.preset("path").with_settings({**self.settings, "tcp.cc": cc})

    def command(self, control: Control) -> str:
        """Returns the command that runs the control on this path alone."""
        settings = [f"tcp.cc.{changed}" for changed in control.changed]
        settings += [f"{key}={value}" for key, value in self.settings.items()]
        changed = " ".join(f"--set {shlex.quote(setting)}" for setting in settings)
        return f"westwood run path --cc {shlex.quote(control.cc)} {changed} --seeds {self.seeds}"

    def mean(self, control: Control, column: str, rows_of: RowsOf) -> float:
        """Returns the mean of a column over a control's runs."""
        rows = rows_of(self.with_control(control), range(1, self.seeds + 1))
        return fmean(float(row[column]) for row in rows)

    def __hash__(self) -> int:
        return hash(self.name)


def _lossy(share: float) -> dict[str, Any]:
    return {"path.loss.rate": share}


PATHS = (
    FixedPath("1 Mb/s, 100 ms", "1Mbps", "50ms", "1bdp", "60s"),
    FixedPath("10 Mb/s, 40 ms", "10Mbps", "20ms", "1bdp"),
    FixedPath("10 Mb/s, 40 ms, a queue of a quarter", "10Mbps", "20ms", "0.25bdp"),
    FixedPath("10 Mb/s, 40 ms, a queue of eight", "10Mbps", "20ms", "8bdp", "60s"),
    FixedPath("50 Mb/s, 80 ms", "50Mbps", "40ms", "1bdp", "60s"),
    FixedPath("10 Mb/s, 600 ms", "10Mbps", "300ms", "1bdp", "120s"),
    FixedPath("1 Gb/s, 10 ms", "1Gbps", "5ms", "1bdp", "10s"),
    FixedPath("10 Mb/s, 40 ms, CoDel", "10Mbps", "20ms", "8bdp", more={"path.queue.kind": "codel"}),
    FixedPath("10 Mb/s, 40 ms, 0.1 % lost", "10Mbps", "20ms", "1bdp", "60s", _lossy(0.001), 5),
    FixedPath("10 Mb/s, 40 ms, 1 % lost", "10Mbps", "20ms", "1bdp", "60s", _lossy(0.01), 5),
    FixedPath("50 Mb/s, 80 ms, 0.1 % lost", "50Mbps", "40ms", "1bdp", "60s", _lossy(0.001), 5),
    FixedPath(
        "10 Mb/s, 40 ms, 20 ms jitter", "10Mbps", "20ms", "1bdp", "60s", {"path.jitter": "20ms"}, 5
    ),
)
ONE_SEGMENT = FixedPath("one segment: 100 kb/s, 20 ms", "100kbps", "10ms", "2p", "200s")
FASTEST = FixedPath(
    "100 Gb/s, 4 ms", "100Gbps", "2ms", "1bdp", "0.5s", {"tcp.receive_window": "256MiB"}
)
ALL = (*PATHS, ONE_SEGMENT, FASTEST)


def shared(control: Control, queue: str) -> Scenario:
    """Returns a link with a flow of the control and one of CUBIC."""
    flow = {"from": "sources", "to": "sinks", "recovery": "sack", "start_spread": "2s"}
    cc = {"name": control.cc, **control.settings} if control.settings else control.cc
    link: dict[str, Any] = {"name": "path", "between": ["sources", "sinks"]}
    link |= {"rate": "20Mbps", "delay": "20ms", "queue": {"limit": queue}}
    flows = [{"name": "judged", "cc": cc, **flow}, {"name": RIVAL.cc, "cc": RIVAL.cc, **flow}]
    return Scenario(name="shared", duration="60s", link=[link], flow=flows)
