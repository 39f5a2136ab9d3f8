# SPDX-License-Identifier: BSD-3-Clause
"""Lists the grids by engine and name.

A profile treats all protocols alike, but a host may treat some differently: such settings stand
here with the protocols. Grids for Linux are in linux_grids.py, those for ns-2 in ns2_grids.py, and
those for QUIC stacks in quic_grids.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from westwood.experiments.validation import grid
from westwood.experiments.validation.linux_grids import LINUX
from westwood.experiments.validation.ns2_grids import NS2
from westwood.experiments.validation.quic_grids import NOQ, QUINN

_SACK: grid.Settings = {"recovery": "sack"}
# Unlike ns-3's NewReno its CUBIC reduces cwnd rather than the pipe, and counts what an ACK covers.
_CUBIC: grid.Settings = {
    **_SACK,
    "ssthresh_from_cwnd": True,
    "cc": {"name": "cubic", "byte_counting": True},
}
_FEW: Mapping[str, grid.Settings] = {
    "newreno": {"recovery": "newreno"},
    "sack": _SACK,
    "cubic": _CUBIC,
    "westwood+": _SACK,
    "westwood-cubic": _SACK,
}
# ns-3's own defaults where the profile has those of 2013, and a window for 100 Mb/s over 200 ms
# with a queue of twice that.
_TODAY = {
    "packet": "1500B",
    "initial_cwnd": "10p",
    "initial_ssthresh": "unlimited",
    "receive_window": "16MiB",
}
_SHARED: grid.Settings = {"rate": "1Gbps", "queue": {"limit": "unlimited"}}
# A lone flow's packets reach the bottleneck exactly when others leave, since the same link spaces
# its ACKs. Behind a link shorter than a packet's transmission ns-3 lets them leave first, as the
# simulator does. At the sender's own device it does not.
_ALONE: grid.Settings = {**_SHARED, "delay": "0.01ms"}

_grid = partial(grid.Grid, profile="ns3-3.44")

# ns-3's BBRv1 takes minutes a run with packets this small: see bench/comparators.py.
_SINGLE = _grid(
    says="one lossy flow",
    protocols={
        "reno": {"recovery": "reno"},
        "newreno": {"recovery": "newreno"},
        **dict.fromkeys(
            ("sack", "westwood", "westwood+", "westwood+-linux", "westwood-cubic"), _SACK
        ),
        "cubic": _CUBIC,
    },
    points=grid.product(rate=("2Mbps", "8Mbps"), delay=("0.01ms", "50ms"), loss=(0.001, 0.01)),
    alternate_delayed_ack=True,
    flow={"initial_cwnd": "1p"},
    access={"rate": "10Mbps", "delay": "45ms", "queue": {"limit": "10000p"}},
    length=grid.always("60s"),
    seeds=10,
)
_LOSSLESS = _grid(
    says="one flow that meets its own queue only",
    protocols={**_FEW, "vegas": _SACK, "westwood": _SACK},
    points=grid.product(
        rate=("1Mbps", "5Mbps", "20Mbps", "100Mbps"),
        delay=("2ms", "10ms", "40ms", "100ms"),
        queue=("0.5BDP", "1BDP", "2BDP"),
    ),
    flow=_TODAY,
    access=_ALONE,
    length=grid.Length(20_000, "30s", "120s"),
    seeds=1,
)
_DUMBBELL = _grid(
    says="flows that share a bottleneck",
    protocols=_FEW,
    points=grid.crossed(
        grid.listed(
            "flows rate delay queue",
            (2, "4Mbps", "20ms", "50p"),
            (10, "20Mbps", "20ms", "100p"),
            (50, "50Mbps", "20ms", "250p"),
        ),
        grid.product(rtts=("equal", "unequal"), reverse=(0.0, 0.5), spread=("5s",)),
    ),
    flow=_TODAY,
    access=_SHARED,
    length=grid.Length(100_000, "30s", "120s"),
    seeds=3,
)
_AQM = _grid(
    says="flows that meet RED, without and with ECN",
    protocols=_FEW,
    points=grid.crossed(
        grid.listed(
            "flows rate delay queue",
            (1, "2Mbps", "45ms", "60p"),
            (2, "10Mbps", "20ms", "120p"),
            (10, "10Mbps", "20ms", "120p"),
            (10, "20Mbps", "45ms", "240p"),
        ),
        grid.product(aqm=("red", "red-ecn"), spread=("5s",)),
    ),
    flow=_TODAY,
    access=_SHARED,
    length=grid.Length(50_000, "60s", "120s"),
    seeds=3,
)
_SHORT = _grid(
    says="one flow that ends, and when",
    protocols=_FEW,
    points=grid.crossed(
        grid.product(size=("10kB", "100kB", "1MB", "10MB")),
        grid.listed(
            "rate delay queue loss",
            ("10Mbps", "10ms", "50p", 0.0),
            ("10Mbps", "10ms", "50p", 0.01),
            ("50Mbps", "45ms", "100p", 0.0),
            ("50Mbps", "45ms", "100p", 0.005),
        ),
    ),
    flow=_TODAY,
    access=_ALONE,
    length=grid.always("200s"),
    seeds=20,
)
_BBR = _grid(
    says="one flow of BBRv3, or of BBRv1 in each host's own version",
    protocols={"bbr3": _SACK, "bbr": _SACK},
    points=[
        *grid.product(
            rate=("5Mbps", "20Mbps", "50Mbps"),
            delay=("10ms", "40ms"),
            queue=("0.25BDP", "1BDP", "2BDP", "4BDP"),
            loss=(0.0,),
        ),
        *grid.product(
            rate=("10Mbps",), delay=("10ms", "40ms"), queue=("1BDP",), loss=(0.001, 0.01, 0.03)
        ),
    ],
    flow=_TODAY,
    access=_ALONE,
    length=grid.always("30s"),
    seeds=2,
    by_name=True,
)
GRIDS: Mapping[str, Mapping[str, grid.Grid]] = {
    "ns3": {
        "single": _SINGLE,
        "lossless": _LOSSLESS,
        "dumbbell": _DUMBBELL,
        "aqm": _AQM,
        "short": _SHORT,
        "bbr": _BBR,
    },
    "linux": LINUX,
    "linux-um": LINUX,
    "ns2": NS2,
    "quinn": QUINN,
    "noq": NOQ,
}
# How long the grids take that are not only by name, on two cores.
TIMES: Mapping[str, str] = {
    "ns3": "an hour",
    "linux": "33 minutes",
    "linux-um": "a minute",
    "ns2": "half an hour",
    "quinn": "half a minute",
    "noq": "half a minute",
}
