# SPDX-License-Identifier: BSD-3-Clause
"""Writes the equations of the controls once more, in floating point, from their sources."""

import math
from dataclasses import dataclass, field


@dataclass
class Window:
    """Grows by `each` for each ACK, in whole segments as TCPs do, and falls to a share."""

    cwnd: int
    part: float = 0.0  # of a segment

    def grow(self, each: float) -> None:
        self.part += each
        whole = math.floor(self.part)
        self.cwnd += whole
        self.part -= whole

    def fall(self, kept: float) -> None:
        self.cwnd = max(int(self.cwnd * kept), 2)
        self.part = 0.0


def highspeed_b(w: float) -> float:
    """Returns b(w) of RFC 3649, section 5."""
    if w <= 38:
        return 0.5
    return 0.5 - 0.4 * math.log(w / 38) / math.log(83000 / 38)


def highspeed_a(w: float) -> float:
    """Returns a(w) of RFC 3649, section 5."""
    if w <= 38:
        return 1.0
    b = highspeed_b(w)
    return w * w * 0.078 / w**1.2 * 2 * b / (2 - b)


def appendix(w: int) -> tuple[int, float]:
    """Returns a and b of the first row of RFC 3649's Appendix B at or above w."""
    for row, (a, b) in APPENDIX_B.items():
        if w <= row:
            return a, b
    raise ValueError(w)


APPENDIX_B = {38: (1, 0.50), 118: (2, 0.44), 221: (3, 0.41), 347: (4, 0.38), 495: (5, 0.37)}
APPENDIX_B |= {663: (6, 0.35), 851: (7, 0.34), 1058: (8, 0.33), 5036: (20, 0.25)}
APPENDIX_B |= {10661: (30, 0.21), 24402: (45, 0.16), 53667: (62, 0.12), 94717: (73, 0.09)}


@dataclass
class HighSpeed:
    """RFC 3649; `rounded`: a(w) is read from the appendix as ns-3 does, so it is rounded up."""

    window: Window
    rounded: bool = False

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        a = highspeed_a(self.window.cwnd)
        self.window.grow((appendix(self.window.cwnd)[0] if self.rounded else a) / self.window.cwnd)

    def loss(self):
        b = highspeed_b(self.window.cwnd)
        self.window.fall(1 - (appendix(self.window.cwnd)[1] if self.rounded else b))


@dataclass
class Illinois:
    """Liu 2008, section 3.

    `truncated`: as in ns-3, which counts whole ACKs and milliseconds, so it cuts alpha and delays
    off, and counts all round trips without a queue, not only successive ones.
    """

    window: Window
    truncated: bool = False
    alpha: float = 10.0
    beta: float = 0.5
    rtts: list[int] = field(default_factory=list)
    least: float = math.inf
    most: float = 0.0
    low: int = 0
    was_above: bool = False
    counted: float = 0.0

    def _end_round(self):
        da = sum(self.rtts) / len(self.rtts) - self.least
        dm = self.most - self.least
        if self.truncated:
            da, dm = da // 1000 * 1000, dm // 1000 * 1000
        d1 = dm / 100
        if da <= d1:
            self.low += self.was_above or self.truncated
            if not self.was_above:
                self.alpha = 10.0
            if self.low >= 5:
                self.alpha, self.low, self.was_above = 10.0, 0, False
        else:
            self.was_above = True
            self.low = self.low if self.truncated else 0
            k1 = (dm - d1) * 0.3 * 10 / (10 - 0.3)
            k2 = (dm - d1) * 0.3 / (10 - 0.3) - d1
            self.alpha = k1 / (k2 + da)
        d2, d3 = 0.1 * dm, 0.8 * dm
        if da <= d2:
            self.beta = 1 / 8
        elif da >= d3:
            self.beta = 1 / 2
        else:
            self.beta = (d3 / 8 - d2 / 2 + (1 / 2 - 1 / 8) * da) / (d3 - d2)
        self.rtts = []

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        self.rtts.append(rtt_us)
        self.least, self.most = min(self.least, rtt_us), max(self.most, rtt_us)
        if round_ends:
            self._end_round()
        if not self.truncated:
            self.window.grow(self.alpha / self.window.cwnd)
            return
        self.counted += math.floor(self.alpha)
        while self.counted >= self.window.cwnd:
            self.counted -= self.window.cwnd
            self.window.cwnd += 1

    def loss(self):
        self.window.fall(1 - self.beta)


