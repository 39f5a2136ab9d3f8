# SPDX-License-Identifier: BSD-3-Clause
"""Writes a fitted path as a scenario file, with the interval of each value as a comment."""

from __future__ import annotations

from typing import Any

from westwood.campaign.fit.estimate import Estimate, Fit
from westwood.campaign.fit.path import FLOW, PROFILE, flow, link
from westwood.scenario import Scenario
from westwood.scenario.toml_format import toml_value
from westwood.units import PS_PER_S, format_time

_NOTES = {"rate": "rate_bps", "delay": "delay_s", "queue": "queue", "loss": "loss"}
_SCALES = {
    "rate": (1e6, "Mb/s"),
    "delay": (1e-3, "ms"),
    "queue": (1, "packets"),
    "loss": (0.01, "%"),
}


def in_words(estimate: Estimate, key: str) -> str:
    """Returns an estimate's interval in words: "9.9 to 10.1 Mb/s", "at least 40 packets"."""
    scale, unit = _SCALES[key]
    low, high = (_short(bound / scale) for bound in (estimate.low, estimate.high))
    if estimate.bound:
        return f"{estimate.bound} {low if estimate.bound == 'at least' else high} {unit}"
    return f"{low} to {high} {unit}"


def summary(fit: Fit) -> str:
    """Returns the fit in one line."""
    parts = (f"{key} {in_words(getattr(fit, name), key)}" for key, name in _NOTES.items())
    return "; ".join(parts)


def notes(fit: Fit) -> list[str]:
    """Returns caveats about the fit, a sentence each."""
    sentences = []
    if fit.rate_bps.bound:
        sentences.append(
            "the link was never full: the rate is a lower bound, and so is what a control gets "
            "that fills it; try one that does, such as bbr"
        )
    if fit.queue.bound:
        sentences.append("the queue never overflowed: its length is a lower bound")
    return sentences + fit.doubts


def scenario(fit: Fit, name: str = "path") -> Scenario:
    """Returns the scenario: an upload under each recorded control, one after the other."""
    return Scenario(**_given(fit, name))


def toml(fit: Fit, name: str = "path") -> str:
    """Writes the scenario with the interval of each value."""
    given = _given(fit, name)
    settings, its_link, its_flow = given, given["link"][0], given["flow"][0]
    head = [
        f"Fitted by westwood to {fit.uploads} uploads of {fit.seconds:.1f} s, under "
        f"{', '.join(fit.controls)}.",
        "Comments give 95 % intervals. Losses are of data packets, since lost ACKs",
        "leave no trace. Half of the round trip is assumed as delay in each direction.",
        *(f"Note: {note}." for note in notes(fit)),
    ]
    lines = [f"# {line}" for line in head]
    lines += [
        f"{key} = {toml_value(settings[key])}" for key in ("name", "duration", "seeds", "profile")
    ]
    lines += ["", "[[link]]"]
    for key, value in its_link.items():
        note = in_words(getattr(fit, _NOTES[key]), key) if key in _NOTES else ""
        note = note or (
            "that ns-3's devices add, and the rate carries" if key == "overhead" else ""
        )
        lines.append(f"{key} = {toml_value(value)}" + (f"  # {note}" if note else ""))
    lines += ["", "[[flow]]", *(f"{key} = {toml_value(value)}" for key, value in its_flow.items())]
    lines += ["", "[sweep]", f'"{FLOW}.cc" = {toml_value(list(fit.controls))}']
    return "\n".join(lines) + "\n"


def _given(fit: Fit, name: str) -> dict[str, Any]:
    length = max(1, round(fit.seconds)) * PS_PER_S
    return {
        "name": name,
        "duration": format_time(length),
        "seeds": 10,
        "profile": PROFILE,
        "link": [link(fit.path, fit.packets)],
        "flow": [flow(fit.controls[0], fit.packets)],
        "sweep": {f"{FLOW}.cc": list(fit.controls)},
    }


def _short(value: float) -> str:
    return "0" if value == 0 else f"{value:.3g}" if value < 1000 else f"{value:.0f}"
