# SPDX-License-Identifier: BSD-3-Clause
"""Measures what docs/gallery.md shows, and draws its picture; docs/bbr3.json keeps the numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from tools.pages import DOCS, Numbers, Page, Sample
from westwood import Scenario, simulate
from westwood.draw.style import MBPS, legend, look, subplots
from westwood.markup import markdown_row
from westwood.scenario.one_link import one_link

if TYPE_CHECKING:
    from matplotlib.axes import Axes

QUEUES = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0)  # BDP
LOSSES = (0.1, 0.5, 1.0, 1.5, 2.0, 5.0)  # %
SEEDS = (1, 2, 3)
CONTROLS = ("bbr3", "bbr")
ALONE = (*CONTROLS, "cubic")
_ROUND_S, _SEGMENT = 0.04, 1500 * 8
_ROUNDS = 62  # between two probes of a flow with a short round trip: 5.3.3.8.3


def network(mbps: float, queue: float, flows: dict[str, str], **more: Any) -> Scenario:
    """Returns flows by name over one link with a round trip of 40 ms and a queue in BDPs."""
    packets = max(2, round(queue * mbps * MBPS * _ROUND_S / _SEGMENT))
    duration = more.pop("duration", "60s")
    link = {"name": "bottleneck", "rate": f"{mbps}Mbps", "delay": "20ms"}
    link |= {"queue": {"limit": f"{packets}p"}, **more}
    started = (
        {"name": name, "cc": cc, "start": f"{start}s"}
        for (name, cc), start in zip(flows.items(), (0, 0.3), strict=False)
    )
    return one_link("bbr3", duration, link, *started, ends=("a", "b"))


def shares(queue: float, first: str, second: str) -> tuple[float, float]:
    """Returns both flows' shares of the sum of their goodputs at 50 Mb/s: means over seeds."""
    scenario = network(50, queue, {"first": first, "second": second})
    sums = [0.0, 0.0]
    for seed in SEEDS:
        goodputs = [row["goodput_bps"] for row in simulate(scenario, seed).flow_rows]
        for flow, goodput in enumerate(goodputs):
            sums[flow] += goodput / sum(goodputs) / len(SEEDS)
    return sums[0], sums[1]


def utilised(cc: str, loss: float) -> float:
    """Returns the goodput over the rate of 100 Mb/s with a queue of a BDP and losses in %."""
    scenario = network(100, 1, {"alone": cc}, loss={"rate": loss / 100}, duration="30s")
    runs = (simulate(scenario, seed).flow_rows[0]["goodput_bps"] for seed in SEEDS)
    return float(sum(runs)) / len(SEEDS) / (100 * MBPS)


def predicted(loss: float) -> float:
    """Returns the draft's model: each round of cruising keeps (1 - loss) of the rate."""
    kept = [(1 - loss / 100) ** number for number in range(_ROUNDS)]
    return sum(kept) / _ROUNDS


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Runs everything; takes about a minute."""
    yield {
        "with_cubic": {cc: [shares(queue, cc, "cubic")[0] for queue in QUEUES] for cc in CONTROLS},
        "with_itself": {cc: [min(shares(queue, cc, cc)) for queue in QUEUES] for cc in CONTROLS},
        "loss": {cc: [utilised(cc, loss) for loss in LOSSES] for cc in ALONE},
    }


def tables(numbers: Numbers) -> dict[str, str]:
    """Returns the page's tables."""
    sharing = [
        markdown_row(
            [f"{queue:g}", *(f"{numbers[kind][cc][i]:.2f}" for kind in _KINDS for cc in CONTROLS)]
        )
        for i, queue in enumerate(QUEUES)
    ]
    losses = [
        markdown_row(
            [f"{loss:g} %", *(f"{numbers['loss'][cc][i]:.2f}" for cc in ALONE)]
            + [f"{predicted(loss):.2f}"]
        )
        for i, loss in enumerate(LOSSES)
    ]
    return {"sharing": "\n".join(sharing) + "\n", "losses": "\n".join(losses) + "\n"}


