# SPDX-License-Identifier: BSD-3-Clause
"""Lists the grids for the QUIC stacks: CUBIC on forty paths.

Each stack runs its own CUBIC and ours. The simulator runs ours in TCP. Linux has the same paths in
its grids `quic` and `quic-short`. `python -m tools.pages quic FOLDER...` writes the tables of
docs/quic.md from all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from westwood.experiments.validation.grid import Grid, Settings, always, crossed, product

PATHS = product(
    rate=("2Mbps", "5Mbps", "10Mbps", "20Mbps", "50Mbps"),
    delay=("10ms", "50ms"),
    queue=("0.5BDP", "2BDP"),
    loss=(0.0, 0.005),
)
TRANSFERS = crossed(product(size=("100kB",)), PATHS)
SAYS_BULK, SAYS_SHORT = "CUBIC on forty paths", "CUBIC's transfers of 100 kB, and when they end"


def _grids(stack: str) -> Mapping[str, Grid]:
    protocols: Mapping[str, Settings] = {f"{stack}:cubic": {}, "cubic": {}}
    grid = partial(Grid, profile="rfc", protocols=protocols, close=0.10)
    return {
        "cubic": grid(says=SAYS_BULK, points=PATHS, length=always("20s"), seeds=5),
        "short": grid(says=SAYS_SHORT, points=TRANSFERS, length=always("30s"), seeds=20),
    }


QUINN, NOQ = _grids("quinn"), _grids("noq")
