# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "Linux 2.4 Implementation of Westwood+ TCP" (Dell'Aera et al. 2003)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import partial
from typing import Any

from westwood import units
from westwood.papers.checks import words
from westwood.papers.checks.bounds import ALIKE, Bounds, Condition, Decided, Term
from westwood.papers.checks.common import Check, Finding, Measured
from westwood.papers.checks.regions import Region

_PLUS = "westwood+-linux24"
_SSTHRESH, _CWND = "ssthresh_over_pipe", "sampled_cwnd"
_SILENCE_RTTS = 0.5  # half of the ACKs of a round trip send nothing, but no longer part in a row


def _rate_halving(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["rate-halving"].rows
    episodes = int(rows["recoveries_seen"].sum())
    silence = float(rows["longest_silence_rtts"].max())  # type: ignore[arg-type]
    steps = int(rows["steeper_steps"].sum())
    below = int(rows["below_floor"].sum())
    unset = int(rows["not_set_at_exit"].sum())
    failures = []
    if not episodes:
        failures.append("no run has a fast recovery")
    if not silence <= _SILENCE_RTTS:
        failures.append(
            f"the longest silence after a loss is {silence:.3g} round trips, expected at most "
            f"{_SILENCE_RTTS:g} round trips"
        )
    if below:
        failures.append(f"cwnd was below BWE*RTTmin {below} times")
    if unset:
        failures.append(f"{unset} recoveries did not end at ssthresh")
    return Finding(
        {
            "recoveries": episodes,
            "longest_silence_round_trips": silence,
            "below_the_floor": below,
            "steps_of_more_than_one_where_losses_came_together": steps,
            "not_at_BWE*RTTmin_at_the_end": unset,
        },
        failures,
    )


# Table 4 and section 3: the round trip one way, the range of the gain, and that of the pipe in MSS.
_CITIES = {
    "ucla": ("UCLA", "95ms", (0.23, 0.53), (3, 6)),
    "uppsala": ("Uppsala", "35ms", (0.04, 0.40), (1, 10)),
    "parma": ("Parma", "25ms", (-0.09, 0.10), (0.5, 5)),
}
_GAIN, _PIPE, _RESENT = "goodput over New Reno's", "pipe, segments", "resent share over New Reno's"
_TABLE4 = (_GAIN, _PIPE, _RESENT)
_OF_SSTHRESH, _OF_CWND = "ssthresh over New Reno's", "cwnd over New Reno's"
_MSS_BYTES = 1500


def _region(city: str) -> Region:
    """Returns the grid over rate and losses of a city's path, with what the report says of it."""
    name, delay, gain, pipe = _CITIES[city]
    plus, newreno = ({"upload.cc": cc} for cc in (_PLUS, "newreno"))
    rtt_s = 2 * units.parse_time(delay) / units.PS_PER_S

    def over(what: str, column: str, within: Bounds) -> Condition:
        upper, lower = Term(_PLUS, plus, column), Term("newreno", newreno, column)
        return Condition(what, upper, lower, within=within)

    windows = {
        "ucla": [over(_OF_SSTHRESH, _SSTHRESH, Bounds(1 + words.CLEARLY))],
        "parma": [over(_OF_SSTHRESH, _SSTHRESH, ALIKE), over(_OF_CWND, _CWND, ALIKE)],
    }
    return Region(
        f"{name}, {2 * float(delay.removesuffix('ms')):g} ms",
        "uploads",
        ("path.rate", "path.loss.rate"),
        [
            over(_GAIN, "goodput_bps", Bounds(1 + gain[0], 1 + gain[1])),
            Condition(
                _PIPE,
                Term(_PLUS, plus, "goodput_bps"),
                by=8 * _MSS_BYTES / rtt_s,
                within=Bounds(*pipe),
            ),
            over(_RESENT, "retransmission_ratio", ALIKE),
            *windows.get(city, []),
        ],
        {"path.delay": delay},
    )


REGIONS = {city: _region(city) for city in _CITIES}


def _uploads(city: str, all_: Mapping[str, Measured]) -> Finding:
    """Checks that paths exist on which gain, pipe and retransmissions are the report's."""
    entry = REGIONS[city].of(all_).entry(_TABLE4)
    failures = [] if entry["agree"] else [f"none of {entry['cells']} paths has all of Table 4"]
    return Finding(entry, failures, _beside_chance(entry))


def _beside_chance(entry: Mapping[str, Any]) -> str:
    chance = f"independent conditions would agree on {entry['by_chance']:.1f}"
    return f"{entry['agree']} of {entry['cells']} paths agree; {chance}"


def _ssthresh(all_: Mapping[str, Measured]) -> Finding:
    """Checks the windows on the paths that Table 4 chose."""
    measured: dict[str, Any] = {}
    failures = []
    for city, asked in (("ucla", 0.5), ("parma", 0.0)):
        cells = REGIONS[city].of(all_)
        chosen, whole = cells.agreeing(_TABLE4), cells.agreeing()
        measured[city] = {
            "paths_of_table_4": len(chosen),
            "with_the_windows_too": len(whole),
            "by_chance": len(cells.values) * math.prod(cells.shares().values()),
        }
        if not whole or len(whole) < asked * len(chosen):
            name = _CITIES[city][0]
            failures.append(f"to {name} {len(whole)} of {len(chosen)} paths have these windows")
    return Finding(measured, failures)


def _backlog(all_: Mapping[str, Measured]) -> Finding:
    share = all_["rate-halving"].runs({}, "backlog_cleared").mean
    name = "the share of reductions after which the backlog is gone"
    return Finding({"cleared": share.value}, list(words.outside(name, share, 1.0)))


CHECKS: dict[str, Check] = {
    **{f"linux.{city}": partial(_uploads, city) for city in _CITIES},
    "linux.rate_halving": _rate_halving,
    "linux.backlog": _backlog,
    "linux.ssthresh": _ssthresh,
}

SETTING_BOUNDS: Decided = {
    "linux.backlog": "It is about the round trips after each reduction, which no mean shows.",
    **dict.fromkeys(
        (*(f"linux.{city}" for city in _CITIES), "linux.ssthresh"),
        "It is about many paths, so no single setting shows it.",
    ),
    "linux.rate_halving": "It is about every packet of a recovery, which the pictures do not hold.",
}
