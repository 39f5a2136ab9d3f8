# SPDX-License-Identifier: BSD-3-Clause
"""The points at which measurement and theory are compared, and how each is measured."""

from __future__ import annotations

import math
import random
import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import polars as pl

from bench.theory import formulas
from westwood import Scenario, simulate, simulate_many
from westwood.control.catalogue import PROTOCOLS
from westwood.results.metrics import half_width
from westwood.scenario.one_link import one_link

RTT_S = 0.1
SEGMENT = 1460  # payload of 1500 B without options
# The loss recovery that formulas of the nineties assume, over any path without a queue.
HANDSHAKE = 2  # packets from the sender before its first segment
CLASSIC = {"recovery": "sack", "rack": False, "frto": False, "undo": False, "timestamps": False}


LONG_QUEUE = {"kind": "droptail", "limit": "1000000p"}
COUNTS = (2, 10, 50)  # equal flows


@dataclass(frozen=True)
class Point:
    """A line of a table: the value by theory, and a function that measures it, once per run."""

    name: str
    theory: float
    measure: Callable[[], list[float]]
    quick: bool = True  # measured again by `make test`

    @property
    def start(self) -> str:
        return f"| {self.name} | {self.theory:.4g} |"

    def row(self) -> str:
        """Measures the point. Returns its line of the page."""
        runs = self.measure()
        mean = statistics.fmean(runs)
        half = half_width(statistics.stdev(runs), len(runs)) if len(runs) > 1 else math.nan
        shown = f" ± {half / self.theory:.3f}" if half > 0 else ""
        return f"{self.start} {mean:.4g} | {mean / self.theory:.3f}{shown} | {len(runs)} |"


@dataclass(frozen=True)
class Shares:
    """A line of the table of Jain's index, which is 1 by theory: a control's equal flows."""

    name: str
    quick: bool

    @property
    def start(self) -> str:
        return f"| `{self.name}` |"

    def row(self) -> str:
        """Measures the index of each number of flows. Returns the line of the page."""
        runs = [_jain(self.name, flows) for flows in COUNTS]
        cells = (
            f"{statistics.fmean(seeds):.3f} ± {half_width(statistics.stdev(seeds), len(seeds)):.3f}"
            for seeds in runs
        )
        return f"{self.start} {' | '.join(cells)} |"


@dataclass(frozen=True)
class Study:
    """A table of the page, with the name of its section."""

    name: str
    of: str  # what is compared, with its unit
    points: Sequence[Point | Shares] = field(default=())
    heads: Sequence[str] = ("theory", "measured", "ratio", "runs")

    def table(self) -> Iterator[str]:
        """Yields the table's lines, measured."""
        yield f"| {self.of} | {' | '.join(self.heads)} |"
        yield f"| --- |{' ---: |' * len(self.heads)}"
        yield from (point.row() for point in self.points)


def free_path(loss: dict[str, object], duration_s: float, **flow: object) -> Scenario:
    """Returns a flow over 100 ms and a link that is never full: only losses bound its window."""
    link = {"rate": "10Gbps", "delay": f"{RTT_S / 2 * 1000:.0f}ms", "queue": LONG_QUEUE}
    tcp = {"name": "tcp", "receive_window": "1GiB", **CLASSIC, **flow}
    return one_link("theory", f"{duration_s:.3f}s", {**link, "loss": loss}, tcp)


def mean_window(scenario: Scenario, seed: int = 1) -> float:
    """Returns the segments delivered per round trip."""
    goodput_bps = float(simulate(scenario, seed).rows["goodput_bps"][0])
    return goodput_bps * RTT_S / 8 / SEGMENT


