# SPDX-License-Identifier: BSD-3-Clause
"""Uploads to a server in turn under several controls until a verdict is possible.

Each round has an upload of the same duration by each control. Their order is random and reversed in
the next round, so no control profits from its position. The folder has uploads.jsonl, a line for
each upload as it ends, and traces/. Finished uploads survive any interruption.
"""

from __future__ import annotations

import math
import random
import socket
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

import polars as pl

from westwood.campaign import causes, iperf3, verdict
from westwood.campaign.causes import LOSS_COLUMNS, Causes
from westwood.campaign.iperf3 import MakeSocket, Uploaded
from westwood.campaign.plan import Server
from westwood.campaign.verdict import TrialVerdict
from westwood.control.arguments import check_seed
from westwood.engines import estimates
from westwood.errors import InputError, WestwoodError
from westwood.kernel.recording import Recording
from westwood.results import journal
from westwood.results.columns import Row
from westwood.results.folder import Damaged, Folder
from westwood.results.store import Store
from westwood.results.verdicts import Verdict
from westwood.units import parse_fraction

JOURNAL = "uploads.jsonl"
_GRACE_S = 60.0  # beyond an upload's duration, to connect and to end
_ATTEMPTS, _PAUSE_S = 4, 1.0
_STILL_S = 0.1
# Number of rounds that should fit into --for, and limits of an upload's default duration.
_ROUNDS, _SHORTEST_S, _LONGEST_S = 12, 2.0, 20.0
_LEAST_S, _MOST_S = 0.1, 3600.0  # limits of a chosen duration
_WARM_UP_S = 0.2
_EVERYWHERE = "reno"  # every kernel has it, and everybody may use it


@dataclass(frozen=True)
class TrialPlan:
    """What to compare; the first of the kernel's controls is the baseline."""

    host: str
    port: int
    controls: tuple[str, ...]
    for_s: float
    upload_s: float
    worth: float
    seed: int
    make: MakeSocket = socket.socket

    def settings(self) -> dict[str, Any]:
        """Returns the plan for the manifest."""
        return {
            "host": self.host,
            "port": self.port,
            "cc": list(self.controls),
            "for_s": self.for_s,
            "upload_s": self.upload_s,
            "worth": self.worth,
            "seed": self.seed,
        }


def plan(
    server: Server,
    controls: tuple[str, ...],
    for_s: float,
    upload_s: float | None,
    worth: str,
    seed: int,
) -> TrialPlan:
    """Makes the plan, with uploads short enough for enough pairs; raises InputError if none fit."""
    chosen = upload_s
    if chosen is None:
        chosen = min(max(round(for_s / (_ROUNDS * len(controls)), 1), _SHORTEST_S), _LONGEST_S)
    elif not _LEAST_S <= chosen <= _MOST_S:
        problem = f"expected a time from {_LEAST_S:g}s to {_MOST_S:g}s"
        raise InputError(problem, key="--upload", value=f"{chosen:g}s")
    if not len(controls) * chosen <= for_s < math.inf:
        least = f"expected at least {len(controls) * chosen:g}s, an upload by each control"
        raise InputError(least, key="--for", value=f"{for_s:g}s")
    check_seed(seed)
    try:
        share = parse_fraction(worth)
    except InputError as error:
        raise error.located(key="--worth") from None
    return TrialPlan(server.host, server.port, controls, for_s, chosen, share, seed)


def orders(controls: Sequence[str], seed: int) -> Iterator[tuple[str, ...]]:
    """Yields the order of each round: a random one, then its reverse."""
    draw = random.Random(seed)
    while True:
        drawn = tuple(draw.sample(controls, len(controls)))
        yield drawn
        yield drawn[::-1]


@dataclass
class Trial:
    """Holds the measurements so far."""

    plan: TrialPlan
    rows: list[Row] = field(default_factory=list)
    lost: list[pl.DataFrame] = field(default_factory=list)
    rounds: int = 0  # finished rounds
    round_s: float = 0.0  # duration of the longest round
    problem: str = ""  # why it ended early

    @property
    def frame(self) -> pl.DataFrame:
        """A row for each upload."""
        return pl.DataFrame(self.rows, infer_schema_length=None) if self.rows else pl.DataFrame()

    @property
    def losses(self) -> pl.DataFrame:
        """A row for each loss."""
        return pl.concat([pl.DataFrame(schema=LOSS_COLUMNS), *self.lost])

    def verdicts(self) -> list[TrialVerdict]:
        """Returns the verdict on each control from the finished rounds."""
        pair_s = self.round_s or len(self.plan.controls) * self.plan.upload_s
        return verdict.verdicts(self.frame, self.plan.controls, self.plan.worth, pair_s)

    def causes(self) -> Causes | None:
        """What limited the uploads; None before the first."""
        return causes.causes(self.frame, self.losses) if self.rows else None

    def take(self, record: Mapping[str, Any]) -> None:
        """Adds an upload."""
        self.rows.append(journal.from_json(record))

    def json_rows(self) -> list[Row]:
        """Returns the rows for JSON."""
        return [journal.json_ready(row) for row in self.rows]

    @property
    def is_decided(self) -> bool:
        """Returns whether every verdict is certain."""
        return all(verdict.verdict is not Verdict.CANNOT_TELL for verdict in self.verdicts())


