# SPDX-License-Identifier: BSD-3-Clause
"""Summarises recorded and simulated uploads in a few numbers that depend on the path.

For an upload over a path of rate R, base round trip T, queue Q and loss p, with e(t) the smoothed
round trip minus the smallest one:

    goodput                          of the whole upload
    windowed rates                   at most R; R where the link was full
    quantiles of e                   at most 8 Q / R; near it where the queue filled
    e when losses are noticed        high if the queue dropped, anywhere if the wire did
    segments before the first loss   how far slow start came: R T + Q, or 1 / p
    retransmissions and episodes     of all, and of what was sent while e was low: p

An episode is a group of losses less than one and a half round trips apart, which a sender repairs
together. Numbers that span decades are logarithms. Shares are square roots, which give Poisson
shares equal variance (Bartlett 1936).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from westwood.campaign.fit.recordings import Upload

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_STEPS_S = (0.01, 0.1)  # smallest and largest interval of samples
_WINDOW_RTTS, _WINDOW_S, _WINDOW_SEGMENTS = 4, 0.8, 150  # minimum window for measuring a rate
_EPISODE_RTTS = 1.5
_FLOOR_S = 0.0005  # error of a round trip from clocks, schedulers and delayed ACKs
_FLOOR = 0.02  # share of the smallest round trip
_WAITING = 4.0  # packets: fewer wait when a burst meets an idle link
_WAITS = 0.05  # share of the smallest round trip
# Times from a loss to its acknowledgment, and to its detection.
_REPAIR_RTTS, _NOTICED_RTTS = 1.3, 0.15
_NOTHING = 1000.0  # bit/s: its logarithm stands for that of a rate of 0
# The numbers of an upload in the order of `summarise`: the simulator's error against the kernel as
# a logarithm (None: a share, by _SHARE_ERROR), and whether the path limits the number.
_NUMBERS: tuple[tuple[str, float | None, bool], ...] = (
    ("goodput", 0.1, False),
    ("rate, lower quartile", 0.15, False),
    ("rate, median", 0.1, False),
    ("rate, upper quartile", 0.05, False),
    ("rate, 0.95 quantile", 0.01, True),
    ("wait, 0.1 quantile", 0.4, False),
    ("wait, median", 0.25, False),
    ("wait, 0.9 quantile", 0.2, False),
    ("wait, 0.99 quantile", 0.05, True),
    ("wait at losses, mean", 0.25, False),
    ("wait at losses, most", 0.1, True),
    ("segments before the first loss", 0.2, False),
    ("losses an episode", 10.0, False),  # compared, but not fitted
    ("share of losses", None, False),
    ("share of episodes", None, False),
    ("share of low episodes", None, False),
)
WIDTH = len(_NUMBERS)
GOODPUT, BURST = 0, 12  # indices in _NUMBERS
_IS_LIMIT = np.array([limit for *_, limit in _NUMBERS])
_IS_SHARE = np.array([miss is None for _, miss, _ in _NUMBERS])
_ERRORS = np.array([miss or 0.0 for _, miss, _ in _NUMBERS])
_SHARE_ERROR = 0.2


@dataclass(frozen=True)
class Measure:
    """How to sample uploads over one path, both recorded and simulated ones."""

    step_s: float  # interval between two samples
    base_s: float  # the smallest round trip
    window_s: float  # window for measuring a rate
    low_s: float  # below this excess the queue was not full

    @classmethod
    def of(cls, uploads: Sequence[Upload]) -> Measure:
        """Chooses the sampling for the recorded uploads."""
        step_s = float(np.clip(max(upload.step_s for upload in uploads), *_STEPS_S))
        base_s = min(upload.rtt_min_s for upload in uploads)
        usual_s = float(np.median([np.median(upload.srtt_s) for upload in uploads]))
        longest_s = min(upload.seconds for upload in uploads) / 4
        segment_s = max(upload.seconds / upload.delivered[-1] for upload in uploads)
        wanted_s = max(_WINDOW_RTTS * usual_s, _WINDOW_S, _WINDOW_SEGMENTS * segment_s)
        window_s = min(wanted_s, longest_s)
        highest_s = max(float(upload.srtt_s.max()) for upload in uploads) - base_s
        return cls(step_s, base_s, max(window_s, 2 * step_s), highest_s / 2)

    @property
    def floor_s(self) -> float:
        """An excess below this does not count as a queue."""
        return max(_FLOOR_S, _FLOOR * self.base_s)


def excess(upload: Upload, measure: Measure) -> Numbers:
    """Returns the excess of the smoothed round trip over the smallest one, in s."""
    return np.maximum(upload.srtt_s - measure.base_s, 0.0)


@dataclass(frozen=True)
class Windows:
    """What was acknowledged in windows that end at each sample."""

    bps: Numbers  # payload rate
    least_s: Numbers  # the smallest excess in each
    sound: bool  # no repair is in progress at its start or end

    @classmethod
    def of(cls, upload: Upload, measure: Measure) -> Windows:
        """Takes the windows that begin and end without a repair in progress.

        A repair acknowledges old data at once. If no window is left, it takes all windows of a
        quarter of the upload, where that matters least.
        """
        count, e = len(upload.delivered), excess(upload, measure)
        steps = min(max(round(measure.window_s / measure.step_s), 1), count - 1)
        sound = _unrepaired(upload)
        chosen = sound[steps:] & sound[:-steps]
        is_sound = bool(chosen.any())
        if not is_sound:
            steps = max(count // 4, 1)
            chosen = np.ones(count - steps, dtype=bool)
        segments = upload.delivered[steps:] - upload.delivered[:-steps]
        bps = segments * upload.mss * 8 / (steps * measure.step_s)
        least_s = sliding_window_view(e, steps + 1).min(axis=1)
        return cls(bps[chosen], least_s[chosen], is_sound)

    def full(self, packet_bits: float, base_s: float) -> Numbers:
        """Returns the rates where packets waited all the time: by Little's law, rate times wait."""
        waited = self.bps * self.least_s > _WAITING * packet_bits
        rates: Numbers = self.bps[waited & (self.least_s > _WAITS * base_s)]
        return rates


