# SPDX-License-Identifier: BSD-3-Clause
"""Declares C4's trials of live media: frames that must arrive in time, on average and at worst.

Two layers of video share a connection. The lower one is judged, as in the specifications. Delays
count from the time at which a client asks for a frame, so they include the request's trip.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from westwood.evaluation.benchmark.targets import of_role
from westwood.evaluation.c4_paths import BAD_WIFI, DRAFT, DRAWS, FADE, SUSPENSION, Trial
from westwood.evaluation.c4_published import PUBLISHED_MEDIA
from westwood.evaluation.criterion import Criterion, Making, Point, Threshold
from westwood.evaluation.measures import ALONE
from westwood.results.columns import Row

_NOTE = (
    "The audio, 80 bytes every 20 ms, is left out, because segments are full here. The layers "
    "share one stream of bytes, so a loss delays both; in QUIC it delays its own stream."
)
# 1250 bytes of payload: frames consist of whole segments.
_PACKET = "1302B"
_APP = {
    "kind": "media",
    "interval": "33333us",
    "frame": "3750B",
    "key": "37500B",
    "group": 30,
    "upper": "6250B",
    "upper_key": "62500B",
    "patience": "250ms",
}
_ENDLESS_MB = 1000.0
_FRAMES_S = 30


@dataclass(frozen=True)
class Media:
    """A specification: a path, and the average and largest delay of a frame."""

    name: str
    says: str
    mean_s: float
    most_s: float
    path: Mapping[str, Any]  # of a Trial
    seconds: float = 5
    warm_up_s: float = 0.2
    request_ms: float = 0  # one way, when the measured frames are asked for; 0: the path's delay

    @property
    def trial(self) -> Trial:
        """Returns the trial without its times."""
        app = {**_APP, "warm_up": f"{self.warm_up_s:g}s"}
        last_s = self.seconds - 0.5 / _FRAMES_S  # between the last frame and the next
        flow = {"app": app, "packet": _PACKET, "stop": f"{last_s:.6f}s"}
        return Trial(
            self.name, self.says, _ENDLESS_MB, self.mean_s, queue_ms=100, flow=flow, **self.path
        )

    @property
    def request_s(self) -> float:
        """Returns how long the request for a frame travels."""
        return (self.request_ms or float(self.path["delay_ms"])) / 1e3


TRIALS = (
    Media("media", "Live media at 100 Mb/s, 30 ms", 0.031, 0.079, {"mbps": 100, "delay_ms": 15}),
    Media("media10", "Live media at 10 Mb/s, 40 ms", 0.047, 0.16, {"mbps": 10, "delay_ms": 20}),
    Media(
        "media-600fr",
        "Live media at 100 Mb/s, 30 ms, for 20 s",
        0.033,
        0.08,
        {"mbps": 100, "delay_ms": 15},
        20,
    ),
    Media(
        "media-short-long",
        "Live media while 30 ms become 100 after 1 s",
        0.11,
        0.12,
        {"mbps": 100, "delay_ms": 15, "link": {"reroute": {"at": ["1s"], "delay": ["50ms"]}}},
        10,
        5,
        50,
    ),
    Media(
        "media-wb",
        "Live media over bad Wi-Fi",
        0.105,
        0.41,
        {"mbps": 20, "delay_ms": 1, "link": BAD_WIFI},
    ),
    Media(
        "media-wf",
        "Live media over Wi-Fi that fades from 1 s to 3 s",
        0.11,
        0.35,
        {"mbps": 20, "delay_ms": 20, "rates": ((1, 20), (2, 18), (60, 20)), "wifi_means_ms": FADE},
    ),
    Media(
        "media-ws",
        "Live media over Wi-Fi that pauses 0.2 s every 2 s",
        0.0236,
        0.202,
        {"mbps": 20, "delay_ms": 5, "rates": SUSPENSION, "recurs": True},
    ),
)


def names(media: Media) -> tuple[str, str]:
    """Returns the names of the criteria of the average and of the largest delay."""
    return f"c4-{media.name}", f"c4-{media.name}-most"


def _points(media: Media) -> list[Point]:
    def runs(draw: int) -> Making:
        return lambda control: {ALONE: media.trial.scenario(control, draw)}

    draws = DRAWS if media.trial.wifi_means_ms else 1
    return [
        Point(f"draw {draw + 1}" if draws > 1 else media.name, runs(draw), draw == 0)
        for draw in range(draws)
    ]


def _delay(media: Media, column: str) -> Callable[[Sequence[Row]], float]:
    """Returns a function that gives the frames' delay; inf if they stop arriving.

    Frames that were due less than the largest delay before the end may be on their way.
    """
    on_their_way = math.ceil(media.most_s * _FRAMES_S)

    def delay(rows: Sequence[Row]) -> float:
        (row,) = of_role(rows, "tcp")
        has_arrived = row["completed"] > 0 and row["transfers"] - row["completed"] <= on_their_way
        return float(row[column]) if has_arrived else math.inf

    return delay


def _criteria(media: Media) -> tuple[Criterion, Criterion]:
    def criterion(name: str, what: str, column: str, within_s: float) -> Criterion:
        delay_s = _delay(media, column)
        return Criterion(
            name,
            f"{media.says}: {what} delay of a frame",
            f"{DRAFT}, c4_{media.name.replace('-', '_')}",
            _points(media),
            lambda runs: delay_s(runs[ALONE]) + media.request_s,
            Threshold(within_s, DRAFT, at_most=True),
            "s",
            is_worst=True,
            axis="trial",
            note=_NOTE,
            published=PUBLISHED_MEDIA.get(name, {}),
        )

    mean, most = names(media)
    return (
        criterion(mean, "average", "completion_s", media.mean_s),
        criterion(most, "largest", "completion_max_s", media.most_s),
    )


CRITERIA = tuple(criterion for trial in TRIALS for criterion in _criteria(trial))