@dataclass
class Htcp:
    """Leith & Shorten 2004, at a steady throughput: beta adapts from the second loss on."""

    window: Window
    began_us: int = 0
    losses: int = 0
    beta: float = 0.5
    least: float = math.inf
    most: float = 0.0
    now_us: int = 0

    def alpha(self) -> float:
        past = (self.now_us - self.began_us) / 1e6 - 1
        return 2 * (1 - self.beta) * (1 if past <= 0 else 1 + 10 * past + (past / 2) ** 2)

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        self.now_us += 1000
        if self.losses == 0 and self.most == 0:
            self.began_us = self.now_us
        self.least, self.most = min(self.least, rtt_us), max(self.most, rtt_us)
        self.window.grow(max(self.alpha(), 1) / self.window.cwnd)

    def loss(self):
        adapts = self.losses > 0
        self.beta = min(max(self.least / self.most, 0.5), 0.8) if adapts else 0.5
        self.began_us, self.most = self.now_us, 0.0
        self.losses += 1
        self.window.fall(self.beta)


@dataclass
class AdaptiveReno:
    """Shimonishi 2006, with a rate of 8 Mb/s: 1000 bytes are acknowledged each millisecond."""

    window: Window
    probe: float = 0.0
    least: float = math.inf
    most: float = 0.0
    rtt: float = 0.0
    full: float = 0.0
    rounds: int = 0

    def congestion(self) -> float:
        span = (self.full or self.most) - self.least
        return min((self.rtt - self.least) / span, 1) if span > 0 else 0.0

    def increment(self) -> float:
        a, c = 10, self.congestion()
        top = 0.8 if self.rounds > 1 else 0.0
        b = 2 * top * (1 / a - (1 / a + 1) / math.e**a)
        g = 1 - 2 * top * (1 / a - (1 / a + 1 / 2) / math.e**a)
        return top / math.e ** (a * c) + b * c + g

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        self.rtt = rtt_us
        self.least, self.most = min(self.least, rtt_us), max(self.most, rtt_us)
        self.rounds += round_ends
        before, cwnd = self.probe, self.window.cwnd
        self.probe = max(self.probe + self.increment() / cwnd, 0)
        self.window.grow(1 / cwnd + self.probe - before)

    def loss(self):
        self.full = 0.85 * self.full + 0.15 * self.rtt if self.full else self.rtt
        self.window.fall(1 / (1 + self.congestion()))
        self.probe = 0


@dataclass
class TorWestwood:
    """Proposal 324, 3.1, with the defaults of tor's congestion_control_westwood.c."""

    window: Window
    smoothed: float = 0.0
    least: float = math.inf
    most: float = 0.0
    slow_start: bool = True

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        n = max(2 * self.window.cwnd, 2)
        before = self.smoothed or rtt_us
        self.smoothed = (2 * rtt_us + (n - 1) * before) / (n + 1)
        self.least, self.most = min(self.least, rtt_us), max(self.most, rtt_us)
        if not round_ends:
            return
        limit = self.least + 0.33 * (self.most - self.least)
        if limit - self.least >= 1000 and self.smoothed > limit:
            self.loss()
        elif self.slow_start:
            self.window.cwnd = max(2 * self.window.cwnd, self._carried())
        else:
            self.window.cwnd += 1

    def _carried(self) -> int:
        return int(self.window.cwnd * self.least / self.smoothed)

    def loss(self):
        self.window.cwnd = max(int(self.window.cwnd * 0.75), self._carried(), 2)
        self.slow_start = False


@dataclass
class Jersey:
    """Xu 2004: 1000 bytes are acknowledged each millisecond."""

    window: Window
    rate: float = 0.0  # bytes per microsecond
    rtt: float = 0.0
    acks: int = 0

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        since = 1000 if self.acks else 0
        self.rtt = rtt_us
        self.rate = (self.rtt * self.rate + 1000) / (since + self.rtt)
        self.acks += 1
        self.window.grow(1 / self.window.cwnd)

    def loss(self):
        self.window.cwnd = min(self.window.cwnd, max(int(self.rate * self.rtt / 1000), 2))
        self.window.part = 0


@dataclass
class LogWestwood:
    """Kliazovich 2008, where the estimate is 1000 bytes each millisecond."""

    window: Window
    w_max: int = 0
    least: float = math.inf

    def ack(self, rtt_us: int, round_ends: bool) -> None:
        self.least = min(self.least, rtt_us)
        cwnd = self.window.cwnd
        self.window.grow(max((self.w_max - cwnd) / (2 * cwnd), 1 / cwnd))

    def loss(self):
        self.w_max = self.window.cwnd
        self.window.cwnd, self.window.part = round(self.least / 1000), 0
