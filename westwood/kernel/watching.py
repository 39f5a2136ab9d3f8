# SPDX-License-Identifier: BSD-3-Clause
"""Takes repeated snapshots of all connections, with their goodput in between.

docs/linux-path.md, "Watch", describes the output.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Generator, Iterable

import polars as pl

from westwood.errors import InputError, UnavailableError
from westwood.kernel import estimates, namespaces
from westwood.kernel.namespaces import Namespace
from westwood.kernel.sock_diag import Questions, empty, frame_of
from westwood.kernel.sockets import Match

_KEY = ("netns", "cookie")
# The sort orders and their columns; the largest comes first.
SORTS = {
    "goodput": "goodput_bps",
    "cwnd": "cwnd",
    "rtt": "srtt_s",
    "retransmitted": "retransmitted",
    "sent": "delivered_bytes",
}


class Watch:
    """Holds a socket in each watched namespace, and the previous snapshot."""

    def __init__(self, match: Match, netns: str | None) -> None:
        self._match, self._netns, self._ports = match, netns, match.ports()
        self._places: dict[int, tuple[Namespace, Questions, contextlib.ExitStack]] = {}
        self._before: pl.DataFrame | None = None
        self._before_s = 0.0
        self.missed = 0  # namespaces that we may not enter

    def __enter__(self) -> Watch:
        try:
            self._find()
        except BaseException:
            self._leave(self._places)
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._leave(self._places)

    def _leave(self, inodes: Iterable[int]) -> None:
        for inode in list(inodes):
            self._places.pop(inode)[-1].close()

    def _find(self) -> None:
        """Opens new namespaces, and closes those that nobody else uses any more."""
        if self._netns is not None:
            if not self._places:
                self._open(self._netns)
            return
        self.missed = 0
        name_of_inode = namespaces.everywhere()
        self._leave(self._places.keys() - name_of_inode.keys())
        for inode, name in name_of_inode.items():
            if inode in self._places:
                continue
            try:
                self._open(name)
            except UnavailableError:
                self.missed += 1
            except InputError:
                pass  # it has just ended

    def _open(self, name: str | None) -> None:
        with contextlib.ExitStack() as opened:
            where = opened.enter_context(namespaces.opened(name))
            questions = opened.enter_context(Questions(self._ports, where))
            self._places[where.inode] = where, questions, opened.pop_all()

    def snapshot(self) -> pl.DataFrame:
        """Returns a row per connection: a snapshot with `goodput_bps` since the previous one.

        The goodput of a new connection is NaN.
        """
        self._find()
        now_s = time.monotonic()
        frames = [
            frame_of([(now_s, questions.ask())], where.inode)
            for where, questions, _ in self._places.values()
        ]
        seen = self._match.of(pl.concat(frames)) if frames else empty()
        before, self._before = self._before, seen.select(*_KEY, "delivered_bytes")
        passed_s, self._before_s = now_s - self._before_s, now_s
        if before is None:
            return seen.with_columns(pl.lit(float("nan")).alias("goodput_bps"))
        gained = (pl.col("delivered_bytes") - pl.col("delivered_bytes_right")) * 8 / passed_s
        joined = seen.join(before, on=_KEY, how="left", maintain_order="left")
        named = joined.with_columns(gained.fill_null(float("nan")).alias("goodput_bps"))
        return named.drop("delivered_bytes_right")


def snapshots(
    match: Match, netns: str | None, every_s: float, *, estimate: bool = False
) -> Generator[tuple[pl.DataFrame, int], None, None]:
    """Yields a snapshot every `every_s` seconds, and the number of inaccessible namespaces.

    estimate: also our controls' estimates, by a recorder.
    """
    with contextlib.ExitStack() as stack:
        watch = stack.enter_context(Watch(match, netns))
        follower = stack.enter_context(estimates.followed(match.port)) if estimate else None
        watch.snapshot()
        next_s = time.monotonic()
        while True:
            next_s = max(next_s + every_s, time.monotonic())
            time.sleep(max(0, next_s - time.monotonic()))
            seen = watch.snapshot()
            yield follower.added_to(seen) if follower else seen, watch.missed


def check_sort(sort: str) -> None:
    """Raises InputError unless `sort` is one of SORTS."""
    if sort not in SORTS:
        raise InputError(f"expected one of {', '.join(SORTS)}", key="--sort", value=sort)


def ordered(seen: pl.DataFrame, sort: str) -> pl.DataFrame:
    """Returns the rows sorted by one of SORTS, unknown values last."""
    column = pl.col(SORTS[sort]).cast(pl.Float64).fill_nan(None)
    return seen.sort(column, "flow", descending=[True, False], nulls_last=True)
