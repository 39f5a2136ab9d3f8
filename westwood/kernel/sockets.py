# SPDX-License-Identifier: BSD-3-Clause
"""Samples this machine's TCP connections of any control: what `ss -ti` shows, as frames."""

from __future__ import annotations

import contextlib
import ipaddress
import math
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import polars as pl

from westwood.errors import InputError
from westwood.kernel import namespaces
from westwood.kernel.namespaces import Namespace
from westwood.kernel.sock_diag import Questions, empty, frame_of

EVERY_S = 0.05
_PIECE = 4 << 20  # bytes of answers to decode together


@dataclass(frozen=True)
class Match:
    """Selects the connections that match every given field.

    port: at either end. cc: names of controls; empty: any.
    """

    port: int | None = None
    local_port: int | None = None
    remote_port: int | None = None
    remote: str | None = None  # address
    cc: tuple[str, ...] = ()

    def ports(self) -> list[tuple[int, int]]:
        """Returns the pairs of local and remote port (0: any) for requests to the kernel."""
        for key in ("port", "local_port", "remote_port"):
            given = getattr(self, key)
            if given is not None and not 1 <= given <= 65535:
                raise InputError("expected a port from 1 to 65535", key=key, value=given)
        if self.remote is not None:
            try:
                ipaddress.ip_address(self.remote)
            except ValueError:
                problem = "expected an address of IPv4 or IPv6"
                raise InputError(problem, key="remote", value=self.remote) from None
        local, remote = self.local_port or 0, self.remote_port or 0
        if self.port is None:
            return [(local, remote)]
        return [(self.port, remote), (local, self.port)]

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """Applies the filters that requests to the kernel can't express."""
        if self.remote is not None:
            frame = frame.filter(remote=str(ipaddress.ip_address(self.remote)))
        if self.local_port is not None:
            frame = frame.filter(local_port=self.local_port)
        if self.remote_port is not None:
            frame = frame.filter(remote_port=self.remote_port)
        if self.cc:
            frame = frame.filter(pl.col("cc").is_in(self.cc))
        return frame


ANY = Match()


def snapshot(match: Match = ANY, netns: str | int | None = None) -> pl.DataFrame:
    """Returns a row per connection, as of now; docs/linux-path.md lists the columns.

    netns: a name in /run/netns or the number of a process; None: our own namespace.
    """
    with namespaces.opened(netns) as chosen, Questions(match.ports(), chosen) as questions:
        return match.of(frame_of([(0.0, questions.ask())], chosen.inode))


@dataclass
class Samples:
    """Holds the samples of `sampling`; read it when its block has ended."""

    start_s: float = field(default_factory=time.monotonic)
    count: int = 0
    _frames: list[pl.DataFrame] = field(default_factory=list)
    _failed: list[BaseException] = field(default_factory=list)

    def frame(self) -> pl.DataFrame:
        """Returns a row per connection and sample; `time_s` counts from `start_s`."""
        return pl.concat(self._frames) if self._frames else empty()


@contextlib.contextmanager
def sampling(
    match: Match = ANY, netns: str | int | None = None, every_s: float = EVERY_S
) -> Iterator[Samples]:
    """Samples the connections during the block, in a separate thread."""
    if not every_s > 0 or math.isinf(every_s):
        raise InputError("expected a time above 0", key="every_s", value=every_s)
    with namespaces.opened(netns) as chosen, Questions(match.ports(), chosen) as questions:
        samples, ended = Samples(), threading.Event()
        work = (samples, questions, match, chosen, every_s, ended)
        thread = threading.Thread(target=_sample, args=work, daemon=True)
        thread.start()
        try:
            yield samples
        finally:
            ended.set()
            thread.join()
    for error in samples._failed:
        raise error


def _sample(
    samples: Samples,
    questions: Questions,
    match: Match,
    chosen: Namespace,
    every_s: float,
    ended: threading.Event,
) -> None:
    answers: list[tuple[float, list[bytes]]] = []
    size = 0

    def keep() -> None:
        nonlocal answers, size
        samples._frames.append(match.of(frame_of(answers, chosen.inode)))
        answers, size = [], 0

    next_s = samples.start_s
    try:
        while True:
            now = time.monotonic()
            answer = questions.ask()
            answers.append((now - samples.start_s, answer))
            samples.count += 1
            size += sum(map(len, answer))
            if size > _PIECE:
                keep()
            next_s = max(next_s + every_s, time.monotonic())
            if ended.wait(next_s - time.monotonic()):
                break
    except BaseException as error:
        samples._failed.append(error)
    keep()
