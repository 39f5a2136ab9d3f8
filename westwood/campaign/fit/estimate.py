# SPDX-License-Identifier: BSD-3-Clause
"""Estimates a path from uploads: where the parameters can lie, what is likely, what is unknown."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from westwood.campaign.fit import inference, summary
from westwood.campaign.fit.inference import Posterior
from westwood.campaign.fit.path import Packets, Path
from westwood.campaign.fit.recordings import Upload
from westwood.campaign.fit.replay import Replay
from westwood.campaign.fit.summary import LowLosses, Measure, Windows
from westwood.errors import InputError
from westwood.results import intervals as estimates

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Numbers = NDArray[np.float64]

_DRAWS, _ROUNDS, _KEEP = 160, 3, 0.25
_FASTEST = 0.98  # quantile of the rates, since bunched ACKs inflate the highest
_LEVEL = 0.15  # share of the windows near the fastest that indicates a rate limit
_BESIDE = 0.06  # how far a window's rate may differ from the link's
_FULL = 5  # windows that show a full link
_SEEN = 0.02  # how far their median may differ from the link's rate
_INTERVAL = (0.025, 0.975)
_TOLD = 4.0  # ratio of an interval's ends; a wider interval is only a bound
_CLOCK_S = 0.0005  # how much machines and schedulers lengthen a round trip
_NONE = 0.1  # losses among all segments that count as none
_RATE_ERROR, _QUEUE_ERROR = 0.015, 0.05  # smallest relative half widths: the simulator's own errors
_MANY = 10  # losses needed to tell whether they come in bursts
_LIMITED = 0.3  # share of the time
_EPISODES = 3  # episodes away from a full queue that it takes to show loss of the wire
_NORMAL = 1.959964  # quantile of the normal distribution
_CHECKS = 8  # repetitions of the uploads over the fitted path
_BURST = 2.0  # losses per episode, over those of independent losses
# Differences of goodput beyond chance: relative, and in standard deviations.
_ODD, _ODD_SDS = 0.25, 3.0
RATE, QUEUE, LOSS = range(3)


@dataclass(frozen=True)
class Estimate(estimates.Estimate):
    """A value with its 95 % interval, or only a bound."""

    bound: str = ""  # "at least" or "at most" if the value is a bound

    def widened(self, share: float) -> Estimate:
        """Returns the estimate with an interval of at least this half width."""
        low, high = self.value * (1 - share), self.value * (1 + share)
        return Estimate(self.value, min(self.low, low), max(self.high, high), self.bound)

    def covers(self, truth: float) -> bool:
        """Returns whether a value is in the interval, or on the right side of the bound."""
        return (self.bound == "at least" or truth <= self.high) and (
            self.bound == "at most" or truth >= self.low
        )


@dataclass(frozen=True)
class Goodput:
    """Compares a control's recorded uploads with their repetitions over the fitted path."""

    recorded_bps: float
    fitted_bps: float
    sd_bps: float  # standard deviation of a repetition

    @property
    def is_odd(self) -> bool:
        """Returns whether they differ by more than chance and the simulator's error."""
        differs = abs(self.recorded_bps - self.fitted_bps)
        return differs > max(_ODD * self.fitted_bps, _ODD_SDS * self.sd_bps)


@dataclass(frozen=True)
class Fit:
    """The fitted path and the quality of the fit."""

    path: Path
    packets: Packets
    controls: tuple[str, ...]
    uploads: int
    seconds: float  # mean duration of an upload
    rate_bps: Estimate
    delay_s: Estimate
    queue: Estimate  # packets
    loss: Estimate
    burst: float  # losses per burst outside a full queue, relative to independent losses
    goodput_bps: Mapping[str, Goodput]  # comparison by control
    full: bool  # whether the link was seen full

    @property
    def doubts(self) -> list[str]:
        """Returns what the path did that the model cannot explain."""
        sentences = []
        for cc, rate in self.goodput_bps.items():
            if rate.is_odd:
                sentences.append(
                    f"the fit gives {cc} {rate.fitted_bps / 1e6:.3g} Mb/s, but "
                    f"{rate.recorded_bps / 1e6:.3g} were recorded: other traffic, or a rate or "
                    "loss that changes"
                )
        if self.burst > _BURST:
            sentences.append(
                f"{self.burst:.1f} times as many losses come together as by chance, so the path "
                "fades; the scenario's losses are independent, which all engines support"
            )
        return sentences


