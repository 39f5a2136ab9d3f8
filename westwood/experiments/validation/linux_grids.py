# SPDX-License-Identifier: BSD-3-Clause
"""Lists the grids for Linux, under the profile `linux-bursts`.

They run in real time, with as many parallel paths as two cores can carry. Other load on the machine
disturbs single runs, so results are medians. docs/cli.md says how long they take.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from functools import partial

import numpy as np

from westwood.engines.network import BURSTS
from westwood.experiments.validation import grid
from westwood.experiments.validation.quic_grids import PATHS, SAYS_BULK, SAYS_SHORT, TRANSFERS
from westwood.scenario.paths.numbers import log_uniform

_PRR: grid.Settings = {"recovery": "prr"}
# BBRv1 recovers losses by itself; our recovery only detects them.
_BBR: Mapping[str, grid.Settings] = {"bbr": {"recovery": "sack"}}
_FEW: Mapping[str, grid.Settings] = {**dict.fromkeys(("reno", "cubic", "westwood+"), _PRR), **_BBR}
_grid = partial(
    grid.Grid, profile=BURSTS, close=0.07, far=0.10, median=True, is_random=True, workers=8
)
_LOSSY = grid.listed(
    "rate delay loss queue",
    ("2Mbps", "95ms", 0.005, "100p"),
    ("2Mbps", "25ms", 0.01, "100p"),
    ("5Mbps", "10ms", 0.02, "100p"),
    ("10Mbps", "45ms", 0.005, "100p"),
    ("10Mbps", "25ms", 0.001, "60p"),
)

_SINGLE = _grid(
    says="one lossy flow",
    protocols={
        **dict.fromkeys(("reno", "cubic", "westwood", "westwood+", "westwoodnr+"), _PRR),
        "westwood+-linux24": {"recovery": "rate-halving"},
        **_BBR,
    },
    points=_LOSSY,
    length=grid.always("30s"),
    seeds=4,
)
_LOSSLESS = _grid(
    says="one flow that meets its own queue only",
    protocols={**_FEW, "westwood": _PRR},
    points=grid.product(
        rate=("2Mbps", "10Mbps"), delay=("10ms", "45ms"), queue=("0.5BDP", "1BDP", "2BDP")
    ),
    length=grid.Length(20_000, "20s", "60s"),
    seeds=1,
)
_DUMBBELL = _grid(
    says="flows that share a bottleneck",
    protocols=_FEW,
    points=grid.crossed(
        grid.listed(
            "flows rate delay queue", (2, "4Mbps", "20ms", "50p"), (5, "10Mbps", "20ms", "60p")
        ),
        grid.product(rtts=("equal", "unequal"), reverse=(0.0, 0.5), spread=("2s",)),
    ),
    access={"rate": "1Gbps", "queue": {"limit": "unlimited"}},
    length=grid.always("40s"),
    seeds=2,
)
_SHORT = _grid(
    says="one flow that ends, and when",
    protocols=_FEW,
    points=grid.crossed(
        grid.product(size=("10kB", "100kB", "1MB", "10MB")),
        grid.listed(
            "rate delay queue loss",
            ("10Mbps", "10ms", "50p", 0.0),
            ("10Mbps", "25ms", "60p", 0.005),
        ),
    ),
    length=grid.always("60s"),
    seeds=12,
)
# Where this kernel lacks tcp_westwood, an emulator counts time in instructions: one path per core.
_UPSTREAM = _grid(
    says="one flow of upstream's tcp_westwood",
    protocols={"westwood+-linux": _PRR},
    points=[*_LOSSY, *grid.listed("rate delay loss queue", ("10Mbps", "25ms", 0.0, "40p"))],
    length=grid.always("30s"),
    seeds=3,
    workers=2,
)
# The campaign of docs/westwood-cubic.md: alone and among its own, on small and large queues.
_MEMBER = _grid(
    says="westwood-cubic over many paths",
    protocols={"westwood-cubic": {"recovery": "sack"}},
    points=[
        *grid.product(
            flows=(1,),
            rate=("2Mbps", "5Mbps", "10Mbps"),
            delay=("10ms", "40ms", "120ms"),
            queue=("0.5BDP", "2BDP"),
            loss=(0.0, 0.005, 0.02),
        ),
        *grid.product(
            flows=(4,),
            rate=("10Mbps",),
            delay=("10ms", "40ms"),
            queue=("0.5BDP", "2BDP"),
            loss=(0.0, 0.005),
        ),
    ],
    length=grid.always("30s"),
    seeds=2,
)
_SHORT_QUEUES = _grid(
    says="westwood-cubic in short queues, alone and beside CUBIC",
    protocols={"westwood-cubic": {"recovery": "sack"}},
    points=grid.crossed(
        grid.listed(
            "flows rate delay queue loss",
            (1, "10Mbps", "10ms", "5ms", 0.0),
            (1, "10Mbps", "40ms", "5ms", 0.0),
            (1, "10Mbps", "40ms", "20ms", 0.0),
            (1, "10Mbps", "100ms", "20ms", 0.0),
            (1, "20Mbps", "10ms", "10ms", 0.002),
            (2, "20Mbps", "20ms", "2ms", 0.0),
            (4, "20Mbps", "50ms", "5ms", 0.0),
            (1, "40Mbps", "5ms", "1ms", 0.0),
            (1, "40Mbps", "20ms", "1ms", 0.0),
            (1, "40Mbps", "20ms", "5ms", 0.0),
            (1, "40Mbps", "50ms", "10ms", 0.0),
            (4, "40Mbps", "50ms", "20ms", 0.0),
            (1, "2Mbps", "10ms", "0.5BDP", 0.02),
            (1, "2Mbps", "40ms", "0.5BDP", 0.0),
            (1, "5Mbps", "10ms", "2BDP", 0.0),
            (1, "5Mbps", "120ms", "0.5BDP", 0.005),
            (1, "10Mbps", "40ms", "0.5BDP", 0.02),
            (1, "10Mbps", "40ms", "2BDP", 0.005),
            (2, "10Mbps", "120ms", "1BDP", 0.0),
            (4, "10Mbps", "10ms", "2BDP", 0.0),
        ),
        grid.product(beside=(0.0, 1.0)),
    ),
    length=grid.always("30s"),
    seeds=3,
    workers=3,
    by_name=True,
)


def _lossy_paths(count: int) -> list[grid.Settings]:
    """Draws paths that hold 50 to 2000 packets and lose 0.5 to 4 % of them."""
    choices = random.Random("lossy paths")
    drawn: list[grid.Settings] = []
    while len(drawn) < count:
        mbps, rtt_ms = log_uniform(choices, 5, 400), log_uniform(choices, 10, 200)
        queue, loss = log_uniform(choices, 0.25, 2), log_uniform(choices, 0.005, 0.04)
        if 50 <= mbps * 1e3 * rtt_ms / 12e3 <= 2000:
            path = {"rate": f"{mbps:.0f}Mbps", "delay": f"{rtt_ms / 2:.2f}ms"}
            drawn.append({**path, "queue": f"{queue:.2f}BDP", "loss": round(loss, 4)})
    return drawn


_DRAWN = _grid(
    says="westwood-cubic on drawn paths that lose packets, alone and beside CUBIC",
    protocols={"westwood-cubic": {"recovery": "sack"}},
    points=grid.crossed(_lossy_paths(24), grid.product(beside=(0.0, 1.0))),
    length=grid.always("20s"),
    seeds=6,
    workers=2,
    by_name=True,
)
_BBRS = _grid(
    says="BBRv3 and BBRv1 alone, in pairs and beside CUBIC",
    protocols={"bbr3": {"recovery": "sack"}, **_BBR},
    points=grid.listed(
        "flows beside rate delay queue loss",
        *(
            (1, 0.0, rate, delay, queue, 0.0)
            for rate in ("2Mbps", "10Mbps")
            for delay in ("10ms", "45ms")
            for queue in ("0.5BDP", "1BDP", "4BDP")
        ),
        (1, 0.0, "2Mbps", "95ms", "100p", 0.005),
        (1, 0.0, "2Mbps", "25ms", "100p", 0.01),
        (1, 0.0, "5Mbps", "10ms", "100p", 0.02),
        (1, 0.0, "5Mbps", "45ms", "1BDP", 0.01),
        (1, 0.0, "10Mbps", "45ms", "1BDP", 0.005),
        (1, 0.0, "10Mbps", "25ms", "60p", 0.001),
        (1, 0.0, "20Mbps", "20ms", "1BDP", 0.0),
        (1, 0.0, "20Mbps", "20ms", "1BDP", 0.01),
        (2, 0.0, "10Mbps", "20ms", "0.5BDP", 0.0),
        (2, 0.0, "10Mbps", "20ms", "1BDP", 0.0),
        (2, 0.0, "10Mbps", "45ms", "2BDP", 0.0),
        (4, 0.0, "10Mbps", "20ms", "1BDP", 0.0),
        (4, 0.0, "20Mbps", "20ms", "2BDP", 0.005),
        (1, 1.0, "10Mbps", "20ms", "0.5BDP", 0.0),
        (1, 1.0, "10Mbps", "20ms", "1BDP", 0.0),
        (1, 1.0, "10Mbps", "20ms", "2BDP", 0.0),
        (1, 1.0, "10Mbps", "20ms", "4BDP", 0.0),
        (2, 1.0, "20Mbps", "20ms", "1BDP", 0.0),
    ),
    length=grid.always("30s"),
    seeds=3,
    workers=3,
    by_name=True,
)


def _drawn_paths() -> list[grid.Settings]:
    """Draws paths for a control beside as many CUBIC flows; on every third three flows each."""
    draw = np.random.default_rng(51)
    points = []
    for place in range(30):
        mbps, rtt_ms, bdps = (
            float(np.exp(draw.uniform(np.log(least), np.log(most))))
            for least, most in ((2, 30), (10, 200), (0.05, 4))
        )
        loss = float(np.exp(draw.uniform(np.log(0.0005), np.log(0.01))))
        packets = max(3, round(bdps * mbps * rtt_ms / 12))  # of 1500 B
        points += grid.listed(
            "flows beside spread rate delay queue loss",
            (
                3 if place % 3 == 2 else 1,
                1.0,
                "1s",
                f"{mbps:.1f}Mbps",
                f"{rtt_ms / 2:.1f}ms",
                f"{packets}p",
                round(loss, 4) if place % 3 == 1 else 0.0,
            ),
        )
    return points


_BESIDE_CUBIC = _grid(
    says="controls beside CUBIC on paths drawn at random",
    protocols={
        **dict.fromkeys(("reno", "cubic", "westwood+"), _PRR),
        **_BBR,
        **dict.fromkeys(("westwood-cubic", "bbr3"), _BBR["bbr"]),
    },
    points=_drawn_paths(),
    length=grid.always("30s"),
    seeds=24,
    has_range=True,
    by_name=True,
)
_QUEUES = _grid(
    says="queue disciplines of the simulator and of the kernel",
    protocols=dict.fromkeys(("reno", "cubic"), _PRR),
    points=grid.crossed(
        grid.product(
            aqm=("codel", "fq_codel", "pie", "pie-linux", "fq_pie", "cake", "cake-shaped")
        ),
        grid.listed(
            "flows spread rate delay queue",
            *((flows, "1s", f"{mbps}Mbps", f"{delay_ms}ms", "1000p") for flows, mbps, delay_ms in (
                (1, 10, 20), (1, 50, 10), (2, 5, 50), (4, 10, 20), (4, 50, 50), (8, 20, 10),
                (8, 50, 20), (16, 20, 40),
            )),
        ),
    ),
    length=grid.always("30s"),
    seeds=3,
    by_name=True,
)  # fmt: skip
# The paths of the QUIC stacks.
_quic = partial(_grid, protocols={"cubic": _PRR}, workers=4, by_name=True)
_QUIC = _quic(says=SAYS_BULK, points=PATHS, length=grid.always("20s"), seeds=3)
_QUIC_SHORT = _quic(says=SAYS_SHORT, points=TRANSFERS, length=grid.always("30s"), seeds=12)
LINUX: Mapping[str, grid.Grid] = {
    "single": _SINGLE,
    "lossless": _LOSSLESS,
    "dumbbell": _DUMBBELL,
    "short": _SHORT,
    "upstream": _UPSTREAM,
    "westwood-cubic": _MEMBER,
    "short-queues": _SHORT_QUEUES,
    "lossy": _DRAWN,
    "bbr": _BBRS,
    "beside-cubic": _BESIDE_CUBIC,
    "queues": _QUEUES,
    "quic": _QUIC,
    "quic-short": _QUIC_SHORT,
}
