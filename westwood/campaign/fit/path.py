# SPDX-License-Identifier: BSD-3-Clause
"""Defines the path that a fit estimates, and its scenario for all engines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from westwood.units import format_rate, format_time

PROFILE = "linux"
FLOW = "upload"
_OVERHEAD = 2  # bytes: of ns-3's devices, so that all engines have it
_UNSTAMPED, _STAMPED = 40, 52  # bytes of header, without and with timestamps
_MTU = 1500


@dataclass(frozen=True)
class Path:
    """A link with the same rate and delay in both directions, and independent losses of data."""

    rate_bps: float  # rate for IP packets
    delay_s: float  # one way, the same in both directions
    queue: int  # packets
    loss: float  # the probability of each packet


@dataclass(frozen=True)
class Packets:
    """The packet format of uploads, from the payload of their segments."""

    mss: int

    @property
    def header(self) -> int:
        """Bytes of IP and TCP header."""
        return _UNSTAMPED if self.mss + _UNSTAMPED == _MTU else _STAMPED

    @property
    def size(self) -> int:
        """Bytes of a full packet."""
        return self.mss + self.header

    def settings(self) -> dict[str, Any]:
        """Settings of a flow with such packets, where they differ from the profile."""
        known_settings: dict[str, Any] = {}
        if self.size != _MTU:
            known_settings["packet"] = f"{self.size}B"
        if self.header == _UNSTAMPED:
            known_settings |= {"header": f"{_UNSTAMPED}B", "timestamps": False}
        return known_settings


def link(path: Path, packets: Packets) -> dict[str, Any]:
    """Returns the settings of the link, whose rate includes the link's overhead."""
    rate = path.rate_bps * (packets.size + _OVERHEAD) / packets.size
    loss = {"kind": "uniform", "rate": float(f"{path.loss:.4g}"), "on": "forward"}
    return {
        "name": "path",
        "between": ["source", "sink"],
        "rate": format_rate(round(rate / 1000) * 1000),
        "delay": format_time(round(path.delay_s * 1e6) * 10**6),
        "overhead": f"{_OVERHEAD}B",
        "queue": {"kind": "droptail", "limit": f"{path.queue}p"},
        "loss": loss if path.loss > 0 else {"kind": "none"},
    }


def flow(cc: str, packets: Packets) -> dict[str, Any]:
    """Returns the settings of an upload under this protocol."""
    return {"name": FLOW, "from": "source", "to": "sink", "cc": cc, **packets.settings()}