def fit(uploads: Sequence[Upload], *, seed: int = 1, draws: int = _DRAWS) -> Fit:
    """Fits a path to one host's uploads; the same uploads and seed give the same fit.

    draws: paths to try in each round. Raises InputError if the uploads don't show what limits them.
    """
    if not uploads:
        raise InputError("no upload to fit a path to")
    limited = float(np.mean([upload.limited for upload in uploads]))
    if limited > _LIMITED:
        raise InputError(
            "the receiver's window or the sender's buffer, not the path, limited the uploads for "
            f"{limited:.0%} of the time"
        )
    measure = Measure.of(uploads)
    evidence = _Evidence.of(uploads, measure)
    if not evidence.losses and evidence.waiting < 1:
        raise InputError(
            "the path never limited these uploads: there was no loss and no queue, so it can only "
            f"be said to carry at least {evidence.fastest_bps / 1e6:.3g} Mb/s"
        )
    replay = Replay(uploads, measure)
    if not evidence.is_full:
        return _bounded(uploads, measure, evidence, replay)
    posterior = inference.infer(
        replay,
        replay.observed,
        evidence.box(measure),
        summary.error(replay.observed),
        draws=draws,
        rounds=_ROUNDS,
        keep=_KEEP,
        seed=seed,
    )
    return _inferred(uploads, evidence, replay, posterior)


@dataclass(frozen=True)
class _Evidence:
    """What the uploads show without simulation."""

    packets: Packets
    fastest_bps: float  # window, in IP packets
    full_bps: Numbers  # rates of the windows in which the link was full
    level: float  # share of windows near the fastest
    highest_s: float  # largest excess of a round trip over the smallest
    losses: float
    sent: float
    low: LowLosses

    @classmethod
    def of(cls, uploads: Sequence[Upload], measure: Measure) -> _Evidence:
        sampled = [upload.sampled(measure.step_s) for upload in uploads]
        packets = Packets(uploads[0].mss)
        scale = packets.size / packets.mss
        windows = [Windows.of(upload, measure) for upload in sampled]
        rates = scale * np.concatenate([window.bps for window in _sound(windows)])
        # An upload that is always repairing losses has no valid window, but its mean rate counts.
        whole = scale * max(upload.goodput_bps for upload in uploads)
        fastest_bps = max(float(np.quantile(rates, _FASTEST)), whole)
        lows = [LowLosses.of(upload, measure) for upload in sampled]
        losses = sum(float(upload.retransmitted[-1]) for upload in uploads)
        return cls(
            packets,
            fastest_bps,
            scale
            * np.concatenate([window.full(8 * packets.mss, measure.base_s) for window in windows]),
            float(np.mean(rates > fastest_bps * (1 - _BESIDE))),
            max(float(summary.excess(upload, measure).max()) for upload in sampled),
            losses,
            max(sum(float(upload.sent[-1]) for upload in uploads), 1.0),
            LowLosses(
                sum(low.segments for low in lows),
                sum(low.episodes for low in lows),
                sum(low.losses for low in lows),
            ),
        )

    @property
    def is_full(self) -> bool:
        """Returns whether the link was seen full."""
        return self.waits.size >= _FULL or self.level >= _LEVEL

    @property
    def waits(self) -> Numbers:
        """Returns the rates while packets waited."""
        rates: Numbers = self.full_bps[self.full_bps > self.fastest_bps * (1 - _BESIDE)]
        return rates

    @property
    def waiting(self) -> float:
        """Returns the most packets that can have waited."""
        return self.fastest_bps * self.highest_s / (8 * self.packets.size)

    def box(self, measure: Measure) -> Numbers:
        """Returns the ranges of log rate, log queue and the root of the loss."""
        low, high = self.fastest_bps * (1 - 2 * _BESIDE), self.fastest_bps * (1 + 3 * _BESIDE)
        if self.waits.size >= _FULL:
            rate = float(np.median(self.waits))
            low, high = rate * (1 - _SEEN), rate * (1 + _SEEN + self.losses / self.sent)
        bits = 8 * self.packets.size
        pipe, waited = high * measure.base_s / bits, high * self.highest_s / bits
        queues = max(0.35 * waited - 3, 0.7), 3 * waited + 2 * pipe + 10
        loss = min(1.5 * self.losses / self.sent + 5 / self.sent, 0.5)
        box = [
            (math.log(low), math.log(high)),
            tuple(map(math.log, queues)),
            (0.0, math.sqrt(loss)),
        ]
        return np.array(box).T


def _sound(windows: Sequence[Windows]) -> Sequence[Windows]:
    return [window for window in windows if window.sound] or windows


def _inferred(
    uploads: Sequence[Upload], evidence: _Evidence, replay: Replay, posterior: Posterior
) -> Fit:
    """Estimates a link that was full, by simulation."""
    low, middle, high = np.quantile(posterior.draws, (_INTERVAL[0], 0.5, _INTERVAL[1]), axis=0)
    chosen = replay.path(middle)
    rate = _exponential(low[RATE], middle[RATE], high[RATE]).widened(_RATE_ERROR)
    queue = _exponential(low[QUEUE], middle[QUEUE], high[QUEUE]).widened(_QUEUE_ERROR)
    queue = Estimate(chosen.queue, math.floor(queue.low), math.ceil(queue.high))
    if queue.high > _TOLD * queue.low:
        queue = Estimate(queue.value, queue.low, math.inf, "at least")
    loss = _loss(evidence, low[LOSS], middle[LOSS], high[LOSS])
    path = Path(rate.value, chosen.delay_s, chosen.queue, loss.value)
    return _fit(uploads, evidence, replay, path, rate, queue, loss)


