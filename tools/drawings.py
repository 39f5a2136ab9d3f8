# SPDX-License-Identifier: BSD-3-Clause
"""Draws docs/how-it-works.md and docs/westwood-cubic.md: python -m tools.drawings.

The first page has runs of the preset `sawtooth`. `facts()` returns the numbers that it quotes. A
test compares them with the page, and the runs with the equations.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import Result, Scenario, simulate
from westwood.control.catalogue import label, style_of
from westwood.draw.style import MBPS, SOFT, look, subplots
from westwood.evaluation import basics
from westwood.evaluation.benchmark.cases import Control

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = Path(__file__).resolve().parent.parent / "docs" / "img"
PIPE = 83  # segments of 1500 bytes: 10 Mb/s times 100 ms
_RECOVERY = "recovery"


@cache
def run(cc: str) -> Result:
    """Runs the preset with this control and records everything."""
    scenario = Scenario.preset("sawtooth").with_settings({"tcp.cc": cc})
    return simulate(scenario, 1, trace=True, events=True)


@dataclass(frozen=True)
class Loss:
    """A loss as the sender saw it: its time, the window before it, ssthresh after it."""

    time_s: float
    cwnd: float
    ssthresh: float
    estimate_bps: float


def losses(cc: str) -> list[Loss]:
    """Returns the losses that made a control enter recovery."""
    began = (pl.col("state") == _RECOVERY) & (pl.col("state").shift(1) != _RECOVERY)
    before = pl.col("cwnd").shift(1)  # recovery may inflate or reduce the window immediately
    rows = run(cc).trace.with_columns(cwnd=before, began=began).filter("began")
    return [Loss(**row) for row in rows.select(*Loss.__dataclass_fields__).to_dicts()]


def facts() -> dict[str, str]:
    """Returns the page's numbers by name."""
    goodput = {cc: run(cc).rows["goodput_bps"].item() / MBPS for cc in _COMPARED}
    reno, plus = losses("newreno"), losses("westwood+")
    return {
        "goodput of NewReno": f"{goodput['newreno']:.1f} Mb/s",
        "goodput of Westwood+": f"{goodput['westwood+']:.1f} Mb/s",
        "goodput of Westwood-CUBIC": f"{goodput['westwood-cubic']:.1f} Mb/s",
        "NewReno's second loss": f"from {reno[1].cwnd:.0f} to {reno[1].ssthresh:.0f} segments",
        "Westwood+'s second loss": f"from {plus[1].cwnd:.0f} to {plus[1].ssthresh:.0f} segments",
        "Westwood+'s estimate then": f"{plus[1].estimate_bps / MBPS:.1f} Mb/s",
    }


_COMPARED = ("newreno", "westwood+", "westwood-cubic")


def _windows(axes: Axes, cc: str) -> None:
    """Draws a window; during NewReno's recovery, which inflates it, draws ssthresh instead."""
    inflated = (pl.col("state") == _RECOVERY) & (cc == "newreno")
    trace = run(cc).trace.with_columns(shown=pl.when(inflated).then("ssthresh").otherwise("cwnd"))
    style = style_of(cc)
    axes.step(trace["time_s"], trace["shown"], where="post", color=style.color, label=label(cc))


def _pipe(axes: Axes) -> None:
    axes.axhline(PIPE, color=SOFT, linestyle="--", linewidth=1)
    axes.text(0.05, PIPE + 1.5, "the path is full", color=SOFT, fontsize=9)


def _note(axes: Axes, text: str, position: tuple[float, float], to: tuple[float, float]) -> None:
    arrow = {"arrowstyle": "->", "color": SOFT}
    axes.annotate(text, position, to, arrowprops=arrow, fontsize=9, color="black")


def sawtooth() -> Any:
    """Draws Reno's window, and explains a tooth."""
    with look():
        figure, axes = subplots(size=(7.2, 3.0))
        _windows(axes, "newreno")
        _pipe(axes)
        second = losses("newreno")[1]
        _note(axes, "a packet is lost", (second.time_s, second.cwnd), (second.time_s - 2.6, 72))
        _note(
            axes,
            "half the window",
            (second.time_s + 0.1, second.ssthresh),
            (second.time_s + 0.4, 8),
        )
        _note(axes, "one segment per round trip", (7.4, 44), (8.9, 68))
        axes.set(xlabel="Time (s)", ylabel="Window (segments)", ylim=(0, 100), xlim=(0, 15))
        return figure


def estimate() -> Any:
    """Draws a loss of Westwood+, ACK by ACK: the ACKs, the estimate, the window."""
    loss = losses("westwood+")[1]
    begin, end = loss.time_s - 0.25, loss.time_s + 0.35
    within = pl.col("time_s").is_between(begin - 0.2, end + 0.2)  # so lines reach the edges
    trace, events = run("westwood+").trace.filter(within), run("westwood+").events.filter(within)
    style = style_of("westwood+")
    with look():
        figure, (acks, rate, window) = subplots(3, 1, size=(7.2, 6.4), sharex=True)
        for kind, colour, name in (
            ("ack", style.color, "ACK of new data"),
            ("dupack", "#E13200", "duplicate ACK: one more segment has arrived"),
        ):
            rows = events.filter(kind=kind)
            acks.plot(rows["time_s"], rows["segment"], ".", color=colour, ms=4, label=name)
        acks.set(ylabel="First segment\nnot acknowledged", ylim=(2200, 2680))
        acks.legend(loc="lower right")
        rate.axhline(10, color=SOFT, linestyle="--", linewidth=1, label="rate of the link")
        changes = trace.filter(pl.col("sample_bps") != pl.col("sample_bps").shift(1))
        rate.plot(changes["time_s"], changes["sample_bps"] / MBPS, "o", ms=5, color="#000C8C",
                  label="sample, one per round trip")  # fmt: skip
        rate.step(trace["time_s"], trace["estimate_bps"] / MBPS, where="post", color=style.color,
                  label="estimate")  # fmt: skip
        rate.set(ylabel="Rate (Mb/s)", ylim=(5, 10.5))
        rate.legend(loc="lower right", ncols=3)
        window.step(trace["time_s"], trace["cwnd"], where="post", color=style.color, label="cwnd")
        window.step(trace["time_s"], trace["ssthresh"], where="post", color=style.color, lw=1,
                    linestyle=":", label="ssthresh")  # fmt: skip
        window.set(ylabel="Window\n(segments)", xlabel="Time (s)", xlim=(begin, end), ylim=(45, 75))
        window.legend(loc="lower right", ncols=2)
        for axes in (acks, rate, window):
            axes.axvline(loss.time_s, color="#E13200", linewidth=0.9)
        acks.text(loss.time_s - 0.005, acks.get_ylim()[1], "the sender notices the loss",
                  ha="right", va="top", fontsize=9, color="#E13200")  # fmt: skip
        return figure


