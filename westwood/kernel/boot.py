# SPDX-License-Identifier: BSD-3-Clause
"""Loads our controls at every boot, by a systemd unit with the capabilities it takes."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from westwood import __version__
from westwood.errors import InputError, UnavailableError
from westwood.kernel import ww_kernel

UNIT = "westwood.service"
FOLDER = Path("/etc/systemd/system")
_TEXT = """\
# Written by `westwood kernel load --boot`; `westwood kernel unload --boot` removes it.
[Unit]
Description=TCP Westwood congestion controls
RequiresMountsFor={pins}
Before=network.target

[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart={program} load {pins} {object} {version}
ExecStop={program} unload {pins}
CapabilityBoundingSet=CAP_BPF CAP_PERFMON
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
"""


def unit() -> str:
    """Writes the unit's text, for this ww-kernel where it lies now."""
    program = ww_kernel.program().resolve()
    paths = {"program": program, "object": ww_kernel.bpf_object(program), "pins": ww_kernel.pins()}
    for path in paths.values():
        if any(c.isspace() or c in "%\"'\\$" for c in str(path)):
            problem = "expected a path without spaces, quotes, % and $, for systemd"
            raise InputError(problem, value=str(path))
    return _TEXT.format(**paths, version=__version__)


def enable(folder: Path = FOLDER) -> list[str]:
    """Writes and enables the unit; lines about it."""
    path = folder / UNIT
    text = unit()
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UnavailableError(f"{path}: {error.strerror}; run as root, with systemd") from None
    return [f"wrote {path}", *_systemctl("enable")]


def disable(folder: Path = FOLDER) -> list[str]:
    """Disables and removes the unit; lines about it."""
    path = folder / UNIT
    if not path.exists():
        return [f"there is no {path}"]
    said = _systemctl("disable")
    try:
        path.unlink()
    except OSError as error:
        raise UnavailableError(f"{path}: {error.strerror}; run as root") from None
    return [*said, f"removed {path}"]


def _systemctl(verb: str) -> list[str]:
    """Calls systemctl where systemd runs; else says what is left to do."""
    command = ["systemctl", verb, UNIT]
    if shutil.which("systemctl") is None or not os.path.isdir("/run/systemd/system"):
        return [f"systemd does not run here: on the machine that boots, {' '.join(command)}"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = (done.stderr.strip() or " ".join(command)).splitlines()[-1]
    if done.returncode != 0:
        raise UnavailableError(last)
    return [last]