def _bounded(
    uploads: Sequence[Upload], measure: Measure, evidence: _Evidence, replay: Replay
) -> Fit:
    """Bounds a link that was not full for long.

    Losses at a high round trip may be a burst's overflow; the others are the wire's.
    """
    fastest_bps = evidence.fastest_bps
    low = evidence.low
    if low.episodes < _EPISODES:
        bound = poisson_interval(low.episodes)[1] / max(low.segments, 1.0)
        loss = Estimate(0.0, 0.0, min(bound, 1.0), "at most")
    else:  # losses repaired together count, but are no independent evidence
        each = low.losses / low.episodes / (low.segments + low.losses)
        least, most = (each * limit for limit in poisson_interval(low.episodes))
        loss = Estimate(each * low.episodes, least, min(most, 1.0))
    rate = Estimate(fastest_bps, fastest_bps * (1 - _BESIDE), math.inf, "at least")
    # A queue for all waiting packets and one pipe more would not have dropped fewer packets.
    pipe = fastest_bps * measure.base_s / (8 * evidence.packets.size)
    waited = max(1.0, math.floor(evidence.waiting / 2))
    queue = Estimate(math.ceil(pipe + evidence.waiting) + 10, waited, math.inf, "at least")
    theta = np.array([math.log(rate.value), math.log(queue.value), math.sqrt(loss.value)])
    return _fit(uploads, evidence, replay, replay.path(theta), rate, queue, loss)


def _fit(
    uploads: Sequence[Upload],
    evidence: _Evidence,
    replay: Replay,
    path: Path,
    rate: Estimate,
    queue: Estimate,
    loss: Estimate,
) -> Fit:
    """Completes the fit with the recorded uploads."""
    theta = np.array([math.log(path.rate_bps), math.log(path.queue), math.sqrt(path.loss)])
    again = replay(np.tile(theta, (_CHECKS, 1)))
    recorded, fitted = (
        replay.by_control(numbers, summary.GOODPUT) for numbers in (replay.observed, again)
    )
    bursts = (replay.by_control(numbers, summary.BURST) for numbers in (replay.observed, again))
    # A fading path would affect every control.
    burst = min(
        float(was / np.mean(fitted_burst))
        for was, fitted_burst in zip(*(b.values() for b in bursts), strict=True)
    )
    return Fit(
        path,
        evidence.packets,
        tuple(sorted(recorded)),
        len(uploads),
        float(np.mean([upload.seconds for upload in uploads])),
        rate,
        _delay(uploads, path.delay_s),
        queue,
        loss,
        burst if evidence.low.episodes >= _MANY else 1.0,
        {
            cc: Goodput(float(recorded[cc]), float(goodput.mean()), float(goodput.std()))
            for cc, goodput in fitted.items()
        },
        evidence.is_full,
    )


def poisson_interval(count: float) -> tuple[float, float]:
    """Returns the 95 % interval of a Poisson mean after a count (Garwood 1936).

    Its ends are quantiles of chi-square, here by Wilson and Hilferty's cube. The upper end is
    within 1 %; the lower end, which is too low, is within 3 % from a count of 3 on.
    """

    def end(degrees: float, normal: float) -> float:
        return degrees / 2 * (1 - 2 / (9 * degrees) + normal * math.sqrt(2 / (9 * degrees))) ** 3

    low = end(2 * count, -_NORMAL) if count > 0 else 0.0
    return low, end(2 * count + 2, _NORMAL)


def _exponential(low: float, middle: float, high: float) -> Estimate:
    return Estimate(math.exp(middle), math.exp(low), math.exp(high))


def _loss(evidence: _Evidence, low: float, middle: float, high: float) -> Estimate:
    """Estimates the loss of the wire from the episodes that began without a full queue.

    Too few of them count as no loss: they may belong to an overflow after which the smoothed round
    trip has already fallen.
    """
    segments, most = max(evidence.low.segments, 1.0), max(high, 0.0) ** 2
    if evidence.low.episodes < _EPISODES:
        bound = poisson_interval(evidence.low.episodes)[1] / segments
        return Estimate(0.0, 0.0, min(max(most, bound), 1.0), "at most")
    least = max(low, 0.0) ** 2
    return Estimate(max(middle, 0.0) ** 2, least if least * segments > _NONE else 0.0, most)


def _delay(uploads: Sequence[Upload], delay_s: float) -> Estimate:
    """Estimates the delay; the interval allows for differences of the smallest round trips.

    Robson & Whitlock's interval of the end of a distribution is (least - 19 gaps, least); the gap
    is the distance to the second smallest.
    """
    least = sorted(upload.rtt_min_s for upload in uploads)
    gap = least[1] - least[0] if len(least) > 1 else 0.0
    below = max(_CLOCK_S, min(19 * gap, 0.05 * least[0]))
    return Estimate(delay_s, max(delay_s - below / 2, 0.0), delay_s + _CLOCK_S / 10)
