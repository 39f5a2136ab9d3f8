# SPDX-License-Identifier: BSD-3-Clause
"""Invents plans of campaigns, and uploads of ten seconds with a sample every 100 ms."""

from dataclasses import replace
from typing import Any

import numpy as np

from westwood.campaign import fit
from westwood.campaign.fit.summary import Measure

HEAD = """name = "try"
cc = ["cubic", "reno"]
uploads = 2
timeout = "10s"
retries = 1
retry_after = "50ms"
"""
FAR = """
[[target]]
name = "far"
path = { rate = "10Mbps", delay = "10ms", queue = { limit = "50p" }, loss = { rate = 0.01 } }
sizes = ["50kB", "150kB"]
"""
LAB = """
[[target]]
name = "lab"
server = "127.0.0.1:5301"
sizes = ["300kB"]
"""
STEP_S = 0.1
COUNT = 101  # samples: ten seconds


def upload(**more: Any) -> fit.Upload:
    """A steady upload of 100 segments of 1000 bytes a second over a round trip of 100 ms."""
    steps = np.arange(COUNT, dtype=float)
    given = {
        "cc": "cubic",
        "mss": 1000,
        "rtt_min_s": 0.1,
        "time_s": STEP_S * steps,
        "srtt_s": np.full(COUNT, 0.1),
        "delivered": 10 * steps,
        "sent": 10 * steps + 10,
        "retransmitted": np.zeros(COUNT),
    }
    return fit.Upload(**{**given, **more})


def after(*losses: tuple[int, int]) -> Any:
    """Returns the retransmissions so far, from pairs of a sample and what is added there."""
    new = np.zeros(COUNT)
    for place, count in losses:
        new[place] += count
    return np.cumsum(new)


def between(first: int, last: int, value: float, other: float = 0.1) -> Any:
    """Returns a column with one value from one sample to another, and another elsewhere."""
    places = np.arange(COUNT)
    return np.where((places >= first) & (places <= last), value, other)


QUEUED = upload(srtt_s=between(30, 49, 0.3), retransmitted=after((40, 2), (41, 1), (70, 4)))
CALM = replace(QUEUED, retransmitted=np.zeros(COUNT))
MEASURE = Measure.of([QUEUED])