def with_address(plan: TrialPlan) -> TrialPlan:
    """Makes a short upload, which reveals problems of the server before anything changes.

    If a host has several addresses, all uploads go to the one that answered.
    """
    return replace(plan, host=_upload(plan, _EVERYWHERE, _WARM_UP_S).peer)


def run(
    trial: Trial, folder: Folder, about: Mapping[str, Any], tell: Callable[[Trial], object]
) -> None:
    """Runs rounds until the verdict or the end of the time, and calls `tell` after each.

    Ctrl-C is an exception; the trial then holds what was finished.
    """
    folder.manifest(about, complete=False)
    store = Store(folder, trial.take, file=JOURNAL, synced=True)
    store.clear()  # uploads of an earlier comparison
    try:
        with store.opened():
            _rounds(trial, folder, store, tell)
    except WestwoodError as error:
        if not trial.rounds:
            raise
        trial.problem = str(error)


def trace_file(row: Row, kind: str = "traces") -> str:
    """Returns the name of the file with an upload's trace, or its events."""
    return f"{kind}/{row['pair']:03}-{row['cc']}.parquet"


def traces(
    trial: Trial, folder: Folder, pair: int | None = None
) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yields control and trace of every upload, or of one pair; reports damaged ones."""
    for row in trial.rows:
        if pair in (None, row["pair"]):
            try:
                yield row["cc"], folder.read_frame(trace_file(row))
            except Damaged as error:
                folder.tell(f"{error}; it is left out")


def _rounds(trial: Trial, folder: Folder, store: Store, tell: Callable[[Trial], object]) -> None:
    plan, begun = trial.plan, time.monotonic()
    for number, order in enumerate(orders(plan.controls, plan.seed), start=1):
        since = time.monotonic()
        for place, cc in enumerate(order, start=1):
            row, trace, events = _measure(plan, cc)
            row = {"pair": number, "place": place, **row}
            folder.frame(trace_file(row), trace)
            if not events.is_empty():
                folder.frame(trace_file(row, "events"), events)
            store.keep(journal.json_ready(row))
            pair_columns = pl.lit(number, pl.Int64).alias("pair"), pl.lit(cc).alias("cc")
            lost = causes.losses(trace, events)
            trial.lost.append(lost.select(*pair_columns, "time_s", "rtt_s"))
        trial.rounds = number
        trial.round_s = max(trial.round_s, time.monotonic() - since)
        tell(trial)
        left_s = plan.for_s - (time.monotonic() - begun)
        if trial.is_decided or left_s < trial.round_s:
            return


def _upload(plan: TrialPlan, cc: str, seconds: float) -> Uploaded:
    load = iperf3.Load(seconds=seconds)
    timeout_s = seconds + _GRACE_S
    return iperf3.upload(plan.host, plan.port, cc, load, timeout_s, plan.make, more=True)


def _patiently(plan: TrialPlan, cc: str) -> tuple[Uploaded, Recording]:
    """Uploads, and retries after a failure: a broken connection keeps a server busy for a while.

    It also repeats an upload during which this machine stalled.
    """
    repeated = False
    for attempt in range(_ATTEMPTS):
        try:
            with estimates.recording_of([cc], plan.port, any_control=True) as recording:
                done = _upload(plan, cc, plan.upload_s)
        except iperf3.ConnectionLost:
            if attempt == _ATTEMPTS - 1:
                raise
            time.sleep(_PAUSE_S * 2**attempt)
            continue
        if repeated or done.stood_still_s <= _STILL_S:
            break
        repeated = True
    return done, recording


def _measure(plan: TrialPlan, cc: str) -> tuple[Row, pl.DataFrame, pl.DataFrame]:
    """Returns the row, the trace and the events; there are none if recording is not permitted."""
    begun = datetime.now(UTC).isoformat(timespec="seconds")
    done, recording = _patiently(plan, cc)
    known = recording, done.ends, done.established_s
    trace, events = estimates.with_estimates(done.trace, *known), estimates.of_connection(*known)
    return (
        {
            "cc": cc,
            "begun": begun,
            "goodput_bps": 8 * done.acked / done.seconds,
            "seconds": done.seconds,
            "acked_bytes": done.acked,
            "sent": done.sent,
            "retransmitted": done.retransmitted,
            "retransmission_ratio": done.retransmitted / done.sent if done.sent else math.nan,
            "timeouts": causes.timeouts(trace, events),
            "losses": causes.losses(trace, events).height,
            "mean_cwnd": done.mean_cwnd,
            "mean_srtt_s": done.mean_srtt_s,
            "min_rtt_s": done.min_rtt_s,
            "full_rtt_s": causes.full_rtt_s(trace),
            "mss": done.mss,
            "busy_s": done.busy_s,
            "rwnd_limited_s": done.rwnd_limited_s,
            "sndbuf_limited_s": done.sndbuf_limited_s,
            "stood_still_s": done.stood_still_s,
        },
        trace,
        events,
    )
