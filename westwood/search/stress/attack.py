# SPDX-License-Identifier: BSD-3-Clause
"""Defines attacks: an environment, what an adversary adds to it, and the genes that encode both.

    drawn(["bursts"], genes, seed)             an attack from numbers between 0 and 1

A feature is an impairment or a kind of traffic that a path may have, such as two-state losses or
bursts of datagrams. Each feature has genes. It can also be removed again, which shrinking needs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from westwood.scenario.paths.aqms import AQMS
from westwood.scenario.paths.environment import PACKET_BYTES, Environment
from westwood.scenario.paths.families import FLOWS_MOST, QUEUE_MS, QUEUE_PASSES
from westwood.scenario.paths.recorded import RECORDINGS

PACKETS_MOST = 10_000  # per run: one or two milliseconds of CPU time
ROUND_TRIPS = 40  # at least this many per run
SECONDS_LEAST, SECONDS_MOST = 5, 60  # a lost SYN costs a second, and so may a timeout
MIN_RTO_US = 200_000  # the profile's minimum RTO


@dataclass(frozen=True)
class Attack(Environment):
    """An environment with everything that an adversary may add to it."""

    loss_on: str = "forward"  # direction of the losses; backward hits the ACKs
    is_steady: bool = False  # the two loss states have fixed durations
    reorder_rate: float = 0.0  # share of data packets that are delayed
    reorder_us: int = 0
    burst_bps: int = 0  # rate of the datagram bursts, which alternate between on and off
    burst_on_us: int = 0
    burst_off_us: int = 0
    calm_us: int = 0  # when the bursts end; 0: at the end of the run
    dip_rate: float = 1.0  # the rate falls to this fraction in the second half of each period
    dip_every_us: int = 0
    min_rto_us: int = 0  # minimum RTO; 0: the profile's

    @property
    def load(self) -> float:
        """Mean share of the rate that the datagrams take."""
        if not self.burst_bps:
            return 0.0
        on = self.burst_on_us / (self.burst_on_us + self.burst_off_us)
        on *= self.calm_us / self.duration_us if self.calm_us else 1.0
        return self.burst_bps * on / self.rate_bps

    @property
    def carried_bps(self) -> float:
        """Payload rate left for all other flows, after datagrams and losses."""
        lost = self.loss_rate if self.loss_on != "backward" else 0.0
        if self.loss == "two-state":
            lost *= self.bad_us / (self.good_us + self.bad_us)
        dipped = (1 + self.dip_rate) / 2 if self.dip_every_us else 1.0
        payload = (PACKET_BYTES - 52) / PACKET_BYTES
        return self.rate_bps * max(0.0, dipped - self.load) * (1 - lost) * payload


@dataclass(frozen=True)
class Gene:
    """Maps a number from 0 to 1 to a value in a range, or to one of several choices."""

    least: float = 0.0
    most: float = 0.0
    choices: Sequence[Any] = ()

    def value(self, fraction: float) -> Any:
        """Returns the value for a number from 0 to 1, logarithmic between `least` and `most`."""
        if self.choices:
            return self.choices[min(int(fraction * len(self.choices)), len(self.choices) - 1)]
        value = math.exp(math.log(self.least) + fraction * math.log(self.most / self.least))
        return min(max(value, self.least), self.most)  # rounding must not leave the range


@dataclass(frozen=True)
class Feature:
    """A property that an attack may have: its genes, how to add it, and how to remove it."""

    name: str
    what: str  # noun phrase for reports: "losses of 1 %"
    genes: tuple[Gene, ...]
    add: Callable[[Attack, Sequence[Any]], Attack]
    without: Mapping[str, Any]

    def is_in(self, attack: Attack) -> bool:
        """Returns whether an attack has this feature."""
        return any(getattr(attack, key) != value for key, value in self.without.items())


def _us(value: float) -> int:
    return max(1, round(value))


def _path(values: Sequence[Any], seed: int, packets_most: int) -> Attack:
    """Makes a path from rate, delay, queue and duration, limited to this many packets."""
    rate_bps, delay_us, queue_us, round_trips = values
    least_us = max(ROUND_TRIPS * delay_us, SECONDS_LEAST * 1e6)
    rate_bps = min(rate_bps, packets_most / least_us * 8e6 * PACKET_BYTES)
    a_us = rate_bps / (8e6 * PACKET_BYTES)
    duration_us = max(
        least_us, min(round_trips * delay_us, packets_most / a_us, 1e6 * SECONDS_MOST)
    )
    queue = max(QUEUE_PASSES, round(queue_us * a_us))
    return Attack(round(rate_bps), _us(delay_us), queue, _us(duration_us), seed)


_PATH = (
    Gene(0.5e6, 200e6),
    Gene(2e3, 600e3),
    Gene(1e3 * QUEUE_MS[0], 1e3 * QUEUE_MS[1]),
    Gene(ROUND_TRIPS, 1000),
)


def _bursts(attack: Attack, values: Sequence[Any]) -> Attack:
    strength, on_us, off_us = values
    rate_bps = max(1000, round(strength * attack.rate_bps))
    return replace(attack, burst_bps=rate_bps, burst_on_us=_us(on_us), burst_off_us=_us(off_us))


def _once(attack: Attack, values: Sequence[Any]) -> Attack:
    """Adds bursts that stop halfway, so a control that stays slow afterwards has no excuse."""
    return replace(_bursts(attack, values), calm_us=attack.duration_us // 2)


def _two_states(attack: Attack, values: Sequence[Any]) -> Attack:
    rate, good_us, bad_us, is_steady, side = values
    return replace(
        attack,
        loss="two-state",
        loss_rate=rate,
        good_us=_us(good_us),
        bad_us=_us(bad_us),
        is_steady=is_steady,
        loss_on=side,
    )


_NO_BURSTS = {"burst_bps": 0, "burst_on_us": 0, "burst_off_us": 0, "calm_us": 0}
_NO_LOSS = {
    "loss": "none",
    "loss_rate": 0.0,
    "good_us": 0,
    "bad_us": 0,
    "is_steady": False,
    "loss_on": "forward",
    "loss_recording": "",
}
_SIDE = Gene(choices=("forward", "both", "backward"))

_BURSTS = (Gene(0.1, 4), Gene(2e3, 2e6), Gene(20e3, 10e6))

FEATURES: Mapping[str, Feature] = {
    gene.name: gene
    for gene in (
        Feature(
            "loss",
            "independent losses",
            (Gene(1e-4, 0.1), _SIDE),
            lambda attack, values: replace(
                attack, loss="uniform", loss_rate=values[0], loss_on=values[1]
            ),
            _NO_LOSS,
        ),
        Feature(
            "fading",
            "losses in two states",
            (Gene(0.01, 1), Gene(0.05e6, 10e6), Gene(2e3, 2e6), Gene(choices=(False, True)), _SIDE),
            _two_states,
            _NO_LOSS,
        ),
        Feature(
            "recording",
            "recorded losses",
            (Gene(1e-3, 0.1), Gene(choices=tuple(RECORDINGS)), _SIDE),
            lambda attack, values: replace(
                attack,
                loss="recorded",
                loss_rate=values[0],
                loss_recording=values[1],
                loss_on=values[2],
            ),
            _NO_LOSS,
        ),
        Feature(
            "jitter",
            "jitter",
            (Gene(0.01, 2),),
            lambda attack, values: replace(attack, jitter_us=_us(values[0] * attack.delay_us)),
            {"jitter_us": 0},
        ),
        Feature(
            "reordering",
            "reordered packets",
            (Gene(1e-3, 0.5), Gene(0.02, 2)),
            lambda attack, values: replace(
                attack, reorder_rate=values[0], reorder_us=_us(values[1] * attack.delay_us)
            ),
            {"reorder_rate": 0.0, "reorder_us": 0},
        ),
        Feature("bursts", "bursts of datagrams", _BURSTS, _bursts, _NO_BURSTS),
        Feature(
            "bursts, then calm",
            "bursts of datagrams for half of the time",
            _BURSTS,
            _once,
            _NO_BURSTS,
        ),
        Feature(
            "dips",
            "a rate that alternates between high and low",
            (Gene(0.05, 0.9), Gene(20e3, 4e6)),
            lambda attack, values: replace(
                attack, dip_rate=values[0], dip_every_us=1000 * max(2, round(values[1] / 1000))
            ),
            {"dip_rate": 1.0, "dip_every_us": 0},
        ),
        Feature(
            "RTO",
            "a minimum RTO of one second (RFC 6298)",
            (),
            lambda attack, values: replace(attack, min_rto_us=1_000_000),
            {"min_rto_us": 0},
        ),
        Feature(
            "AQM",
            "active queue management",
            (Gene(choices=tuple(AQMS)[1:]), Gene(0.05, 0.5), Gene(1.5, 5)),
            lambda attack, values: _managed(attack, *values),
            {"aqm": "droptail", "aqm_us": 0, "aqm_span": 3.0},
        ),
        Feature(
            "reverse traffic",
            "CUBIC data in the reverse direction",
            (Gene(choices=(1, 2, 3)),),
            lambda attack, values: replace(attack, reverse_flows=values[0]),
            {"reverse_flows": 0},
        ),
        Feature(
            "beside",
            "competing flows",
            (Gene(choices=("cubic", "sack")), Gene(1, FLOWS_MOST)),
            lambda attack, values: replace(
                attack, beside=values[0], beside_flows=max(1, round(values[1]))
            ),
            {"beside": None, "beside_flows": 0},
        ),
        Feature(
            "elsewhere",
            "competing flows with another round trip",
            (Gene(2e3, 600e3),),
            lambda attack, values: replace(attack, beside_delay_us=_us(values[0])),
            {"beside_delay_us": 0},
        ),
        Feature(
            "own links",
            "access links with different rates",
            (Gene(0.5, 10),),
            lambda attack, values: replace(attack, access_share=values[0]),
            {"access_share": 0.0},
        ),
        Feature(
            "several",
            "several flows of it",
            (Gene(2, FLOWS_MOST),),
            lambda attack, values: replace(attack, flows=max(2, round(values[0]))),
            {"flows": 1, "rtt_spread": 1.0},
        ),
        Feature(
            "round trips",
            "several flows of it with different round trips",
            (Gene(2, 8), Gene(1.2, 16)),
            lambda attack, values: replace(
                attack, flows=max(2, round(values[0])), rtt_spread=values[1]
            ),
            {"flows": 1, "rtt_spread": 1.0},
        ),
        Feature(
            "transfers",
            "short transfers of it",
            (Gene(1e4, 1e6), Gene(0.02, 0.5)),
            lambda attack, values: _with_transfers(attack, *values),
            {"short_bytes": 0, "short_every_us": 0},
        ),
    )
}
DISTURBING = ("loss", "jitter", "reordering", "bursts", "dips")
OF_HOSTS = ("RTO",)  # host features: any path may have them
# Features of one group set the same fields, so an attack has at most one of them.
_EXCLUDE = (
    {"loss", "fading", "recording"},
    {"bursts", "bursts, then calm"},
    {"several", "round trips"},
)

_NEEDS = {"elsewhere": "beside"}  # features that do nothing without another one


def _managed(attack: Attack, aqm: str, part: float, span: float) -> Attack:
    """Adds an AQM that starts to act when the queue reaches this fraction of its limit."""
    full_us = attack.duration_us * attack.queue_packets / attack.packets
    return replace(attack, aqm=aqm, aqm_us=_us(part * full_us), aqm_span=span)


def _with_transfers(attack: Attack, size: float, load: float) -> Attack:
    carried = attack.rate_bps / 8e6 * attack.duration_us
    size = round(min(size, max(1e3, carried / 8)))
    every_us = _us(size * 8e6 / (attack.rate_bps * load))
    return replace(attack, short_bytes=size, short_every_us=every_us)


def fit_together(names: Iterable[str]) -> bool:
    """Returns whether an attack can have all of these features."""
    chosen = set(names)
    complete = all(other in chosen for name, other in _NEEDS.items() if name in chosen)
    return complete and all(len(chosen & group) < 2 for group in _EXCLUDE)


def genes(names: Sequence[str]) -> int:
    """Returns how many numbers encode an attack with these features."""
    return len(_PATH) + sum(len(FEATURES[name].genes) for name in names)


def drawn(
    names: Sequence[str], fractions: Sequence[float], seed: int, packets_most: int = PACKETS_MOST
) -> Attack:
    """Makes an attack with these features from numbers between 0 and 1, one for each gene."""
    places = iter(fractions)
    attack = _path([gene.value(next(places)) for gene in _PATH], seed, packets_most)
    for name in names:
        feature = FEATURES[name]
        attack = feature.add(attack, [gene.value(next(places)) for gene in feature.genes])
    return attack


def features(attack: Attack) -> list[str]:
    """Returns the names of the features that an attack has."""
    names = [name for name, feature in FEATURES.items() if feature.is_in(attack)]
    of_loss = {"uniform": "loss", "recorded": "recording"}.get(attack.loss, "fading")
    of_bursts = "bursts, then calm" if attack.calm_us else "bursts"
    of_flows = "round trips" if attack.rtt_spread > 1 else "several"
    kept = (of_loss, of_bursts, of_flows)
    grouped = set().union(*_EXCLUDE)
    return [name for name in names if name not in grouped or name in kept]


def without(attack: Attack, names: Iterable[str]) -> Attack:
    """Returns the attack without these features."""
    gone: dict[str, Any] = {}
    for name in names:
        gone |= FEATURES[name].without
    return replace(attack, **gone)


def undisturbed(attack: Attack) -> Attack:
    """Returns the attack without the features that disturb a path."""
    return without(attack, DISTURBING)
