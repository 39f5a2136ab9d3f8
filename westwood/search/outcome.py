# SPDX-License-Identifier: BSD-3-Clause
"""Holds what a search keeps of a run, or of several runs on one path."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from typing import Any

from westwood.results.journal import from_json, json_ready
from westwood.results.metrics import jain
from westwood.scenario.paths.environment import Environment, role

_OF_WORST_SEED = ("resent", "resent_beyond")


@dataclass(frozen=True)
class Outcome:
    """The result of a run, or of several on one path; NaN where a quantity does not exist."""

    goodput_bps: float  # of all flows of the control under test
    beside_bps: float
    jain: float  # among the flows of the control under test
    mean_queue: float  # packets
    short_p50_s: float  # completion time of short transfers
    short_p95_s: float
    loss_ratio: float  # packets that the queue dropped or the wire lost, over those sent
    latest_bps: float = math.nan  # goodput of the last of these flows
    resent: float = math.nan  # packets resent over packets sent, in the worst seed
    resent_beyond: float = math.nan  # the same without packets that the wire lost

    @classmethod
    def of(cls, rows: Iterable[Mapping[str, Any]]) -> Outcome:
        """Computes the outcome from the rows of a run, one for each flow."""
        all_rows = list(rows)
        named: dict[str, list[Mapping[str, Any]]] = {}
        for row in all_rows:
            named.setdefault(role(row["flow"]), []).append(row)
        ours = [float(row["goodput_bps"]) for row in named.get("tcp", ())]
        short = named.get("short", [{"completion_p50_s": math.nan, "completion_p95_s": math.nan}])
        mine = [*named.get("tcp", ()), *named.get("short", ())]
        sent = sum(float(row["sent"]) for row in mine)
        lost = sum(float(row["lost"]) for row in mine)
        gone = sum(float(row["queue_drops"]) for row in mine) + lost
        again = sum(float(row["retransmitted"]) for row in mine)
        return cls(
            math.fsum(ours) if ours else math.nan,
            math.fsum(float(row["goodput_bps"]) for row in named.get("beside", ())),
            jain(ours) if len(ours) > 1 else math.nan,
            float(all_rows[0]["mean_queue"]),
            float(short[0]["completion_p50_s"]),
            float(short[0]["completion_p95_s"]),
            gone / sent if sent else math.nan,
            ours[-1] if ours else math.nan,
            again / sent if sent else math.nan,
            (again - lost) / sent if sent else math.nan,
        )

    @classmethod
    def mean(cls, several: Sequence[Outcome]) -> Outcome:
        """Returns the means of several runs on one path, but the largest share resent."""
        means = {}
        for field in fields(cls):
            values = [getattr(outcome, field.name) for outcome in several]
            is_worst = field.name in _OF_WORST_SEED
            means[field.name] = max(values) if is_worst else math.fsum(values) / len(values)
        return cls(**means)

    def entry(self) -> dict[str, float | None]:
        """Returns the fields for JSON."""
        return json_ready(asdict(self))

    @classmethod
    def read(cls, entry: Mapping[str, Any]) -> Outcome:
        """Reads what `entry` returned."""
        known = from_json({field.name: entry[field.name] for field in fields(cls)})
        return cls(**{key: float(value) for key, value in known.items()})


@dataclass(frozen=True)
class PathOutcomes:
    """A path with the outcomes of the control under test and of the references."""

    environment: Environment
    outcome: Outcome
    cubic: Outcome
    bbr: Outcome
    westwood: Outcome
