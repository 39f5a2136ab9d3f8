# SPDX-License-Identifier: BSD-3-Clause
"""Says which option a user means who gives one that the command does not have."""

from __future__ import annotations

from collections.abc import Collection

# Names that other tools use, and ours; in brackets what is different.
_OURS = {
    "--bandwidth": "--rate",
    "--bw": "--rate",
    "--latency": "--delay",
    "--rtt": "--delay (the delay one way: half the round trip)",
    "--buffer": "--queue",
    "--time": "--duration",
    "--protocol": "--cc",
    "--control": "--cc",
}
# What --set does where the option is missing. LINK is a link's name.
_SETTINGS = {
    "--rate": "LINK.rate=10Mbps",
    "--delay": "LINK.delay=20ms",
    "--loss": "LINK.loss.rate=1%",
    "--queue": "LINK.queue.limit=100p",
    "--duration": "duration=60s",
}


def instead(option: str, known: Collection[str]) -> str:
    """Returns the option to give instead, among those that the command has; "" if none."""
    ours, bracket, note = _OURS.get(option, option).partition(" (")
    if ours in known and ours != option:
        return f"use {ours}{bracket}{note}"
    if ours in _SETTINGS and "--set" in known:
        setting = _SETTINGS[ours]
        link = ", LINK being a link such as bottleneck" if setting.startswith("LINK") else ""
        return f"use --set {setting}{bracket}{note}{link}"
    return ""
