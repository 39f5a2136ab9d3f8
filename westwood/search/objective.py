# SPDX-License-Identifier: BSD-3-Clause
"""What is wanted of a congestion control, written down before anything is searched.

A target is a statistic over paths of one family (population.py), and the figure it must reach:
`westwood search` looks for what reaches them, and they are judged on other paths. The cost of a
control is the weighted mean of a smooth penalty for each: about how many `scale`s it falls short,
and next to nothing for what it has to spare.

    penalty(d) = ln(1 + exp(d)),   d = (bound - value) / scale, with the other sign for "at most"
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from westwood.results.metrics import jain, percentile
from westwood.search import bounds
from westwood.search.environment import Environment, role

REFERENCES = ("cubic", "bbr")  # their outcomes on the same paths are what a control is held against
WORST = 0.1  # the share of paths that "worst tenth" means
REPEATS: Mapping[str, int] = {  # runs of a path, with other seeds: who wins beside whom is chance
    "beside": 4,
    "among": 2,
}


@dataclass(frozen=True)
class Outcome:
    """What a run, or several of one path, came to; NaN: there was nothing of the kind."""

    goodput_bps: float  # of all flows of the control in question
    beside_bps: float
    jain: float  # among the flows of the control in question
    mean_queue: float  # packets
    short_p50_s: float  # how long short transfers took
    short_p95_s: float
    loss_ratio: float  # what the queue dropped and the wire lost, over what was sent

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Outcome:
        """Reads the rows of a run, one a flow."""
        all_rows = list(rows)
        named: dict[str, list[Mapping[str, Any]]] = {}
        for row in all_rows:
            named.setdefault(role(row["flow"]), []).append(row)
        ours = [float(row["goodput_bps"]) for row in named.get("tcp", ())]
        short = named.get("short", [{"completion_p50_s": math.nan, "completion_p95_s": math.nan}])
        mine = [*named.get("tcp", ()), *named.get("short", ())]
        sent = sum(float(row["sent"]) for row in mine)
        gone = sum(float(row["queue_drops"]) + float(row["lost"]) for row in mine)
        return cls(
            math.fsum(ours) if ours else math.nan,
            math.fsum(float(row["goodput_bps"]) for row in named.get("beside", ())),
            jain(ours) if len(ours) > 1 else math.nan,
            float(all_rows[0]["mean_queue"]),
            float(short[0]["completion_p50_s"]),
            float(short[0]["completion_p95_s"]),
            gone / sent if sent else math.nan,
        )

    @classmethod
    def mean(cls, several: Sequence[Outcome]) -> Outcome:
        """The mean of several runs of one path."""
        means = {
            field.name: math.fsum(getattr(one, field.name) for one in several) / len(several)
            for field in fields(cls)
        }
        return cls(**means)

    def entry(self) -> dict[str, float | None]:
        """Returns it as JSON takes it."""
        return {key: None if math.isnan(value) else value for key, value in asdict(self).items()}

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Outcome:
        """Reads what `entry` returned."""
        named = {field.name: entry[field.name] for field in fields(cls)}
        return cls(**{key: math.nan if one is None else float(one) for key, one in named.items()})


@dataclass(frozen=True)
class Seen:
    """A path, what the control in question came to on it, and what CUBIC and BBR did."""

    environment: Environment
    own: Outcome
    cubic: Outcome
    bbr: Outcome


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole > 0 else math.nan


def over_cubic(one: Seen) -> float:
    """Goodput over CUBIC's."""
    return _ratio(one.own.goodput_bps, one.cubic.goodput_bps)


def over_bbr(one: Seen) -> float:
    """Goodput over BBR's."""
    return _ratio(one.own.goodput_bps, one.bbr.goodput_bps)


def over_bbr_where_loss_binds(one: Seen) -> float:
    """Goodput over BBR's, where BBR has at least BINDS times CUBIC's."""
    binds = one.bbr.goodput_bps >= bounds.BINDS * one.cubic.goodput_bps
    return over_bbr(one) if binds else math.nan


def queue_over_cubic(one: Seen) -> float:
    """Mean queue over CUBIC's, both with a packet more: most queues are empty somewhere."""
    return (one.own.mean_queue + 1) / (one.cubic.mean_queue + 1)


def cubic_keeps(one: Seen) -> float:
    """What CUBIC has beside the control over what as many flows have beside more CUBIC.

    There all flows are alike: their share of the whole is what each may expect.
    """
    flows = one.environment.flows + one.environment.beside_flows
    whole = one.cubic.goodput_bps + one.cubic.beside_bps
    return _ratio(one.own.beside_bps, whole * one.environment.beside_flows / flows)


def own_share(one: Seen) -> float:
    """What the control has beside CUBIC over an even share of what both have."""
    flows = one.environment.flows + one.environment.beside_flows
    whole = one.own.goodput_bps + one.own.beside_bps
    return _ratio(one.own.goodput_bps, whole * one.environment.flows / flows)


def fairness(one: Seen) -> float:
    """Jain's index among its own flows."""
    return one.own.jain


def fairness_over_cubic(one: Seen) -> float:
    """Jain's index among its own flows over CUBIC's among its."""
    return _ratio(one.own.jain, one.cubic.jain)


def short_p50_over_cubic(one: Seen) -> float:
    """Median completion time of short transfers over CUBIC's."""
    return _ratio(one.own.short_p50_s, one.cubic.short_p50_s)


