# SPDX-License-Identifier: BSD-3-Clause
"""Runs a campaign: uploads in turn, target by target, whatever becomes of one of the targets.

The folder has uploads.jsonl, a line an upload as it ended (or failed), and traces/, from the first
upload on: killed at any moment, it goes on with `resume`. A target whose uploads fail again and
again is left out from then on; the others are measured all the same.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import polars as pl

from westwood.campaign import uploads
from westwood.campaign.plan import Plan
from westwood.campaign.uploads import Turn
from westwood.errors import InputError, RunError, suggestion
from westwood.experiments.experiment import Tracker
from westwood.results.columns import Row
from westwood.results.folder import Folder
from westwood.units import PS_PER_S, format_size

_JOURNAL = "uploads.jsonl"
_STATE = "plan.json"
Key = tuple[str, int, int, str]


@dataclass(frozen=True)
class Measurement:
    """Holds what was measured: a row an upload, and why a target was left out."""

    rows: pl.DataFrame
    away: Mapping[str, str]
    complete: bool


def turns(plan: Plan, only: list[str] | None = None, count: int | None = None) -> list[Turn]:
    """Lists every upload in its order: the congestion controls of a session take turns."""
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
        for number in range(1, (count or planned) + 1)
        for cc in plan.cc
    ]


def run(
    plan: Plan, todo: list[Turn], folder: Folder, *, resume: bool, track: Tracker
) -> Measurement:
    """Does the uploads that are not done yet."""
    uploads.check(plan)
    with folder.locked("campaign"):
        journal = Journal(plan, folder, resume)
        missing = [turn for turn in todo if turn.key not in journal.done]
        campaign = _Campaign(plan, journal, folder)
        try:
            for _ in track(campaign.carry_out(missing), len(missing)):
                pass
        except KeyboardInterrupt:
            return Measurement(journal.frame(), campaign.away, False)
        finally:
            journal.close()
        return Measurement(journal.frame(), campaign.away, not campaign.away)


def trace_file(row: Mapping[str, Any]) -> str:
    """Names the file in the folder that holds an upload's trace."""
    size = format_size(row["size_bytes"])
    return f"traces/{row['target']}-{size}-{row['number']}-{row['cc']}.parquet"


class Journal:
    """Keeps a campaign on disk."""

    def __init__(self, plan: Plan, folder: Folder, resume: bool) -> None:
        self.done: dict[Key, Row] = {}
        file = folder.path / _JOURNAL
        self._check(plan, folder, resume)
        if file.exists():
            self._read(file)
        self._file: IO[bytes] = file.open("ab", buffering=0)

    def _check(self, plan: Plan, folder: Folder, resume: bool) -> None:
        differs = "holds another campaign, expected the same plan or a new folder"
        if not folder.holds("campaign", _STATE, plan.settings(), resume=resume, differs=differs):
            folder.manifest({"plan": plan.settings()}, complete=False)
            folder.json(_STATE, plan.settings())

    def _read(self, file: Path) -> None:
        whole = file.read_bytes()
        kept = whole[: whole.rfind(b"\n") + 1]
        if len(kept) < len(whole):  # the last line was cut off: that upload is done again
            file.write_bytes(kept)
        for line in kept.splitlines():
            row = json.loads(line)
            if "error" not in row:
                row = {k: math.nan if v is None else v for k, v in row.items()}
                self.done[_key(row)] = row

    def add(self, row: Row) -> None:
        """Writes an upload that ended or, with `error`, failed; it is on disk when this returns."""
        plain = {key: None if value != value else value for key, value in row.items()}
        try:
            self._file.write((json.dumps(plain) + "\n").encode())
        except OSError as error:
            problem = f"{_JOURNAL}: can't be written: {error.strerror or error}"
            raise RunError(f"{problem}; --resume goes on") from None
        if "error" not in row:
            self.done[_key(row)] = row

    def frame(self) -> pl.DataFrame:
        """Returns every upload as a row, in order of sessions and turns."""
        rows = list(self.done.values())
        return pl.DataFrame(rows, infer_schema_length=None) if rows else pl.DataFrame()

    def close(self) -> None:
        """Closes the journal."""
        self._file.close()


def _key(row: Mapping[str, Any]) -> Key:
    return row["target"], row["size_bytes"], row["number"], row["cc"]


class _Campaign:
    """Does upload after upload, and tries again what failed."""

    def __init__(self, plan: Plan, journal: Journal, folder: Folder) -> None:
        self._plan, self._journal, self._folder = plan, journal, folder
        self.away: dict[str, str] = {}

    def carry_out(self, todo: list[Turn]) -> Iterator[Turn]:
        """Yields each turn when it was done or left out."""
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
                self._journal.add(
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
            self._journal.add(row)
            return
        self.away[turn.target.name] = problem
