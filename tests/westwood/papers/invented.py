# SPDX-License-Identifier: BSD-3-Clause
"""Invents results that agree with the papers, for the checks; arguments change single values."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from westwood.papers import claims
from westwood.papers.checks.common import Measured

PER = "bottleneck.loss.rate"
RATES = (0.0001, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
# The curves of Figure 5 as the paper draws them, in Mb/s.
CURVES = {
    "westwood-ns3": (1.97, 1.96, 1.95, 1.90, 1.65, 1.10, 0.55, 0.20),
    "westwood+-ns3": (1.96, 1.94, 1.90, 1.70, 1.00, 0.50, 0.23, 0.08),
    "reno": (1.85, 1.30, 0.90, 0.60, 0.37, 0.24, 0.15, 0.07),
    "newreno": (1.85, 1.31, 0.91, 0.60, 0.37, 0.24, 0.15, 0.07),
    "tahoe": (1.75, 1.10, 0.80, 0.50, 0.32, 0.21, 0.14, 0.06),
}
THREE_PER = (0.0005, 0.001, 0.01)
Row = dict[str, Any]


def measured(x: str, rows: list[Row], half: float = 0.01) -> Measured:
    """Makes rows of one seed each; every interval has the half width `half`, in Mb/s."""
    frame = pl.DataFrame([{"seed": 1, "flow": "tcp", **row} for row in rows])
    numbers = [name for name in frame.columns if frame[name].dtype == pl.Float64 and name != x]
    halves = [
        pl.lit(1e6 * half if name.endswith("bps") else half).alias(f"{name}_ci95")
        for name in numbers
    ]
    return Measured(frame, frame.with_columns(halves), x)


def over(x: str, places: Any, curves: dict[str, Any], half: float = 0.01, **more: Any) -> Measured:
    """Makes a curve for each protocol, in Mb/s."""
    rows = [
        {x: place, "cc": cc, "throughput_bps": 1e6 * mbps, **more}
        for cc, curve in curves.items()
        for place, mbps in zip(places, curve, strict=True)
    ]
    return measured(x, rows, half)


def reno_off(
    name: str, x: str, places: Any, curves: dict[str, Any], reno: tuple[float, ...]
) -> tuple[dict[str, Measured], dict[str, Measured]]:
    """Makes a study's curves, and those with another one for Reno."""
    return {name: over(x, places, curves)}, {name: over(x, places, {**curves, "reno": reno})}


def windows(plus: float) -> dict[str, Measured]:
    """Makes the mean windows of Figure 10, one of them given."""
    means = {"westwood-ns3": 55.0, "westwood+-ns3": plus, "reno": 12.0}
    return {"fig10": single({cc: {"sampled_cwnd": cwnd} for cc, cwnd in means.items()})}


def udp_share(alone: float) -> dict[str, Measured]:
    shares = {"estimate_alone_share": alone, "estimate_beside_share": 1.05}
    return {"udp-share": single({"westwood": shares})}


def traces(westwood: float) -> dict[str, Measured]:
    shares = {"westwood": westwood, "reno": 0.2}
    return {"traces": single({cc: {"ssthresh_over_pipe": share} for cc, share in shares.items()})}


def fig5(half: float = 0.01, **changed: tuple[int, float]) -> dict[str, Measured]:
    """Makes the curves of Figure 5; `changed` replaces the value at one place."""
    curves = {cc: list(curve) for cc, curve in CURVES.items()}
    for cc, (place, value) in changed.items():
        curves[cc.replace("westwood_plus", "westwood+-ns3")][place] = value
    return {"fig5": over(PER, RATES, curves, half)}


def by_key(key: str, curves: dict[Any, dict[str, Any]]) -> Measured:
    """Makes curves over the error rate for each value of another key."""
    rows = [
        {PER: per, key: value, "cc": cc, "throughput_bps": 1e6 * mbps}
        for value, runs in curves.items()
        for cc, curve in runs.items()
        for per, mbps in zip(THREE_PER, curve, strict=True)
    ]
    return measured(PER, rows)


def delayed_ack(westwood_worst: float = 1.6, plus_at_high_rates: float = 0.3) -> Measured:
    best = {
        "reno": (1.5, 1.3, 0.5),
        "westwood-ns3": (1.9, 1.9, 1.5),
        "westwood+-ns3": (1.9, 1.8, 1),
    }
    worst = {
        "reno": (0.9, 0.3, 0.2),
        "westwood-ns3": (1.8, westwood_worst, 1.3),
        "westwood+-ns3": (1.8, 1.5, plus_at_high_rates),
    }
    return by_key("tcp.delayed_ack", {1: best, 8: worst})


