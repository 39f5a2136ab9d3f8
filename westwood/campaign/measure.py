# SPDX-License-Identifier: BSD-3-Clause
"""Runs a campaign: uploads in turn, target by target, even if one of the targets fails.

The folder has uploads.jsonl, a line for each upload as it ends or fails, and traces/. A campaign
that was killed continues with `resume`; uploads with a damaged line run again. A target whose
uploads fail repeatedly is skipped from then on, and the others are still measured.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import polars as pl

from westwood.campaign import uploads
from westwood.campaign.plan import MOST_UPLOADS, CampaignPlan
from westwood.campaign.uploads import Turn
from westwood.errors import InputError, RunError, suggestion
from westwood.experiments.experiment import Tracker
from westwood.results import journal
from westwood.results.columns import Row
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.rows import is_number
from westwood.results.store import Store
from westwood.units import PS_PER_S, format_size

_NAMES = {"target", "size_bytes", "number", "cc"}  # required in every line
_MEASURED = {"goodput_bps", "retransmission_ratio", "mean_cwnd", "mean_srtt_s", "min_rtt_s"}
_TEXTS = {"target", "cc", "begun", "error"}
Key = tuple[str, int, int, str]


@dataclass(frozen=True)
class Measurement:
    """The measured uploads as rows, and why a target was skipped."""

    rows: pl.DataFrame
    away: Mapping[str, str]
    complete: bool


def turns(
    plan: CampaignPlan, only: list[str] | None = None, count: int | None = None
) -> list[Turn]:
    """Lists every upload in order: the congestion controls of a session take turns."""
    if count is not None and not 1 <= count <= MOST_UPLOADS:
        problem = f"expected a whole number from 1 to {MOST_UPLOADS}"
        raise InputError(problem, key="--uploads", value=count)
    names = [target.name for target in plan.target]
    for name in only or ():
        if name not in names:
            raise InputError(
                f"no such target, {suggestion(name, names)}", key="--target", value=name
            )
    return [
        Turn(target, size, number, cc)
        for target, size, planned in plan.sessions()
        if not only or target.name in only
        for number in range(1, (planned if count is None else count) + 1)
        for cc in plan.cc
    ]


def run(
    plan: CampaignPlan, todo: list[Turn], folder: Folder, *, resume: bool, track: Tracker
) -> Measurement:
    """Makes the missing uploads."""
    uploads.check(plan)
    with Uploads(plan, folder).opened(resume=resume) as kept:
        missing = [turn for turn in todo if turn.key not in kept.done]
        campaign = _Campaign(plan, kept, folder)
        try:
            for _ in track(campaign.carry_out(missing), len(missing)):
                pass
        except KeyboardInterrupt:
            return Measurement(kept.frame(todo), campaign.away, False)
        return Measurement(kept.frame(todo), campaign.away, not campaign.away)


def trace_file(row: Mapping[str, Any]) -> str:
    """Returns the name of the file with an upload's trace."""
    size = format_size(row["size_bytes"])
    return f"traces/{row['target']}-{size}-{row['number']}-{row['cc']}.parquet"


class Uploads:
    """Keeps a campaign's uploads on disk."""

    def __init__(self, plan: CampaignPlan, folder: Folder) -> None:
        self.done: dict[Key, Row] = {}
        self._plan = plan
        self._store = Store(folder, self._take, file="uploads.jsonl", synced=True)

    @contextmanager
    def opened(self, *, resume: bool) -> Iterator[Uploads]:
        """Locks the folder, checks that it fits, and reads what it holds."""
        state = self._plan.settings()
        differs = "holds another campaign, expected the same plan or a new folder"
        with self._store.resumed(
            ResultKind.CAMPAIGN, state, resume=resume, differs=differs, about={"plan": state}
        ):
            yield self

    def _take(self, record: Mapping[str, Any]) -> None:
        if not self._is_ours(record):
            raise ValueError(record)
        if "error" not in record:
            self.done[_key(record)] = journal.from_json(record)

    def _is_ours(self, record: Mapping[str, Any]) -> bool:
        """Returns whether a line from disk can belong to an upload of this plan."""
        sizes = {target.name: target.sizes for target in self._plan.target}
        numbers = [value for name, value in record.items() if name not in _TEXTS]
        return (
            record.keys() >= (_NAMES if "error" in record else _NAMES | _MEASURED)
            and isinstance(record["target"], str)
            and record["size_bytes"] in sizes.get(record["target"], ())
            and record["cc"] in self._plan.cc
            and isinstance(record["number"], int)
            and record["number"] >= 1
            and all(value is None or is_number(value) for value in numbers)
            and all(isinstance(record.get(name, ""), str) for name in _TEXTS)
        )

    def add(self, row: Row) -> None:
        """Writes an upload that ended or, with `error`, failed; it is on disk when this returns."""
        self._store.keep(journal.json_ready(row))

    def frame(self, todo: list[Turn]) -> pl.DataFrame:
        """Returns every upload as a row, those beyond the request first, the others in order.

        The journal has another order if damaged lines were repeated.
        """
        places = {turn.key: place for place, turn in enumerate(todo)}
        rows = sorted(self.done.values(), key=lambda row: places.get(_key(row), -1))
        return pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame()


def _key(row: Mapping[str, Any]) -> Key:
    return row["target"], row["size_bytes"], row["number"], row["cc"]


class _Campaign:
    """Does upload after upload, and repeats those that failed."""

    def __init__(self, plan: CampaignPlan, kept: Uploads, folder: Folder) -> None:
        self._plan, self._kept, self._folder = plan, kept, folder
        self.away: dict[str, str] = {}

    def carry_out(self, todo: list[Turn]) -> Iterator[Turn]:
        """Yields each turn once it is done or skipped."""
        for turn in todo:
            if turn.target.name not in self.away:
                self._attempt(turn)
            yield turn

    def _attempt(self, turn: Turn) -> None:
        for again in range(self._plan.retries + 1):
            if again:
                time.sleep(self._plan.retry_after / PS_PER_S)
            try:
                row, trace = uploads.upload(self._plan, turn)
            except RunError as error:
                problem = str(error)
                name, size, number, cc = turn.key
                self._kept.add(
                    {
                        "target": name,
                        "size_bytes": size,
                        "number": number,
                        "cc": cc,
                        "error": problem,
                    }
                )
                continue
            self._folder.frame(trace_file(row), trace)
            self._kept.add(row)
            return
        self.away[turn.target.name] = problem
