# SPDX-License-Identifier: BSD-3-Clause
"""Compares the windows of the gallery's controls with ns-3's and with models of the equations."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from tests.westwood.one_link import one_link
from westwood import simulate

from . import models
from .models import Window
from .scripts import ACKS, Model, of_control, of_model

RECORDED = Path(__file__).with_name("ns3_windows.txt").read_text(encoding="utf-8")
EVERY = 500  # ACKs, of which ns3_windows.txt has the last: a window depends on all before it
INFINITE = 0x7FFFFFFF
NS3, EQUATIONS = "ns-3 3.44", "the equations, in floating point"
AS_NS3 = "ns-3 3.44 (the equations, rounded as there)"


def recorded(control: str) -> list[tuple[int, float]]:
    """Returns ns-3's cwnd, and alpha of DCTCP, after each 500th ACK."""
    lines = RECORDED.split(f"{control}\n")[1].split("Tcp")[0].splitlines()
    assert len(lines) == ACKS // EVERY
    return [(int(cwnd), float(alpha)) for _, cwnd, alpha in map(str.split, lines)]


def apart(ours: Sequence[int], theirs: Sequence[int]) -> int:
    """Returns the largest difference of two series, segments."""
    return max(abs(a - b) for a, b in zip(ours, theirs, strict=True))


def beside_ns3(windows: Sequence[int], control: str) -> int:
    return apart(windows[EVERY - 1 :: EVERY], [cwnd for cwnd, _ in recorded(control)])


def hybla() -> int:
    return beside_ns3([step.cwnd for step in of_control("hybla.c", 2, ssthresh=300)], "TcpHybla")


def scalable() -> int:
    """Compares with 50 ACKs a segment, as ns-3 has it."""
    windows = [step.cwnd for step in of_control("scalable.c", 60, parameters={0: 50})]
    return beside_ns3(windows, "TcpScalable")


def dctcp() -> int:
    return beside_ns3([step.cwnd for step in of_control("dctcp.c", 20, reduce="mark")], "TcpDctcp")


def equations() -> dict[str, tuple[int, Model]]:
    """Returns an ssthresh and a model of each control with equations of its own."""
    return {
        "highspeed.c": (2, models.HighSpeed(Window(30))),
        "illinois.c": (2, models.Illinois(Window(20))),
        "htcp.c": (2, models.Htcp(Window(20))),
        "areno.c": (2, models.AdaptiveReno(Window(20))),
        "tor_westwood.c": (INFINITE, models.TorWestwood(Window(4))),
        "jersey.c": (2, models.Jersey(Window(20))),
        "log_westwood.c": (2, models.LogWestwood(Window(20))),
    }


def beside_equations(name: str) -> int:
    ssthresh, model = equations()[name]
    seen = of_control(name, model.window.cwnd, ssthresh=ssthresh)
    return apart([step.cwnd for step in seen], of_model(model))


def rounded_as_ns3(name: str) -> int:
    """Compares the equations, rounded as ns-3 does, with ns-3."""
    control, model = {
        "highspeed.c": ("TcpHighSpeed", models.HighSpeed(Window(30), True)),
        "illinois.c": ("TcpIllinois", models.Illinois(Window(20), True)),
    }[name]
    return beside_ns3(of_model(model), control)


def copas_queue(flows: int) -> tuple[float, float]:
    """Returns the queue of Copa flows that 1 % of segments exceed, and their own mean, segments.

    A link of 24 Mb/s carries two segments each ms. A round trip includes a segment's own half ms.
    """
    cc = {"name": "copa.c", "competes": 0}
    tables = [{"cc": cc, "start": f"{500 * i}ms"} for i in range(flows)]
    link = {"rate": "24Mbps", "delay": "50ms", "queue": {"limit": "1000p"}}
    scenario = one_link(*tables, link=link, duration="25s")
    seen = simulate(scenario, 1, trace=True).trace.filter(pl.col("time_s") > 12)
    longest = 2000 * (seen["rtt_s"].quantile(0.99) - 0.1) - 1  # type: ignore[operator]
    return longest, 2 * seen["queueing_us"].mean() / 1000  # type: ignore[operator, return-value]


def measured() -> dict[str, list[tuple[str, int]]]:
    """Returns the largest difference of each control from each thing that it is compared with."""
    distances = {
        "hybla.c": [(NS3, hybla())],
        "scalable.c": [(NS3, scalable())],
        "dctcp.c": [(NS3, dctcp())],
    }
    distances |= {name: [(EQUATIONS, beside_equations(name))] for name in equations()}
    for name in ("highspeed.c", "illinois.c"):
        distances[name].append((AS_NS3, rounded_as_ns3(name)))
    for flows in (1, 2, 4):
        longest, _ = copas_queue(flows)
        what = f"the paper's queue of {5 * flows} segments, flows: {flows}"
        distances.setdefault("copa.c", []).append((what, round(abs(longest - 5 * flows))))
    return dict(sorted(distances.items()))