def mtu(
    large: float = 1.9,
    reno_at_0_0005: float = 0.9,
    reno_at_0_01: float = 1.45,
    between: float = 1.89,
) -> Measured:
    best = {
        "reno": (1.95, 1.6, reno_at_0_01),
        "westwood-ns3": (large, 1.9, 1.5),
        "westwood+-ns3": (1.9, 1.8, 1.4),
    }
    middle = {cc: (between, *two[1:]) for cc, two in best.items()}
    worst = {
        "reno": (reno_at_0_0005, 0.2, 0.1),
        "westwood-ns3": (1.8, 1.6, 0.6),
        "westwood+-ns3": (1.8, 1.5, 0.2),
    }
    return by_key("tcp.packet", {"1500B": best, "400B": middle, "41B": worst})


def fairness(jain: float = 0.95, red: float = 0.02) -> dict[str, Measured]:
    rows = [
        {"bottleneck.queue": queue, "cc": cc, "jain": jain + better, "seed": seed}
        for queue, better in (("droptail", 0.0), ("red", red))
        for cc in ("reno", "westwood")
        for seed in (1, 2, 3)
    ]
    both = measured("bottleneck.queue", rows)
    return {"fairness": both, "fairness-rtt": both}


def friendliness(westwood: float = 0.1078) -> Measured:
    mixes = (
        ("reno", "reno", {"reno": 0.0992}),
        ("westwood", "westwood", {"westwood": 0.0994}),
        ("reno", "westwood", {"reno": 0.0913, "westwood": westwood}),
    )
    rows = [
        {"reno.cc": first_cc, "westwood.cc": two, "cc": cc, "throughput_bps": 1e6 * mbps}
        for first_cc, two, flows in mixes
        for cc, mbps in flows.items()
    ]
    return measured("", rows)


def plateau_friendly(s1: float, s2: float, other: str) -> Measured:
    rows = [
        {"S2-tcp.cc": other, "flow": "S1-tcp", "cc": "westwoodnr+", "throughput_bps": s1},
        {"S2-tcp.cc": other, "flow": "S2-tcp", "cc": other, "throughput_bps": s2},
    ]
    return measured("", rows)


def wired(after: float = 4.538e6, loss: float = 0.001) -> Measured:
    rows = [
        {"cc": "westwoodnr", "throughput_bps": 4.436e6, "loss_ratio": 0.001},
        {"cc": "westwoodnr+", "throughput_bps": after, "loss_ratio": loss},
    ]
    return measured("", rows)


def cte(wireless_best: float = 2.0) -> dict[str, Measured]:
    def curve(best: float) -> Measured:
        rows = [
            {
                "tcp.cc.cte": value,
                "cc": "westwoodnr+",
                "throughput_bps": 4.718e6 - 1e5 * abs(value - best),
            }
            for value in (1.0, 2.0, 3.6, 8.0)
        ]
        return measured("tcp.cc.cte", rows)

    return {
        "plateau-cte-wired": curve(3.6),
        "plateau-cte-wireless": curve(wireless_best),
        "plateau-wired": wired(),
    }


def single(cc_values: dict[str, dict[str, float]], flow: str = "tcp") -> Measured:
    return measured("", [{"cc": cc, "flow": flow, **values} for cc, values in cc_values.items()])


def estimates(high: float, peak: float = 8e6) -> Measured:
    both = {
        "estimate_peak_bps": peak,
        "estimate_mean_bps": 4.9e5,
        "estimate_low_bps": 3e5,
        "estimate_high_bps": high,
    }
    return single({"westwood-ns3": both, "westwood+-ns3": both}, "upload")


def recoveries(
    silence: float = 0.3, below: float = 0.0, cleared: float = 0.95, seen: float = 9.0
) -> Measured:
    return single(
        {
            "westwood+-linux24": {
                "recoveries_seen": seen,
                "longest_silence_rtts": silence,
                "steeper_steps": 0.0,
                "below_floor": below,
                "not_set_at_exit": 0.0,
                "backlog_cleared": cleared,
            }
        }
    )


