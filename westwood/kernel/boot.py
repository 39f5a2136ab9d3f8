# SPDX-License-Identifier: BSD-3-Clause
"""Loads our controls at every boot, by a systemd unit with just the capabilities it needs."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from westwood import __version__
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel import users, ww_kernel
from westwood.programs import changeable, system_program
from westwood.results.folder import Folder

UNIT = "westwood.service"
FOLDER = Path("/etc/systemd/system")
_SAFE = "/usr/local/lib/westwood"
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
{opening}ExecStop={program} unload {pins}
CapabilityBoundingSet=CAP_BPF CAP_PERFMON
NoNewPrivileges=yes

[Install]
WantedBy=multi-user.target
"""


def unit(opened: Sequence[str] = ()) -> str:
    """Returns the unit's text for this ww-kernel.

    opened: the controls that any user may choose. Raises UnavailableError if users other than root
    could change a file that root would run.
    """
    program = ww_kernel.program().resolve()
    given = {
        "program": program,
        "object": ww_kernel.bpf_object(program).resolve(),
        "pins": Path(os.path.abspath(ww_kernel.pins())),
    }
    for path in given.values():
        text = str(path)
        if not text.isprintable() or any(c.isspace() or c in "%\"'\\$" for c in text):
            problem = "expected a path without spaces, quotes, % and $, for systemd"
            raise InputError(problem, value=text)
    for path in (given["program"], given["object"]):
        if culprit := changeable(path):
            copies = f"install -D -t {_SAFE} {given['program']} {given['object']}"
            remedy = f"{copies}, and {ww_kernel.VARIABLE}={_SAFE}/{program.name}"
            problem = "users other than root may change it, and root would run it"
            raise UnavailableError(f"{one_line(str(culprit))}: {problem} at each boot: {remedy}")
    return _TEXT.format(**given, version=__version__, opening=_opening(opened))


def _opening(names: Sequence[str]) -> str:
    """Returns the line that does what `users.change` does; root needs no capability for it."""
    words = f"echo $$(cat {users.ALLOWED}) {' '.join(names)} > {users.ALLOWED}"
    return f"ExecStart=/bin/sh -c '{words}'\n" if names else ""


def enable(folder: Path = FOLDER, opened: Sequence[str] = ()) -> list[str]:
    """Writes and enables the unit; returns lines for the user."""
    text = unit(opened)

    def write(path: Path) -> None:
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)  # regardless of the umask

    path = folder / UNIT
    try:
        if not folder.is_dir():
            raise RunError(f"{folder}: no such folder")
        Folder.containing(path).file(UNIT, write)
    except RunError as error:
        raise UnavailableError(f"{error}; run as root, with systemd") from None
    return [f"wrote {path}", *_systemctl("enable")]


def disable(folder: Path = FOLDER) -> list[str]:
    """Disables and removes the unit; returns lines for the user."""
    path = folder / UNIT
    if not path.exists():
        return [f"there is no {path}"]
    messages = _systemctl("disable")
    try:
        path.unlink()
    except OSError as error:
        raise UnavailableError(f"{path}: {error.strerror}; run as root") from None
    return [*messages, f"removed {path}"]


def _systemctl(verb: str) -> list[str]:
    """Calls systemctl if systemd runs; otherwise returns the command to run later."""
    command = ["systemctl", verb, UNIT]
    program = system_program("systemctl")
    if program is None or not os.path.isdir("/run/systemd/system"):
        return [f"systemd does not run here; run on the booted machine: {' '.join(command)}"]
    done = subprocess.run([program, verb, UNIT], capture_output=True, text=True, check=False)
    last = (done.stderr.strip() or " ".join(command)).splitlines()[-1]
    if done.returncode != 0:
        raise UnavailableError(last)
    return [last]
