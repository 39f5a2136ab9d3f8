# SPDX-License-Identifier: BSD-3-Clause
"""Shrinks an attack but keeps most of its effect: delta debugging (Zeller and Hildebrandt 2002).

It removes whole features, then reduces counts and strengths, then rounds numbers. It repeats this
until no edit leaves at least `KEEP` of the original degradation.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from westwood.scenario.paths.environment import PACKET_BYTES
from westwood.scenario.paths.families import QUEUE_PASSES
from westwood.search.stress.attack import FEATURES, PACKETS_MOST, Attack, features, without

KEEP = 0.8
_ROUNDS = 6
_LONGER = 2  # a simpler run may have this multiple of the hunt's packet limit
_SHORTEST_US = 1000
_USUAL = ((10e6, 40e3), (10e6, 100e3))  # common rates and delays
_QUEUES = (1, 0.5, 0.25, 2, 4, 0.1, 0.05, 0.02)  # bandwidth-delay products, simplest first
_SECONDS = (20, 10, 40, 60)
_MILDER: Mapping[str, float] = {
    "loss_rate": 0.5,
    "bad_us": 0.5,
    "good_us": 2,
    "burst_bps": 0.5,
    "burst_on_us": 0.5,
    "burst_off_us": 2,
    "jitter_us": 0.5,
    "reorder_rate": 0.5,
    "reorder_us": 0.5,
}
_NUMBERS = (*_MILDER, "dip_rate", "dip_every_us", "short_bytes", "short_every_us", "rtt_spread")
_NUMBERS += ("aqm_us", "aqm_span", "beside_delay_us", "access_share")
Edit = Callable[[Attack], Attack]


def shrink(attack: Attack, is_bad: Callable[[Attack], bool], needs: Sequence[str] = ()) -> Attack:
    """Returns the simplest attack it finds that `is_bad` accepts and that has the needed features.

    A refused attack is not tried again.
    """
    refused: set[Attack] = set()
    packets_most = max(_LONGER * PACKETS_MOST, attack.packets)
    for _ in range(_ROUNDS):
        before = attack
        for edit in _edits():
            simpler = edit(attack)
            if simpler == attack or simpler in refused:
                continue
            if simpler.packets > packets_most or not set(needs) <= set(features(simpler)):
                continue
            if is_bad(simpler):
                attack = simpler
            else:
                refused.add(simpler)
        if attack == before:
            break
    return attack


def _edits() -> Iterator[Edit]:
    """Yields the edits that simplify an attack, most effective first."""
    for name in FEATURES:
        yield partial(without, names=(name,))
    for key in ("flows", "beside_flows", "reverse_flows"):
        for part in (0.0, 0.5, 0.9):
            yield partial(_fewer, key=key, part=part)
    yield partial(replace, rtt_spread=1.0)
    yield partial(replace, calm_us=0)
    yield from (_one_way, _one_way)
    yield lambda attack: replace(attack, aqm="red") if attack.aqm == "red-ecn" else attack
    yield lambda attack: replace(attack, beside="cubic") if attack.beside else attack
    for rate_bps, delay_us in _USUAL:
        yield partial(with_path, rate_bps=rate_bps, delay_us=delay_us)
    for key in _MILDER:
        yield from [partial(_milder, key=key)] * 3
    for round_to in _ROUNDED:
        yield partial(_rounded_path, key="rate_bps", round_to=round_to)
        yield partial(_rounded_path, key="delay_us", round_to=round_to)
    for products in reversed(_QUEUES):
        yield partial(_with_queue, products=products)
    for seconds in (*reversed(_SECONDS), None):
        yield partial(_lasting, seconds=seconds)
    for key in _NUMBERS:
        for round_to in _ROUNDED:
            yield partial(_rounded, key=key, round_to=round_to)


def _with(attack: Attack, key: str, value: float) -> Attack:
    """Returns the attack with one number changed; a whole number stays whole."""
    is_whole = isinstance(getattr(attack, key), int)
    changed: dict[str, Any] = {key: round(value) if is_whole else value}
    return replace(attack, **changed)


def _fewer(attack: Attack, key: str, part: float) -> Attack:
    count = getattr(attack, key)
    least = 2 if key == "flows" else 1  # a single flow is another feature
    return _with(attack, key, max(least, int(count * part))) if count > least else attack


def _one_way(attack: Attack) -> Attack:
    """Limits losses to one direction: first to data, then to ACKs."""
    return replace(attack, loss_on="backward" if attack.loss_on == "both" else "forward")


def _milder(attack: Attack, key: str) -> Attack:
    """Weakens one impairment; if the effect remains, it is the more striking."""
    value = getattr(attack, key)
    milder = value * _MILDER[key]
    if not value or (key.endswith("_us") and not _SHORTEST_US < milder < attack.duration_us):
        return attack
    return _with(attack, key, milder)


def _rounded_path(attack: Attack, key: str, round_to: Callable[[Any], float]) -> Attack:
    path = {"rate_bps": float(attack.rate_bps), "delay_us": float(attack.delay_us)}
    path[key] = round_to(path[key])
    return with_path(attack, **path)


def _with_queue(attack: Attack, products: float) -> Attack:
    return replace(attack, queue_packets=_queue(attack, products))


def _lasting(attack: Attack, seconds: int | None) -> Attack:
    """Returns the attack with this duration; None rounds its duration to whole seconds."""
    lasting = seconds or max(1, round(attack.duration_us / 1e6))
    changed = replace(attack, duration_us=lasting * 1_000_000)
    return replace(changed, calm_us=changed.duration_us // 2) if attack.calm_us else changed


def _rounded(attack: Attack, key: str, round_to: Callable[[Any], float]) -> Attack:
    value = getattr(attack, key)
    is_idle = {"dip_rate": not attack.dip_every_us, "aqm_span": attack.aqm == "droptail"}
    if not value or is_idle.get(key):
        return attack
    number = round_to(value)
    if key == "dip_every_us":
        number = max(2000, 1000 * round(number / 1000))
    return _with(attack, key, number)


def with_path(attack: Attack, rate_bps: float, delay_us: float) -> Attack:
    """Returns the attack with another rate and delay; queue, bursts and jitter scale with them."""
    wider, longer = rate_bps / attack.rate_bps, delay_us / attack.delay_us
    changed = replace(
        attack,
        rate_bps=round(rate_bps),
        delay_us=round(delay_us),
        burst_bps=round(attack.burst_bps * wider),
        jitter_us=round(attack.jitter_us * longer),
        reorder_us=round(attack.reorder_us * longer),
        short_every_us=round(attack.short_every_us / wider),
        aqm_us=round(attack.aqm_us * longer),
        beside_delay_us=round(attack.beside_delay_us * longer),
    )
    changed = replace(changed, queue_packets=_queue(changed, attack.queue_bdp))
    most_us = _LONGER * PACKETS_MOST * 8e6 * PACKET_BYTES / rate_bps
    if changed.duration_us > most_us:
        changed = replace(changed, duration_us=max(1, int(most_us / 1e6)) * 1_000_000)
        if attack.calm_us:
            changed = replace(changed, calm_us=changed.duration_us // 2)
    return changed


def _queue(attack: Attack, products: float) -> int:
    return max(QUEUE_PASSES, round(products * attack.bdp_packets))


def _one_two_five(value: Any) -> float:
    """Returns the nearest of 1, 2 and 5 times a power of ten, by ratio."""
    power: float = 10.0 ** math.floor(math.log10(value))
    return min(
        (digit * power for digit in (1, 2, 5, 10)),
        key=lambda candidate: abs(math.log(candidate / value)),
    )


def _one_digit(value: Any) -> float:
    return float(f"{value:.1g}")


def _two_digits(value: Any) -> float:
    return float(f"{value:.2g}")


# The smallest change comes first, so that larger ones start from it.
_ROUNDED = (_two_digits, _one_digit, _one_two_five)
