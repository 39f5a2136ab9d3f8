# SPDX-License-Identifier: BSD-3-Clause
"""Published formulas: windows in segments, times in seconds, p the fraction of packets lost."""

from __future__ import annotations

import math

# Mathis, Semke, Mahdavi, Ott: The Macroscopic Behavior of the TCP Congestion Avoidance Algorithm,
# CCR 27(3), 1997, Table 1: the constant C of C / sqrt(p), with one ACK per segment.
PERIODIC = math.sqrt(3 / 2)
RANDOM = 1.31

# RFC 9438, sections 4.1 and 4.6.
CUBIC_C = 0.4
CUBIC_BETA = 0.7


def mathis(p: float, constant: float, segments_per_ack: int = 1) -> float:
    """Returns the mean window of Reno's congestion avoidance where only losses bound it.

    It grows once per ACK; with an ACK for b segments, growth is 1 / b and the window 1 / sqrt(b).
    """
    return constant / math.sqrt(segments_per_ack * p)


def pftk(p: float, rtt_s: float, timeout_s: float, segments_per_ack: int = 1) -> float:
    """Returns segments per second by the full model of Padhye, Firoiu, Towsley and Kurose.

    Modeling TCP Throughput: A Simple Model and its Empirical Validation, SIGCOMM 1998, section 2.
    """
    b = segments_per_ack
    base = (2 + b) / (3 * b)
    window = base + math.sqrt(8 * (1 - p) / (3 * b * p) + base**2)
    timeouts = pftk_timeout_share(p, window)
    doubling = 1 + p + 2 * p**2 + 4 * p**3 + 8 * p**4 + 16 * p**5 + 32 * p**6
    sent = (1 - p) / p + window + timeouts / (1 - p)
    spent_s = rtt_s * (b / 2 * window + 1) + timeouts * timeout_s * doubling / (1 - p)
    return sent / spent_s


def pftk_timeout_share(p: float, window: float) -> float:
    """Returns Q: the probability that a loss in a window of this size ends in a timeout."""
    if window <= 3:
        return 1
    q = 1 - p
    return min(
        1.0, (1 - q**3) * (1 + q**3 * (1 - math.pow(q, window - 3))) / (1 - math.pow(q, window))
    )


def pftk_simple(p: float, rtt_s: float, timeout_s: float, segments_per_ack: int = 1) -> float:
    """Returns the well-known approximation of Padhye's formula."""
    b = segments_per_ack
    share = min(1, 3 * math.sqrt(3 * b * p / 8))
    waiting_s = timeout_s * share * p * (1 + 32 * p**2)
    return 1 / (rtt_s * math.sqrt(2 * b * p / 3) + waiting_s)


def cubic(p: float, rtt_s: float) -> float:
    """Returns CUBIC's mean window with periodic losses: RFC 9438, section 5."""
    factor = CUBIC_C * (3 + CUBIC_BETA) / (4 * (1 - CUBIC_BETA))
    in_its_region = factor**0.25 * (rtt_s / p) ** 0.75
    return max(float(in_its_region), mathis(p, PERIODIC))


def md1_wait(load: float) -> float:
    """Returns the mean wait of M/D/1 in service times: Pollaczek and Khinchine."""
    return load / (2 * (1 - load))


def sum_dd1_wait(sources: int, load: float, steps: int = 64) -> float:
    """Returns the mean wait behind equal periodic sources with random phases, in service times.

    Eckberg 1979; Roberts and Virtamo, The Superposition of Periodic Cell Arrival Streams in an ATM
    Multiplexer, IEEE Trans. Comm. 39(2), 1991: with n sources of period D the work found exceeds x
    with probability

    sum over x < k <= n of C(n, k) ((k-x)/D)^k (1 - (k-x)/D)^(n-k) (D-n+x) / (D-k+x)

    A packet waits only for packets of other sources, because the queue empties within a period. The
    mean is the integral over x: pieces between whole numbers are smooth, so Simpson's rule is
    accurate enough.
    """
    others, period = sources - 1, sources / load
    total = 0.0
    for piece in range(others):
        for i in range(steps + 1):
            weight = 1 if i in (0, steps) else 4 if i % 2 else 2
            # At a whole number the first term of the sum vanishes: this takes the limit from the
            # right.
            x = min(piece + i / steps, piece + 1 - 1e-12)
            total += weight * _exceeds(x, others, period)
    return total / (3 * steps)


def _exceeds(x: float, n: int, period: float) -> float:
    probability = 0.0
    for k in range(math.floor(x) + 1, n + 1):
        share = (k - x) / period
        probability += (
            math.comb(n, k)
            * share**k
            * (1 - share) ** (n - k)
            * (period - n + x)
            / (period - k + x)
        )
    return probability


def bbr_share(rtt_s: float, bdp: float) -> float:
    """Returns the share of a link that a lone BBRv1 flow uses.

    draft-cardwell-iccrg-bbr-congestion-control-00: its eight gains average 1, and the queue they
    leave keeps the link busy. But every 10 s it holds 4 segments for 200 ms (4.3.5, ProbeRTT), of
    the `bdp` segments that the path holds.
    """
    probing_s = 0.2
    return 1 - probing_s / (10 + probing_s + rtt_s) * (1 - min(1, 4 / bdp))