STAGED = {
    "stages": 8.0,
    "stage_ratio": 3.0,
    "cwnd_swing": 30.0,
    "ssthresh_range": 0.05,
    "least_use": 0.97,
    "largest_use": 0.98,
    "last_use": 0.97,
    "first_use_spread": 0.2,
    "second_use_spread": 0.05,
}


def over_time(**changed: float) -> dict[str, Measured]:
    """Makes the plateau's windows on both paths; the paper's throughput is at 0.001."""
    seen = {**STAGED, **changed}
    wired = [
        {"cc": "westwoodnr", "throughput_bps": 4.436e6, **STAGED, "cwnd_swing": 60.0},
        {"cc": "westwoodnr+", "throughput_bps": 4.538e6, **seen},
    ]
    wireless = [
        {PER: per, "cc": cc, "throughput_bps": 1e6 * mbps, **seen}
        for per, mbps in ((0.0005, 4.8), (0.001, 4.51), (0.01, 3.0))
        for cc in ("westwoodnr", "westwoodnr+")
    ]
    return {"plateau-wired": measured("", wired), "plateau-wireless": measured(PER, wireless)}


def two_windows(s1: float, apart: float = 0.05, rises: float = 9.0) -> dict[str, Measured]:
    rows = [
        {
            "S2-tcp.cc": other,
            "flow": flow,
            "cc": cc,
            "late_cwnd": cwnd,
            "windows_apart": apart,
            "window_rises": rises,
        }
        for other in ("newreno", "westwoodnr")
        for flow, cc, cwnd in (("S1-tcp", "westwoodnr+", s1), ("S2-tcp", other, 30.0))
    ]
    return {"plateau-friendly": measured("", rows)}


def uploads(**changed: float) -> dict[str, Measured]:
    """Makes two paths to each city, on one of which all is as the report has it."""
    seen = {"gain": 1.3, "resent": 1.0, "ssthresh": 1.5, "parma": 1.0, "cwnd": 1.0, **changed}
    rows = []
    cities = (("95ms", 0.19, seen["gain"]), ("35ms", 0.07, 1.2), ("25ms", 0.05, 1.0))
    for delay, rtt_s, gain in cities:
        windows = seen["parma"] if delay == "25ms" else seen["ssthresh"]
        for rate, pipe in (("500kbps", 4.0), ("1Mbps", 50.0)):
            bps = pipe * 12_000 / rtt_s
            for cc in ("newreno", "westwood+-linux24"):
                is_plus = cc != "newreno"
                rows.append(
                    {
                        "path.delay": delay,
                        "path.rate": rate,
                        "path.loss.rate": 0.01,
                        "upload.cc": cc,
                        "cc": cc,
                        "goodput_bps": bps if is_plus else bps / gain,
                        "retransmission_ratio": 0.03 * (seen["resent"] if is_plus else 1.0),
                        "ssthresh_over_pipe": windows if is_plus else 1.0,
                        "sampled_cwnd": 8 * (seen["cwnd"] if is_plus else 1.0),
                    }
                )
    return {"uploads": measured("path.rate", rows)}


def beside(plus: float) -> dict[str, Measured]:
    """Makes what another flow gets beside Westwood, 0.8 Mb/s, and beside Westwood+."""
    rows = [
        {"westwood.cc": cc, "other.cc": other, "flow": "other", "cc": other, "throughput_bps": bps}
        for cc, bps in (("westwood-ns3", 0.8e6), ("westwood+-ns3", 1e6 * plus))
        for other in ("reno", "newreno")
    ]
    return {"plus-fairness": measured("", rows)}


def originals(reno: float = 0.4) -> dict[str, Measured]:
    """Makes Figures 5 to 7 with the profiles of 2013 and 2001."""
    figures = {}
    for name, original, x, places in (
        ("fig5", "loss", PER, (0.001, 0.01)),
        ("fig6", "delay", "bottleneck.delay", ("0.01ms", "250ms")),
        ("fig7", "capacity", "bottleneck.rate", ("2Mbps", "8Mbps")),
    ):
        figures[name] = over(x, places, {"westwood-ns3": (1.9, 1.5), "reno": (reno, 0.3)})
        figures[original] = over(x, places, {"westwood": (1.8, 1.0), "reno": (0.4, 0.3)})
    return figures


def verdict(claim: str, all_: dict[str, Measured]) -> tuple[str, str]:
    (claim_verdict,) = claims.check([claim], all_)
    json.dumps(claim_verdict.entry(), allow_nan=False)  # must fit into claims.json
    return claim_verdict.verdict.claim, claim_verdict.explanation
