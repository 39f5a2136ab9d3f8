# SPDX-License-Identifier: BSD-3-Clause
"""Names the right option when a user gives one that the command lacks."""

from __future__ import annotations

from collections.abc import Collection

# Options of other tools and ours, with differences in brackets.
_OURS = {
    "--bandwidth": "--rate",
    "--bw": "--rate",
    "--latency": "--delay (the delay one way: half the round trip)",
    "--rtt": "--delay (the delay one way: half the round trip)",
    "--buffer": "--queue",
    "--time": "--duration",
    "--protocol": "--cc",
    "--control": "--cc",
    "--link": "--at",
}
# The setting that replaces a missing option. LINK is a link's name.
_SETTINGS = {
    "--rate": "LINK.rate=10Mbps",
    "--delay": "LINK.delay=20ms",
    "--loss": "LINK.loss.rate=1%",
    "--queue": "LINK.queue.limit=100p",
    "--duration": "duration=60s",
}


def instead(option: str, known: Collection[str]) -> str:
    """Returns which of the known options to use instead; "" if there is none."""
    ours, bracket, note = _OURS.get(option, option).partition(" (")
    if ours in known and ours != option:
        return f"use {ours}{bracket}{note}"
    if ours in _SETTINGS and "--set" in known:
        setting = _SETTINGS[ours]
        link = ", LINK being a link such as bottleneck" if setting.startswith("LINK") else ""
        return f"use --set {setting}{bracket}{note}{link}"
    return ""