def periodic(p: float, window: float, epochs: int, **flow: object) -> list[float]:
    """Returns mean windows where every 1/p-th packet is lost, starting at ten different packets."""
    every = round(1 / p)
    duration_s = epochs * every / window * RTT_S
    packets = 2 * epochs * every
    flow = {"initial_ssthresh": f"{max(2, round(window))}p", **flow}
    return [
        mean_window(
            free_path(
                {"kind": "script", "packets": list(range(first, packets, every))},
                duration_s,
                **flow,
            )
        )
        for first in range(10, every + 10, every // 10)
    ]


def uniform(p: float, window: float, epochs: int, **flow: object) -> list[float]:
    """Returns mean windows where each packet is lost with probability p: ten seeds."""
    duration_s = epochs / p / window * RTT_S
    flow = {"initial_ssthresh": f"{max(2, round(window))}p", **flow}
    scenario = free_path({"kind": "uniform", "rate": p}, duration_s, **flow)
    return [mean_window(scenario, seed) for seed in range(1, 11)]


def _mathis(kind: str) -> Iterator[Point]:
    measure, constant = {
        "periodic": (periodic, formulas.PERIODIC),
        "random": (uniform, formulas.RANDOM),
    }[kind]
    for b in (1, 2):
        for p in (1e-2, 1e-3, 1e-4):
            window = formulas.mathis(p, constant, b)
            flow = {"cc": {"name": "sack", "byte_counting": False}, "delayed_ack": b}
            yield Point(
                f"p = {p:g}, an ACK for {b}",
                window,
                partial(measure, p, window, 200, **flow),
                quick=p > 1e-4,
            )


def _cubic() -> Iterator[Point]:
    cc = {"name": "cubic", "slow_start": "standard", "fast_convergence": False}
    for p in (1e-2, 1e-3, 1e-4, 1e-5):
        window = formulas.cubic(p, RTT_S)
        measure = partial(periodic, p, window, 40, cc=cc, delayed_ack=1)
        yield Point(f"p = {p:g}", window, measure, quick=p > 1e-4)


# ---- PFTK: when a packet is lost, all later packets of its round are lost


def correlated_losses(p: float, losses: int, seed: int) -> tuple[list[int], float]:
    """Returns the packets that the link must lose by the model, and when the last of them was sent.

    The number of packets between two losses is geometric. A round is a burst here, because nothing
    spreads its packets: the rest of it is what is sent within half a round trip. Where a round ends
    depends on all losses before it, so they are found one by one.
    """
    draws = random.Random(seed)
    lost: list[int] = []
    segment, sent_s = -1, 0.0  # counted as sent, including retransmissions
    for _ in range(losses):
        segment += 1 + int(math.log(draws.random()) / math.log(1 - p))
        more_s = 1.0
        while len(times := _sent(lost, sent_s + more_s)) <= segment:
            more_s *= 2
        sent_s = times[segment]
        while segment < len(times) and times[segment] < sent_s + RTT_S / 2:
            lost.append(segment + 1 + HANDSHAKE)
            segment += 1
        segment -= 1
    return lost, sent_s


def _pftk_path(lost: list[int], duration_s: float) -> Scenario:
    loss: dict[str, object] = {"kind": "script", "packets": lost} if lost else {"kind": "none"}
    cc = {"name": "sack", "byte_counting": False}
    return free_path(
        loss, duration_s, cc=cc, delayed_ack=1, limited_transmit=False, initial_ssthresh="2p"
    )


def _sent(lost: list[int], duration_s: float) -> list[float]:
    events = simulate(_pftk_path(lost, duration_s), 1, events=True).events
    return events.filter(pl.col("kind").is_in(["send", "retransmit", "probe"]))["time_s"].to_list()


def _pftk_runs(p: float, losses: int) -> list[float]:
    points = []
    for seed in range(1, 7):
        lost, duration_s = correlated_losses(p, losses, seed)
        row = simulate(_pftk_path(lost, duration_s), 1).flow_rows[0]
        points.append(row["sent"] / duration_s)
    return points


def _pftk() -> Iterator[Point]:
    for p in (0.005, 0.01, 0.02, 0.05):
        rate = formulas.pftk(p, RTT_S, 1.0)
        yield Point(f"p = {p:g}", rate, partial(_pftk_runs, p, 60), quick=p == 0.05)


# ---- Queues


def _queue_path(sources: dict[str, object], duration_s: float) -> Scenario:
    link = {"rate": "12Mbps", "delay": "0s", "queue": LONG_QUEUE}  # one packet per millisecond
    udp = {"name": "udp", "packet": "1500B", **sources}
    return one_link("theory", f"{duration_s:.6f}s", link, udp)


def _waits(scenario: Scenario, seeds: int) -> list[float]:
    """Returns mean waits in the queue, in service times."""
    service_s = 1e-3
    return [
        float(simulate(scenario, seed, queues=True).links["mean_wait_s"][0]) / service_s
        for seed in range(1, seeds + 1)
    ]


def _md1() -> Iterator[Point]:
    for load in (0.3, 0.5, 0.8, 0.9):
        app = {"kind": "udp", "rate": f"{load * 12:g}Mbps", "spacing": "exponential"}
        scenario = _queue_path({"app": app}, 200)
        wait = formulas.md1_wait(load)
        yield Point(f"load {load:g}", wait, partial(_waits, scenario, 20))


def _sum_dd1() -> Iterator[Point]:
    for sources, load in ((2, 0.5), (10, 0.5), (10, 0.9), (50, 0.8), (50, 0.95)):
        rate = round(load * 12e6 / sources)
        period_s = 12000 / rate
        flow = {"app": {"kind": "udp", "rate": f"{rate}bps"}, "count": sources}
        scenario = _queue_path({**flow, "start_spread": f"{period_s * 1e6:.0f}us"}, 40 * period_s)
        wait = formulas.sum_dd1_wait(sources, load)
        yield Point(f"{sources} sources, load {load:g}", wait, partial(_waits, scenario, 400))


# ---- Shares


def shared(cc: str, flows: int, duration_s: int) -> Scenario:
    """Returns equal flows of a control: 2 Mb/s and a BDP of queue for each, 40 ms."""
    rate = 2e6 * flows
    queue = {"kind": "droptail", "limit": f"{max(10, round(rate * 0.04 / 12000))}p"}
    link = {"rate": f"{rate:.0f}bps", "delay": "20ms", "queue": queue}
    tcp = {"name": "tcp", "cc": cc, "count": flows, "start_spread": "1s"}
    return one_link("theory", f"{duration_s}s", link, tcp)


def _jain(cc: str, flows: int) -> list[float]:
    rows = simulate_many(shared(cc, flows, 100), range(1, 6))
    return rows.group_by("seed", maintain_order=True).agg(pl.col("jain").first())["jain"].to_list()


def _bbr(rate_mbps: float, delay_ms: float) -> list[float]:
    scenario = Scenario.preset("path").with_settings(
        {
            "path.loss": {"kind": "none"},
            "path.rate": f"{rate_mbps:g}Mbps",
            "path.delay": f"{delay_ms:g}ms",
            "path.queue.limit": f"{round(rate_mbps * delay_ms * 2 / 12) + 10}p",
            "tcp.cc": "bbr",
            "duration": "300s",
        }
    )
    return simulate_many(scenario, [1])["utilisation"].to_list()  # nothing is random


def _lone_bbr() -> Iterator[Point]:
    for rate_mbps, delay_ms in ((10, 10), (10, 50), (50, 20), (2, 100)):
        rtt_s = delay_ms / 500
        share = formulas.bbr_share(rtt_s, rate_mbps * 1e6 * rtt_s / 12000)
        measure = partial(_bbr, rate_mbps, delay_ms)
        yield Point(f"{rate_mbps} Mb/s, {delay_ms} ms one way", share, measure)


STUDIES = (
    Study("periodic", "mean window, segments", tuple(_mathis("periodic"))),
    Study("random", "mean window, segments", tuple(_mathis("random"))),
    Study("pftk", "segments sent per second", tuple(_pftk())),
    Study("cubic", "mean window, segments", tuple(_cubic())),
    Study("md1", "mean wait, service times", tuple(_md1())),
    Study("sum-dd1", "mean wait, service times", tuple(_sum_dd1())),
    Study(
        "fairness",
        "Jain's index",
        tuple(Shares(cc, quick=cc in ("westwood+", "cubic")) for cc in PROTOCOLS),
        tuple(f"{flows} flows" for flows in COUNTS),
    ),
    Study("bbr", "share of the link", tuple(_lone_bbr())),
)
