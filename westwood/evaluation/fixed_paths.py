# SPDX-License-Identifier: BSD-3-Clause
"""Runs a control, Reno, CUBIC and BBR on fixed paths, for `westwood control check`."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import fmean
from typing import Any

from westwood.control.catalogue import label
from westwood.control.checking import Check, Outcome
from westwood.engines.contract import Job
from westwood.engines.pool import run_jobs, sorted_rows
from westwood.engines.simulator import SIMULATOR
from westwood.errors import InputError
from westwood.results.columns import Row
from westwood.results.metrics import means
from westwood.scenario import Scenario

OTHERS = ("reno", "cubic", "bbr")
RIVAL = "cubic"
LEAST = 0.1  # of the goodput of the slowest of the others
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

    def with_control(self, cc: str) -> Scenario:
        """Returns the path with this control."""
        return Scenario.preset("path").with_settings({**self.settings, "tcp.cc": cc})

    def command(self, cc: str) -> str:
        """Returns the command that runs the control on this path alone."""
        changed = " ".join(
            f"--set {shlex.quote(f'{key}={value}')}" for key, value in self.settings.items()
        )
        return f"westwood run path --cc {shlex.quote(cc)} {changed} --seeds {self.seeds}"


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


@dataclass(frozen=True)
class OnPath:
    """What controls did on a path: the rows of every control's runs."""

    path: FixedPath
    rows: Mapping[str, Sequence[Row]]

    def mean(self, cc: str, column: str) -> float:
        """Returns the mean of a column over a control's runs."""
        return fmean(float(row[column]) for row in self.rows[cc])

    def problem(self, judged: str) -> str:
        """Returns what is wrong with the judged control; empty: nothing."""
        of_others = {one: self.mean(one, "goodput_bps") for one in OTHERS}
        slowest = min(of_others, key=of_others.__getitem__)
        goodput_bps, least_bps = self.mean(judged, "goodput_bps"), LEAST * of_others[slowest]
        if goodput_bps >= least_bps:
            return ""
        expected = f"expected a tenth of {label(slowest)}'s, {least_bps / 1e6:.3g} Mb/s, or more"
        return f"its goodput is {goodput_bps / 1e6:.3g} Mb/s, {expected}"


@dataclass(frozen=True)
class Share:
    """What a control and CUBIC got on the same link."""

    queue: str
    scenario: Scenario
    rows: Mapping[str, Row]  # by control: mean goodput with its interval

    @property
    def part(self) -> float:
        """Returns the judged control's part of both goodputs."""
        judged, other = (float(row["goodput_bps"]) for row in self.rows.values())
        return judged / max(judged + other, 1.0)


class PathRuns:
    """Runs a control and others; what ran is kept for the page."""

    def __init__(self, judged: str) -> None:
        self.judged = judged
        self.paths: list[OnPath] = []
        self.shares: list[Share] = []

    def checks(self, earlier: Sequence[Check]) -> Iterator[Check]:
        """Runs the paths; yields the outcome of each group of them.

        After an earlier failure they do not run, since the control may damage this process.
        """
        if any(one.outcome is Outcome.FAILED for one in earlier):
            yield Check("paths, with Reno, CUBIC and BBR", Outcome.SKIPPED, "after a failure")
            return
        yield self._on("12 paths, with Reno, CUBIC and BBR", PATHS)
        yield self._on("a path of one segment", [ONE_SEGMENT])
        yield self._on("a path of 100 Gb/s", [FASTEST])
        yield self._shared()

    def _on(self, what: str, paths: Sequence[FixedPath]) -> Check:
        for path in paths:
            try:
                found = OnPath(path, {cc: _rows(path, cc) for cc in (self.judged, *OTHERS)})
            except InputError as error:  # the control failed: its line
                return self._failed(what, path, error.problem)
            self.paths.append(found)
            if problem := found.problem(self.judged):
                return self._failed(what, path, f"{self.judged}: {problem}")
        return Check(what)

    def _failed(self, what: str, path: FixedPath, problem: str) -> Check:
        again = f"again: {path.command(self.judged)}"
        return Check(what, Outcome.FAILED, f"{problem}, on {path.name} ({again})")

    def _shared(self) -> Check:
        what = f"a link shared with {RIVAL.upper()}"
        for queue in ("0.5bdp", "1bdp", "4bdp"):
            scenario = _sharing(self.judged, queue)
            try:
                rows = _run(scenario, range(1, 11))
            except InputError as error:
                again = f"again: westwood control check {shlex.quote(self.judged)}"
                return Check(what, Outcome.FAILED, f"{error.problem} ({again})")
            mean = {row["flow"]: row for row in means(rows, ["flow"], ["goodput_bps"])}
            of_both = {self.judged: mean["judged"], RIVAL: mean[RIVAL]}
            self.shares.append(Share(queue, scenario, of_both))
        parts = [f"{one.part:.0%} with a queue of {one.queue}" for one in self.shares]
        return Check(what, note=", ".join(parts))


def _sharing(judged: str, queue: str) -> Scenario:
    flow = {"from": "sources", "to": "sinks", "recovery": "sack", "start_spread": "2s"}
    return Scenario(
        name="shared",
        duration="60s",
        link=[
            {
                "name": "path",
                "between": ["sources", "sinks"],
                "rate": "20Mbps",
                "delay": "20ms",
                "queue": {"limit": queue},
            }
        ],
        flow=[{"name": "judged", "cc": judged, **flow}, {"name": RIVAL, "cc": RIVAL, **flow}],
    )


def _rows(path: FixedPath, cc: str) -> list[Row]:
    return _run(path.with_control(cc), range(1, path.seeds + 1))


def _run(scenario: Scenario, seeds: Sequence[int]) -> list[Row]:
    return sorted_rows(run_jobs([Job(scenario, seeds)], SIMULATOR.prepare))