def _unrepaired(upload: Upload) -> NDArray[np.bool_]:
    """Marks the samples without a retransmission within the last round trip."""
    times, again = upload.time_s, upload.retransmitted
    since = np.searchsorted(times, times - _REPAIR_RTTS * upload.srtt_s)
    until = np.searchsorted(times, times + _NOTICED_RTTS * upload.srtt_s)
    sound: NDArray[np.bool_] = again[np.minimum(until, len(again) - 1)] == again[since]
    return sound


@dataclass(frozen=True)
class Episodes:
    """The losses: where each episode began, and how many losses it had."""

    starts: NDArray[np.int64]  # indices of samples
    losses: Numbers

    @classmethod
    def of(cls, upload: Upload, measure: Measure) -> Episodes:
        """Groups an upload's retransmissions into episodes."""
        new = np.diff(upload.retransmitted, prepend=0.0)
        places = np.flatnonzero(new > 0)
        apart = np.diff(upload.time_s[places], prepend=-math.inf)
        is_start = apart > _EPISODE_RTTS * upload.srtt_s[places] + measure.step_s
        of_episode = np.cumsum(is_start) - 1
        return cls(places[is_start], np.bincount(of_episode, new[places]).astype(float))


@dataclass(frozen=True)
class LowLosses:
    """Counts losses while the queue was not full, after the first episode.

    The first may be slow start's overflow, which comes before the smoothed round trip has risen.
    """

    segments: float  # segments acknowledged meanwhile
    episodes: float
    losses: float

    @classmethod
    def of(cls, upload: Upload, measure: Measure) -> LowLosses:
        """Counts them."""
        low = excess(upload, measure) < measure.low_s
        episodes = Episodes.of(upload, measure)
        if episodes.starts.size:
            low[: episodes.starts[0] + 1] = False
        is_low = low[episodes.starts]
        segments = float(np.diff(upload.delivered, prepend=0.0)[low].sum())
        return cls(segments, float(is_low.sum()), float(episodes.losses[is_low].sum()))


def summarise(upload: Upload, measure: Measure) -> Numbers:
    """Returns the numbers of one upload that was sampled every `measure.step_s`."""
    e, floor_s = excess(upload, measure), measure.floor_s
    segments = max(float(upload.delivered[-1]), 1.0)
    goodput_bps = segments * upload.mss * 8 / max(upload.seconds, measure.step_s)
    rates = np.quantile(Windows.of(upload, measure).bps, (0.25, 0.5, 0.75, 0.95))
    starts = Episodes.of(upload, measure).starts
    at_loss = e[starts] if starts.size else np.array([e.max()])
    first = upload.delivered[starts[0]] if starts.size else segments
    low = LowLosses.of(upload, measure)
    shares = (
        upload.retransmitted[-1] / max(float(upload.sent[-1]), 1.0),
        starts.size / segments,
        low.episodes / max(low.segments, 1.0),
    )
    return np.concatenate(
        [
            np.log(np.array([goodput_bps, *rates]) + _NOTHING),
            np.log(np.quantile(e, (0.1, 0.5, 0.9, 0.99)) + floor_s),
            np.log(np.array([at_loss.mean(), at_loss.max()]) + floor_s),
            np.log([first + 1.0, max(low.losses / max(low.episodes, 1.0), 1.0)]),
            np.sqrt(shares),
        ]
    )


def of_controls(numbers: Sequence[Numbers], controls: Sequence[str]) -> Numbers:
    """Returns the numbers of each control's uploads, one control after the other by name.

    They are means, except for numbers that the path limits: one upload at the limit shows it.
    """
    rows = np.stack(numbers)
    rows_of_controls = []
    for cc in sorted(set(controls)):
        control_rows = rows[[control == cc for control in controls]]
        rows_of_controls.append(
            np.where(_IS_LIMIT, control_rows.max(axis=0), control_rows.mean(axis=0))
        )
    return np.concatenate(rows_of_controls)


def error(numbers: Numbers) -> Numbers:
    """Returns how far a simulation of the exact path may miss these numbers.

    docs/kernel-comparison.md compares the simulator with the kernel: goodputs differ by a few per
    cent, round trips by up to ten, retransmissions by a factor.
    """
    rows = numbers.reshape(-1, WIDTH)
    return np.where(_IS_SHARE, _SHARE_ERROR * rows, _ERRORS).ravel()
