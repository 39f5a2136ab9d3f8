# SPDX-License-Identifier: BSD-3-Clause
"""Replays recorded losses on drawn paths.

A steady stream of datagrams was sent through a crowded queue of the simulator. A recording lists
how many packets passed before each loss, and how many were lost in a row: 17+2 means 17 passed and
two lost. Recordings of real networks may be added in the same form.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache

RECORDINGS: Mapping[str, str] = {
    # Eight CUBIC flows compete: 10 Mb/s, 40 ms, 20 packets of queue.
    "crowd": (
        "378 17+2 1 9 11 4 18 7 1 2 16 6 5 27+2 2 54 92 10 28 5 3 16 16 6 26 22 39 28+2 15+4 1 "
        "24 20 4 9 9 8 67 23 27 5 8 1 5 6 32+2 11 14 24 15 3 25 4 4+2 3 5 2 28 45 17 1 10 2+2 2 "
        "27 3 14 4 13 3 6 2 6+2 2+2 88 3 1 3 13 10 19 2 9+2 2 10+2 27+2 2 9 2 20 31 14 40 13 15 "
        "16 2"
    ),
    # Competing transfers of 80 kB on average start every 40 ms: 20 Mb/s, 30 ms, 15 packets.
    "transfers": (
        "3 7 1 23 6 5+2 54+2 9 1 9 8 31 5 2 5 5 1 2 25 4+2 2 4 7 3 8 1 6 13 2 1 3 1 9+3 1 4+4 5 "
        "1 1+3 3 4+4 6 4 11 15+3 6+2 9 5 3 2+2 6 8 2 2 16 4+2 1 1 5+2 4 10 3 4+2 4 8 5 1 6 6+3 "
        "12 15 6 26+2 7 1 8 5 4 17+2 1 6 3 2+2 1+2 9+3 9 9 7 1+2 2 9 2 13 1+2 7 7 6"
    ),
    # Datagrams at 14 Mb/s compete for 60 of every 560 ms: 10 Mb/s, 30 ms, 10 packets.
    "datagrams": (
        "14+4 50+5 25+4 185 33+4 23+2 99+6 58 137 109+6 46+2 304+4 81+2 33+8 85 71 1 44 166 "
        "44+2 13+4 89+2 51 20+2 325+5 58 85+4 23+5 23+2 7+2 83 30+7 50 2 15+2 30+2 240 35+3 "
        "50+5 2+2 56 117+7 66+2 38+2 178+8 5+2 78+2 41+4 159+2 145+2 29+7 3+2 49 90+2 90+6 62 "
        "33 69+7 133 20+3 57 60+2 199 24+6 75 165+2 87+4 20+13 31+2 87+2 216 108 21+2 219+3 50 "
        "29 34+9 47+4 400+2 77+5 95+2 33 55+4 11 32+6 4+6 341+10 97 27+2 55+2 204 69+3 3 96 315 "
        "34+3"
    ),
}


@cache
def runs(recording: str) -> tuple[tuple[int, int], ...]:
    """Returns the runs of passed and lost packets in turn."""
    pairs = (pair_text.split("+") for pair_text in RECORDINGS[recording].split())
    return tuple((int(pair[0]), int(pair[1]) if len(pair) > 1 else 1) for pair in pairs)


def lost_packets(recording: str, rate: float, packets: float, begin: int) -> list[int]:
    """Returns the numbers of the lost packets for this mean rate and number of packets.

    The recording starts at its run `begin` and repeats. Losses in a row stay as recorded; the gaps
    between them are scaled to the wanted rate.
    """
    return list(_numbers(runs(recording), rate, packets, begin))


def _numbers(
    pairs: tuple[tuple[int, int], ...], rate: float, packets: float, begin: int
) -> Iterator[int]:
    lost = sum(pair for _, pair in pairs)
    scale = lost * (1 / rate - 1) / sum(passed for passed, _ in pairs)
    place, packet, due = begin % len(pairs), 0, 0.0
    while packet < packets:
        passed, gone = pairs[place]
        due += passed * scale
        passing = max(1, int(due))
        due -= passing
        yield from range(packet + passing + 1, packet + passing + gone + 1)
        packet += passing + gone
        place = (place + 1) % len(pairs)
