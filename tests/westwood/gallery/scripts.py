# SPDX-License-Identifier: BSD-3-Clause
"""The ACKs and losses that ns3_windows.cc has: an ACK of 1000 bytes each millisecond."""

from collections.abc import Iterator, Mapping
from typing import Protocol

from .driven import Ack, Seen, driven
from .models import Window

FLIGHT, ACKS, MS = 200, 20000, 1000
RTT_MS, QUEUE_MS = 90, (0, 2, 5, 10, 20, 35, 50, 20, 5, 1)
LOSSES = (4000, 9000, 15000)


class Model(Protocol):
    """Describes a control in floating point."""

    window: Window

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        """Takes an ACK for one segment."""

    def loss(self):
        """Takes a loss."""


def _rtts_us() -> Iterator[int]:
    for i in range(ACKS):
        yield MS * (RTT_MS + QUEUE_MS[i // FLIGHT % len(QUEUE_MS)])


def of_model(model: Model) -> list[int]:
    """Returns the windows of a model after each ACK."""
    windows = []
    for i, rtt_us in enumerate(_rtts_us(), 1):
        model.ack(rtt_us, (i - 1) % FLIGHT == 0)
        if i in LOSSES:
            model.loss()
        windows.append(model.window.cwnd)
    return windows


def of_control(
    name: str,
    cwnd: int,
    *,
    ssthresh: int = 2,
    parameters: Mapping[int, int] | None = None,
    reduce: str = "loss",
) -> list[Seen]:
    """Returns what a control sets after each ACK; `reduce` is what happens instead of a loss."""
    calls: list[Ack | str] = []
    for i, rtt_us in enumerate(_rtts_us(), 1):
        is_marked = (i - 1) // FLIGHT % 4 == 1 and i % 2 == 0
        calls.append(Ack(i * MS, rtt_us, flight=FLIGHT, marked=int(is_marked)))
        if i in LOSSES:
            calls.append(f"{reduce} {i * MS}")
    seen = driven(name, calls, cwnd=cwnd, ssthresh=ssthresh, parameters=parameters)
    followed = [place for place, call in enumerate(calls) if isinstance(call, str)]
    return [step for place, step in enumerate(seen) if place + 1 not in followed]