def compared() -> Any:
    """Draws the windows of Reno, Westwood+ and Westwood-CUBIC on the same path."""
    with look():
        figure, axes = subplots(size=(7.2, 3.4))
        for cc in _COMPARED:
            _windows(axes, cc)
        _pipe(axes)
        axes.set(xlabel="Time (s)", ylabel="Window (segments)", ylim=(0, 112), xlim=(0, 15))
        axes.legend(loc="lower right", ncols=3)
        return figure


_FROM_S, _TO_S = 20.0, 30.0
_SINCE_S = 5.0  # slow start is over
_ROUNDS = "720ms"  # 16 round trips of the path
THRESHOLD = 0.25  # wc_evidence
LOSS_RATE = 0.005


@cache
def round_trips(loss_rate: float) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Runs Westwood-CUBIC alone over 20 Mb/s and 40 ms with a queue of a quarter of a BDP.

    Returns the smoothed round trip with its mean and deviation over 16 rounds, ms; then the same
    where recovery begins, with the score.
    """
    lossy = {"loss": "uniform", "loss_rate": loss_rate} if loss_rate else {}
    path = basics.scenario(basics.path(20, 40, 0.25, 120, **lossy), Control("westwood-cubic"))
    seen = simulate(path, 1, trace=True, events=True)
    mean = pl.col("srtt").rolling_mean_by("at", _ROUNDS)
    trace = (
        seen.trace.filter(pl.col("srtt_s").is_not_nan())
        .select("time_s", srtt=1e3 * pl.col("srtt_s"))
        .with_columns(at=pl.from_epoch((1e6 * pl.col("time_s")).cast(pl.Int64), "us"))
        .with_columns(mean=mean)
        .with_columns(dev=(pl.col("srtt") - pl.col("mean")).abs().rolling_mean_by("at", _ROUNDS))
    )
    score = ((pl.col("srtt") - pl.col("mean")) / (2 * pl.col("dev"))).clip(-1, 1)
    began = seen.events.filter(kind=_RECOVERY).select("time_s")
    return trace, began.join_asof(trace, on="time_s").with_columns(score=score)


def _at_losses(time: Axes, share: Axes, loss_rate: float, colour: str) -> None:
    """Draws the round trip with its losses, and the scores of all losses."""
    trace, losses = round_trips(loss_rate)
    shown = pl.col("time_s").is_between(_FROM_S, _TO_S)
    trace, some = trace.filter(shown), losses.filter(shown)
    time.plot(trace["time_s"], trace["srtt"], color=SOFT, lw=0.9, label="round trip")
    time.plot(trace["time_s"], trace["mean"], color=SOFT, lw=1.2, ls=":", label="its mean")
    time.plot(some["time_s"], some["srtt"], "o", ms=4.5, color=colour, label="at a loss")
    time.set(ylabel="Round trip (ms)", xlim=(_FROM_S, _TO_S), ylim=(41, 55))
    scores = losses.filter(pl.col("time_s") > _SINCE_S)["score"].to_numpy()
    weights = [100 / len(scores)] * len(scores)
    share.hist(
        scores, bins=10, range=(-1, 1), weights=weights, orientation="horizontal", color=colour
    )
    share.axhline(scores.mean(), color="black", lw=1.4)
    share.axhline(THRESHOLD, color="black", lw=1, ls="--")
    share.set(title=f"Scores, mean {scores.mean():.2f}", ylabel="Score", ylim=(-1, 1))


def evidence() -> Any:
    """Draws the round trip at each loss, of a full queue and of a lossy link, and the scores."""
    with look():
        figure, (full, lossy) = subplots(2, 2, size=(7.2, 4.4), sharex="col", width_ratios=(3, 1))
        _at_losses(full[0], full[1], 0.0, "#E13200")
        _at_losses(lossy[0], lossy[1], LOSS_RATE, "#000C8C")
        full[0].set(title="A full queue loses packets")
        full[0].legend(loc="upper right", ncols=3)
        lossy[0].set(title=f"The link loses {LOSS_RATE:.1%}", xlabel="Time (s)")
        lossy[1].set(xlabel="Losses (%)")
        return figure


DRAWINGS = {
    "how-sawtooth": sawtooth,
    "how-estimate": estimate,
    "how-compared": compared,
    "westwood-cubic-evidence": evidence,
}


def main() -> None:
    for name, draw in DRAWINGS.items():
        draw().savefig(PICTURES / f"{name}.png", metadata={"Software": None})
    for name, value in facts().items():
        print(f"{name}: {value}")


if __name__ == "__main__":
    main()
