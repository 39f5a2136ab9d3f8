# SPDX-License-Identifier: BSD-3-Clause
"""Computes queue lengths over time. docs/traces.md lists the columns and units."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from westwood.control.catalogue import QUEUE_COLUMNS
from westwood.results.raw import Columns, RawResult
from westwood.results.traces import SIDES

if TYPE_CHECKING:
    from westwood.scenario import Scenario


def lengths(scenario: Scenario, raw: RawResult) -> Iterator[pl.DataFrame]:
    """Yields frames with link, direction, time_s, packets, bytes: the queue from that time on."""
    links = [link.name for link in scenario.link]
    channel, waiting = -1, _Waiting()
    for columns in raw.records.pieces("queues"):
        edges = np.flatnonzero(np.diff(columns["channel"])) + 1
        for first, last in itertools.pairwise([0, *edges.tolist(), len(columns["channel"])]):
            piece_channel = int(columns["channel"][first]) if last else -1
            if piece_channel != channel:
                yield _placed(waiting.rest(), links, channel)
                channel, waiting = piece_channel, _Waiting()
            part = {name: columns[name][first:last] for name in QUEUE_COLUMNS}
            yield _placed(waiting.lengths(part), links, channel)
    yield _placed(waiting.rest(), links, channel)


def _placed(lengths: pl.DataFrame, links: Sequence[str], channel: int) -> pl.DataFrame:
    """Adds the queue's link and direction."""
    link, side = links[channel // 2], SIDES[channel % 2]
    return lengths.select(pl.lit(link).alias("link"), pl.lit(side).alias("direction"), pl.all())


class _Waiting:
    """Counts a queue's packets: up at each arrival, down when a packet starts to be sent.

    At the same instant, starts come first. Changes after the last arrival are kept until the next
    rows, which may precede them.
    """

    def __init__(self) -> None:
        self._time = np.array([], dtype=np.float64)
        self._change = np.array([], dtype=np.int64)  # bytes; negative when a packet leaves
        self._packets = self._bytes = 0

    def lengths(self, waited: Columns) -> pl.DataFrame:
        """Adds packets, in order of arrival; returns the lengths until the last arrival."""
        size = waited["bytes"].astype(np.int64)
        is_later = self._change > 0  # kept arrivals go after all starts
        self._time = np.concatenate(
            [self._time[~is_later], waited["start_s"], self._time[is_later], waited["arrival_s"]]
        )
        self._change = np.concatenate(
            [self._change[~is_later], -size, self._change[is_later], size]
        )
        return self._until(waited["arrival_s"][-1] if len(size) else -math.inf)

    def rest(self) -> pl.DataFrame:
        """Returns the lengths after the last arrival."""
        return self._until(math.inf)

    def _until(self, end_s: float) -> pl.DataFrame:
        order = np.argsort(self._time, kind="stable")
        time, change = self._time[order], self._change[order]
        done = int(np.searchsorted(time, end_s))
        self._time, self._change = time[done:], change[done:]
        change = change[:done]
        frame = pl.DataFrame(
            {
                "time_s": time[:done],
                "packets": self._packets + np.sign(change).cumsum(),
                "bytes": self._bytes + change.cumsum(),
            }
        )
        if done:
            self._packets, self._bytes = frame["packets"][-1], frame["bytes"][-1]
        return frame.unique("time_s", keep="last", maintain_order=True)