def short_p95_over_cubic(one: Seen) -> float:
    """95th percentile of the completion times of short transfers over CUBIC's."""
    return _ratio(one.own.short_p95_s, one.cubic.short_p95_s)


def loss_over_cubic(one: Seen) -> float:
    """Share of its packets that are dropped over CUBIC's."""
    return _ratio(one.own.loss_ratio, one.cubic.loss_ratio)


def goodput_mbps(one: Seen) -> float:
    """Goodput, Mb/s."""
    return one.own.goodput_bps / 1e6


@dataclass(frozen=True)
class Target:
    """Something a control must reach: a statistic of a quantity over the paths of a family."""

    name: str
    family: str
    quantity: Callable[[Seen], float]
    statistic: str  # "median" or "worst tenth"
    bound: float
    weight: float
    what: str
    at_most: bool = False
    scale: float = 0.05  # so much too little is a penalty of 1

    def value(self, seen: Iterable[Seen]) -> float:
        """The statistic over these paths, which are of the family; NaN if none has the quantity."""
        return self.of([self.quantity(one) for one in seen])

    def of(self, values: Iterable[float]) -> float:
        """The statistic of the quantity's values; a NaN among them does not count."""
        known = [value for value in values if not math.isnan(value)]
        worst = 1 - WORST if self.at_most else WORST
        return percentile(known, 0.5 if self.statistic == "median" else worst)

    def reached(self, value: float) -> bool:
        """Says whether a value of the statistic is good enough."""
        return value <= self.bound if self.at_most else value >= self.bound

    def penalty(self, value: float) -> float:
        """Grows smoothly with what is lacking; 0 where there was no such path."""
        if math.isnan(value):
            return 0.0
        short = (value - self.bound) if self.at_most else (self.bound - value)
        x = short / self.scale
        return x + math.log1p(math.exp(-x)) if x > 0 else math.log1p(math.exp(x))


_MEDIAN, _WORST = "median", "worst tenth"
TARGETS: tuple[Target, ...] = (
    Target("clean", "clean", over_cubic, _MEDIAN, bounds.CLEAN_MEDIAN, 1.5, "goodput over CUBIC's"),
    Target(
        "clean, worst", "clean", over_cubic, _WORST, bounds.CLEAN_TENTH, 1.5, "goodput over CUBIC's"
    ),
    Target(
        "queue",
        "clean",
        queue_over_cubic,
        _MEDIAN,
        bounds.CLEAN_QUEUE,
        0.5,
        "mean queue over CUBIC's",
        True,
        0.1,
    ),
    Target("lossy", "lossy", over_bbr, _MEDIAN, bounds.LOSS_MEDIAN, 1, "goodput over BBR's"),
    Target("lossy, worst", "lossy", over_bbr, _WORST, bounds.LOSS_TENTH, 1, "goodput over BBR's"),
    Target(
        "loss binds",
        "lossy",
        over_bbr_where_loss_binds,
        _MEDIAN,
        bounds.LOSS_BINDS,
        2,
        "goodput over BBR's, where BBR has twice CUBIC's",
    ),
    Target(
        "uplink",
        "uplink",
        goodput_mbps,
        _MEDIAN,
        bounds.UPLINK_MBPS,
        0.5,
        "Mb/s at 10 Mb/s, 90 ms, 0.5 %",
        scale=0.5,
    ),
    Target(
        "CUBIC keeps",
        "beside",
        cubic_keeps,
        _WORST,
        bounds.CUBIC_KEEPS,
        2,
        "goodput of CUBIC beside it over that beside CUBIC",
    ),
    Target(
        "own share",
        "beside",
        own_share,
        _WORST,
        bounds.OWN_SHARE,
        1,
        "its goodput over an even share",
    ),
    Target(
        "fairness",
        "among",
        fairness,
        _MEDIAN,
        bounds.AMONG,
        0.5,
        "Jain's index among its own flows",
    ),
    Target(
        "distance",
        "distant",
        fairness_over_cubic,
        _MEDIAN,
        bounds.DISTANT,
        0.5,
        "Jain's index at round trips of 10 to 160 ms over CUBIC's",
    ),
    Target(
        "short",
        "short",
        short_p50_over_cubic,
        _MEDIAN,
        bounds.SHORT,
        0.5,
        "median completion time of 10 kB to 1 MB over CUBIC's",
        True,
    ),
    Target(
        "short, p95",
        "short",
        short_p95_over_cubic,
        _MEDIAN,
        bounds.SHORT,
        0.5,
        "95th percentile of those times over CUBIC's",
        True,
    ),
    Target(
        "collapse",
        "collapse",
        loss_over_cubic,
        _MEDIAN,
        bounds.COLLAPSE,
        0.5,
        "share dropped of 100 flows over 100 packets a round trip, over CUBIC's",
        True,
    ),
)


def cost(values: Mapping[str, float]) -> float:
    """The weighted mean of the targets' penalties, from their values by name; less is better."""
    penalties = (one.weight * one.penalty(values[one.name]) for one in TARGETS)
    return math.fsum(penalties) / math.fsum(one.weight for one in TARGETS)


def values(seen: Mapping[str, Sequence[Seen]]) -> dict[str, float]:
    """Every target's value, from what was seen on the paths of each family."""
    return {one.name: one.value(seen.get(one.family, ())) for one in TARGETS}
