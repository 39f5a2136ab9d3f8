# SPDX-License-Identifier: BSD-3-Clause
"""Starts `path compare --emulated`, ends it, and checks what it leaves on the machine."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from machine import available

from westwood.kernel import ww_kernel

WESTWOOD = [sys.executable, "-m", "westwood"]
# A path without losses whose queue fills at once: uploads of half a second differ by a percent.
SHORT = ("--rate", "5Mbps", "--delay", "10ms", "--queue", "20p", "--loss", "0", "--upload", "500ms")


def command(*words: object) -> list[str]:
    return [*WESTWOOD, "path", "compare", "--emulated", *map(str, words)]


@dataclass(frozen=True)
class State:
    """Everything that `path compare` could change: controls, settings, mounts, named namespaces."""

    controls: frozenset[str]
    settings: tuple[tuple[str, str], ...]
    mounts: frozenset[str]
    namespaces: tuple[str, ...]

    @classmethod
    def now(cls) -> State:
        named = Path("/run/netns")
        return cls(
            controls=frozenset(available()),
            settings=tuple(_settings()),
            mounts=frozenset(Path("/proc/self/mounts").read_text().splitlines()),
            namespaces=tuple(sorted(os.listdir(named))) if named.exists() else (),
        )


def _settings() -> list[tuple[str, str]]:
    """Returns all settings of TCP and IPv4, except counters and the list of controls."""
    rows = []
    for file in sorted(Path("/proc/sys/net/ipv4").glob("*")):
        if file.is_file() and file.name != "tcp_available_congestion_control":
            try:
                rows.append((file.name, file.read_text()))
            except OSError:
                continue
    return rows


def left() -> list[str]:
    """Returns the commands of all processes of a trial under our bpffs, including its own."""
    mark = f"{ww_kernel.PINS_VARIABLE}={ww_kernel.pins()}".encode()
    leftovers = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            if int(process.name) != os.getpid() and mark in (process / "environ").read_bytes():
                leftovers.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # it has ended
    return leftovers


def start(folder: Path, *words: object) -> subprocess.Popen[str]:
    """Starts a rehearsal of a minute in a process group of its own, as a terminal would."""
    return subprocess.Popen(
        command("--cc", "reno", "--cc", "ww_plus", *SHORT, "--for", "60s", *words),
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
