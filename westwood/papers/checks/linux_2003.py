# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "Linux 2.4 Implementation of Westwood+ TCP" (Dell'Aera et al. 2003)."""

from __future__ import annotations

from collections.abc import Mapping

from westwood.papers.checks import words
from westwood.papers.checks.bounds import Decided
from westwood.papers.checks.common import Finding, Measured

_PLUS = "westwood+-linux24"
_SSTHRESH, _CWND = "ssthresh_over_pipe", "sampled_cwnd"
_UCLA, _PARMA = "95ms", "25ms"  # one way
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


def _ssthresh(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["ssthresh"]
    ssthresh, cwnd = (
        measured.curve(_PLUS, column).over(measured.curve("newreno", column))
        for column in (_SSTHRESH, _CWND)
    )
    failures = []
    if not words.above(ssthresh[_UCLA], words.CLEARLY):
        failures.append(f"to UCLA ssthresh is {words.written(ssthresh[_UCLA])} times NewReno's")
    for name, ratio in (("ssthresh", ssthresh[_PARMA]), ("cwnd", cwnd[_PARMA])):
        if not words.alike(ratio):
            failures.append(f"to Parma {name} is {words.written(ratio)} times NewReno's")
    return Finding(
        {
            "ssthresh_over_newrenos": {
                "ucla": ssthresh[_UCLA].mean,
                "parma": ssthresh[_PARMA].mean,
            },
            "cwnd_over_newrenos": {"ucla": cwnd[_UCLA].mean, "parma": cwnd[_PARMA].mean},
        },
        failures,
    )


def _backlog(all_: Mapping[str, Measured]) -> Finding:
    share = all_["rate-halving"].runs({}, "backlog_cleared").mean
    name = "the share of reductions after which the backlog is gone"
    return Finding({"cleared": share.mean}, list(words.outside(name, share, 1.0)))


CHECKS = {
    "linux.rate_halving": _rate_halving,
    "linux.backlog": _backlog,
    "linux.ssthresh": _ssthresh,
}

SETTING_BOUNDS: Decided = {
    "linux.backlog": "It is about the round trips after each reduction, which no mean shows.",
    "linux.ssthresh": "It is about two paths, so no single setting shows it.",
    "linux.rate_halving": "It is about every packet of a recovery, which the pictures do not hold.",
}