_KINDS = ("with_cubic", "with_itself")


def sharing_sample(place: int) -> Callable[[Numbers], Sample]:
    """Returns what measures the shares at a queue again."""
    queue = QUEUES[place]

    def sample(stored: Numbers) -> Sample:
        now = [[shares(queue, cc, "cubic")[0], min(shares(queue, cc, cc))] for cc in CONTROLS]
        return now, [[stored[kind][cc][place] for kind in _KINDS] for cc in CONTROLS]

    return sample


def loss_sample(place: int) -> Callable[[Numbers], Sample]:
    """Returns what measures BBRv3 at a loss rate again."""
    return lambda stored: (utilised("bbr3", LOSSES[place]), stored["loss"]["bbr3"][place])


def draw(stored: Numbers) -> None:
    """Draws 10 s of a flow, after Startup: its modes, its rates and its flight."""
    scenario = network(20, 1, {"alone": "bbr3"}, duration="12s")
    trace = simulate(scenario, 1, trace=True).trace
    trace = trace.filter(pl.col("mode").is_not_null(), pl.col("time_s") >= _FROM_S)
    with look():
        figure, (rates, volumes) = subplots(2, 1, size=(7.2, 4.8), sharex=True)
        figure.suptitle("BBRv3 probes for more bandwidth, and drains what that queued")
        for axes, curves in ((rates, _RATES), (volumes, _VOLUMES)):
            for column, (name, colour) in curves.items():
                values = trace[column] / (MBPS if axes is rates else 1)
                axes.step(trace["time_s"], values, where="post", label=name, color=colour, lw=1.2)
            _shade_modes(axes, trace, named=axes is rates)
            legend(axes)
        rates.set(ylabel="Rate (Mb/s)", ylim=(12, 30))
        volumes.set(xlabel="Time (s)", ylabel="Segments", ylim=(0, 190), xlim=(_FROM_S, 12))
        figure.savefig(DOCS / "img" / "bbr3.png")


_FROM_S = 2.0  # Startup and Drain are over
_RATES = {"pacing_bps": ("pacing rate", "#000C8C"), "bw_bps": ("estimated bandwidth", "#E13200")}
_VOLUMES = {
    "cwnd": ("window", "#8DC8EB"),
    "in_flight": ("in flight", "#000C8C"),
    "inflight_longterm": ("long-term bound of what is in flight", "#E13200"),
}
_SHADES = {"UP": "#EEBA07", "DOWN": "#8DC8EB", "ProbeRTT": "#C731C7", "REFILL": "#97A977"}


def _shade_modes(axes: Axes, trace: pl.DataFrame, *, named: bool) -> None:
    """Shades each mode but cruising, and names those that last long enough."""
    begins = trace.filter((pl.col("mode") != pl.col("mode").shift(1)).fill_null(value=True)).select(
        "time_s", "mode"
    )
    ends = [*begins["time_s"].to_list()[1:], trace["time_s"].to_list()[-1]]
    for (start_s, full), end_s in zip(begins.iter_rows(), ends, strict=True):
        mode = full.removeprefix("ProbeBW_")
        if mode in _SHADES:
            axes.axvspan(start_s, end_s, color=_SHADES[mode], alpha=0.25, linewidth=0)
        if named and end_s - start_s > 0.1:
            turned = 0 if end_s - start_s > 1 else 90
            middle = (start_s + end_s) / 2
            axes.text(middle, 12.3, mode, ha="center", va="bottom", fontsize=7, rotation=turned)


PAGE = Page(
    DOCS / "gallery.md",
    DOCS / "bbr3.json",
    tables,
    None,
    measured,
    {f"queue {QUEUES[place]:g}": sharing_sample(place) for place in (0, -1)}
    | {f"loss {LOSSES[place]:g}": loss_sample(place) for place in (1, 2, 3)},
    draw,
)
