# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "Linux 2.4 Implementation of Westwood+ TCP" (Dell'Aera et al. 2003)."""

from __future__ import annotations

from collections.abc import Mapping

from westwood.papers.checks.bounds import Decided
from westwood.papers.checks.common import Finding, Measured

_SILENCE_RTTS = 0.5  # half of the ACKs of a round trip send nothing, but no longer part in a row


def _rate_halving(all_: Mapping[str, Measured]) -> Finding:
    rows = all_["rate-halving"].rows
    episodes = int(rows["recoveries_seen"].sum())
    silence = float(rows["longest_silence_rtts"].max())  # type: ignore[arg-type]
    steps = int(rows["steeper_steps"].sum())
    below = int(rows["below_floor"].sum())
    unset = int(rows["not_set_at_exit"].sum())
    failures = []
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


CHECKS = {"linux.rate_halving": _rate_halving}

SETTING_BOUNDS: Decided = {
    "linux.rate_halving": "It is about every packet of a recovery, which the pictures do not hold."
}
