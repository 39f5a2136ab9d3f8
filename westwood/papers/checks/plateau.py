# SPDX-License-Identifier: BSD-3-Clause
"""Checks the claims of "Improvement Congestion Avoidance over TCP Westwood" (Frikha, Chekir)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from westwood.catalogue import label
from westwood.papers.checks.bounds import Bounds, Condition, Decided, SettingBounds, Term, ratio
from westwood.papers.checks.common import THROUGHPUT, Finding, Measured, outside, shown

_BEFORE, _AFTER = "westwoodnr", "westwoodnr+"
_PUBLISHED_BEFORE_BPS = 4.510e6  # wireless, without the plateau
_PUBLISHED_CTE = {"plateau-cte-wired": 3.6, "plateau-cte-wireless": 2.0}
_NO_MORE = Bounds(most=1.0)
# Bounds of the throughput over the competing control's.
_BESIDE = {"newreno": Bounds(1.2, 1.7), _BEFORE: Bounds(0.95, 1.2)}
_NOT_STARVED = Bounds(0.5)  # bound of the share of a fair half


def _wired(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["plateau-wired"]
    values = {row["cc"]: row for row in measured.points.iter_rows(named=True)}
    before, after = values[_BEFORE], values[_AFTER]
    gain = after[THROUGHPUT] / before[THROUGHPUT] - 1
    failures = [] if gain > 0 else [f"the plateau costs {-gain:.2%}"]
    if after["loss_ratio"] > before["loss_ratio"]:
        failures.append(
            f"the loss ratio rises from {before['loss_ratio']:.4%} to {after['loss_ratio']:.4%}"
        )
    return Finding(
        {
            "before_bps": before[THROUGHPUT],
            "after_bps": after[THROUGHPUT],
            "gain": gain,
            "loss_ratio": [before["loss_ratio"], after["loss_ratio"]],
        },
        failures,
    )


def _wireless(all_: Mapping[str, Measured]) -> Finding:
    measured = all_["plateau-wireless"]
    table = measured.table()
    gains = {per: row[_AFTER] / row[_BEFORE] - 1 for per, row in table.items()}
    failures = []
    for per, gain in gains.items():
        difference = measured.difference(per, _AFTER, _BEFORE)
        if difference.mean <= 0:
            failures.append(f"at {shown(per)} the plateau costs {-gain:.2%}")
    nearest = min(table, key=lambda per: abs(table[per][_BEFORE] - _PUBLISHED_BEFORE_BPS))
    return Finding(
        {
            "gain": {shown(per): gain for per, gain in gains.items()},
            "nearest_to_the_published_4.510_Mb/s": {
                "per": nearest,
                "before_bps": table[nearest][_BEFORE],
                "gain": gains[nearest],
            },
        },
        failures,
    )


def _cte(all_: Mapping[str, Measured]) -> Finding:
    found: dict[str, Any] = {}
    failures = []
    for name, published in _PUBLISHED_CTE.items():
        points = all_[name].points
        curve = dict(zip(points["tcp.cc.cte"], points[THROUGHPUT], strict=True))
        best = max(curve, key=lambda cte: curve[cte])
        short = 1 - curve[published] / curve[best]
        found[name] = {
            "best_cte": best,
            "best_bps": curve[best],
            "at_published_bps": curve[published],
            "curve_bps": {shown(cte): value for cte, value in curve.items()},
        }
        if best != published:
            failures.append(
                f"{name}: the best cte is {best:g}, and {published:g} gives {short:.2%} less"
            )
    return Finding(found, failures)


def _beside(all_: Mapping[str, Measured], other: str) -> tuple[float, float]:
    """Returns S1's throughput over S2's, and S2's share of its fair half; S2 runs `other`."""
    points = all_["plateau-friendly"].points.filter(pl.col("S2-tcp.cc") == other)
    values = dict(zip(points["flow"], points[THROUGHPUT], strict=True))
    one, two = values["S1-tcp"], values["S2-tcp"]
    return one / two, 2 * two / (one + two)


def _friendly_newreno(all_: Mapping[str, Measured]) -> Finding:
    over, share = _beside(all_, "newreno")
    failures = outside("the ratio", over, *_BESIDE["newreno"])
    failures += outside("NewReno's share of its fair half", share, *_NOT_STARVED)
    return Finding({"ratio": over, "newreno_share_of_fair": share}, failures)


def _friendly_westwood(all_: Mapping[str, Measured]) -> Finding:
    over, share = _beside(all_, _BEFORE)
    return Finding(
        {"ratio": over, "westwoodnr_share_of_fair": share},
        outside("the ratio", over, *_BESIDE[_BEFORE]),
    )


CHECKS = {
    "plateau.wired": _wired,
    "plateau.wireless": _wireless,
    "plateau.cte": _cte,
    "plateau.friendly_newreno": _friendly_newreno,
    "plateau.friendly_westwood": _friendly_westwood,
}


def _over(other: str) -> Condition:
    """Returns the condition on the ratio of the first source's throughput to the second's."""
    one, two = (Term(cc, {"S2-tcp.cc": other}) for cc in (_AFTER, other))
    return Condition(
        f"{label(_AFTER)} over a competing {label(other)}", [one], [two], within=_BESIDE[other]
    )


_GAIN = ratio(_AFTER, _BEFORE)

SETTING_BOUNDS: Decided = {
    "plateau.wired": {
        "plateau-wired": SettingBounds([_GAIN, ratio(_AFTER, _BEFORE, _NO_MORE, "loss_ratio")])
    },
    "plateau.wireless": {"plateau-wireless": SettingBounds([_GAIN])},
    "plateau.cte": "It is about the best of many values of cte, and no single setting shows that.",
    "plateau.friendly_newreno": {"plateau-friendly": SettingBounds([_over("newreno")])},
    "plateau.friendly_westwood": {"plateau-friendly": SettingBounds([_over(_BEFORE)])},
}
