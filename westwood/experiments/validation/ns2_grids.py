# SPDX-License-Identifier: BSD-3-Clause
"""Lists the grids for ns-2 2.35, under the profiles of the papers that used ns-2.

`2001` and `2005` are the profiles as they decide claims. The grids `-own` add what ns-2 does beyond
the profiles (`OWN_WAYS`). What then differs is due to ns-2's clock and its Vegas. `2002` and
`2002-varying` are UCLA's own module in the ns-2 of its month, with its two filters; they need such
an ns-2. docs/comparison.md has the results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from westwood.experiments.validation.grid import Grid, Length, Settings, listed

OWN_WAYS: Settings = {
    "recovery_restarts_rto": True,
    "guards_recovery": True,
    "ssthresh_from_cwnd": True,
    "repeated_timeouts_reduce": True,
    "full_ack_to_ssthresh": True,
    "grows_at_exit": True,
}
# opencwnd() adds increase_num_ / cwnd_; TCP-Linux and Vegas grow differently.
OWN_GROWTH: Settings = {"fractional_cwnd": True}
# TCP-Linux hands tcp_westwood.c its SRTT in ticks, which are jiffies only if they last 1 ms. It
# grows by the acknowledged segments.
_LINUX: Settings = {
    "recovery": "sack",
    "clock_granularity": "1ms",
    "cc": {"name": "westwood+-linux", "rtt_tick": "1ms", "byte_counting": True},
}
# ns-2's thresholds, which lie between 1 and 3 segments.
_VEGAS: Settings = {
    "recovery": "newreno",
    "cc": {"name": "vegas", "vegas_alpha": 1, "vegas_beta": 3},
}
_PROTOCOLS: Mapping[str, Settings] = {
    **{name: {"recovery": name} for name in ("tahoe", "reno", "newreno", "sack")},
    "vegas": _VEGAS,
    "westwood+-linux": _LINUX,
}
_OWN_PROTOCOLS: Mapping[str, Settings] = {
    name: {**protocol, "cc": {"name": name, **OWN_GROWTH}} if "cc" not in protocol else protocol
    for name, protocol in _PROTOCOLS.items()
}
# The paths of the papers: a bottleneck of 2 to 10 Mb/s with up to 20 flows.
POINTS: Sequence[Settings] = listed(
    "flows rate delay queue aqm loss spread",
    (1, "2Mbps", "10ms", "20p", "droptail", 0.0, "0s"),
    (1, "2Mbps", "45ms", "50p", "droptail", 0.0, "0s"),
    (1, "2Mbps", "45ms", "50p", "droptail", 0.001, "0s"),
    (1, "2Mbps", "45ms", "50p", "droptail", 0.01, "0s"),
    (1, "2Mbps", "45ms", "50p", "droptail", 0.05, "0s"),
    (1, "5Mbps", "35ms", "50p", "droptail", 0.0, "0s"),
    (1, "5Mbps", "35ms", "50p", "droptail", 0.001, "0s"),
    (1, "5Mbps", "35ms", "50p", "droptail", 0.005, "0s"),
    (1, "10Mbps", "25ms", "50p", "droptail", 0.005, "0s"),
    (1, "10Mbps", "100ms", "100p", "droptail", 0.002, "0s"),
    (1, "2Mbps", "45ms", "60p", "red", 0.0, "0s"),
    (2, "5Mbps", "35ms", "50p", "droptail", 0.0, "2s"),
    (5, "5Mbps", "35ms", "50p", "droptail", 0.0, "2s"),
    (10, "10Mbps", "35ms", "50p", "droptail", 0.0, "2s"),
    (20, "10Mbps", "35ms", "100p", "droptail", 0.0, "2s"),
    (5, "5Mbps", "35ms", "50p", "droptail", 0.002, "2s"),
    (2, "5Mbps", "35ms", "60p", "red", 0.0, "2s"),
    (5, "5Mbps", "35ms", "60p", "red", 0.0, "2s"),
    (10, "10Mbps", "35ms", "120p", "red", 0.0, "2s"),
    (20, "10Mbps", "35ms", "120p", "red", 0.0, "2s"),
)


_grid = partial(
    Grid,
    points=POINTS,
    length=Length(30_000, "30s", "60s"),
    seeds=3,
    median=True,
    red={"spared": 1},
)
_AN_ACK_EACH: Settings = {"delayed_ack": 1}  # as in the profile
# The module's filter types 1 and 3.
_EVEN: Settings = {"name": "westwood-ucla", **OWN_GROWTH}
_VARYING: Settings = {**_EVEN, "filter": "tustin", "tau": "1s", "m": 2, "null_trapezoid": True}


def _of_ucla(cc: Settings, says: str) -> Grid:
    return _grid(
        says=says,
        profile="ns2-2002",
        protocols={"westwood-ucla": {**_AN_ACK_EACH, "cc": cc}},
        by_name=True,
    )


_as_claims = partial(_grid, protocols=_PROTOCOLS)
_as_ns2 = partial(_grid, protocols=_OWN_PROTOCOLS)

NS2: Mapping[str, Grid] = {
    "2001": _as_claims(says="the profile of 2001", profile="ns2-2001"),
    "2005": _as_claims(says="the profile of 2005", profile="ns2-2005", flow=_AN_ACK_EACH),
    "2001-own": _as_ns2(says="that of 2001, with ns-2's ways", profile="ns2-2001", flow=OWN_WAYS),
    "2005-own": _as_ns2(
        says="that of 2005, with ns-2's ways", profile="ns2-2005", flow={**_AN_ACK_EACH, **OWN_WAYS}
    ),
    "2002": _of_ucla(_EVEN, "UCLA's module with its filter type 1"),
    "2002-varying": _of_ucla(_VARYING, "UCLA's module with its filter type 3"),
}
