# SPDX-License-Identifier: BSD-3-Clause
"""Finds the controls to compare, and what this machine lacks for them, before anything changes."""

from __future__ import annotations

import errno
import os
import platform
import shlex
import socket
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from westwood.control import loading
from westwood.control.catalogue import PROTOCOLS
from westwood.engines import kernel_loading
from westwood.engines.linux_limits import CONTROLS
from westwood.errors import InputError, UnavailableError, suggestion
from westwood.kernel import doctor, user_controls, ww_kernel

# Those that are tried unless others are named: not one that the catalogue calls experimental.
CANDIDATES = tuple(
    name for name in ("ww_plus", "ww_cubic") if not PROTOCOLS[ww_kernel.CONTROLS[name]].warning
)
_TCP = Path("/proc/sys/net/ipv4")
# The doctor's checks that `kernel load` needs.
_FOR_LOAD = ("kernel", "BTF", "BPF JIT", *doctor.CAPABILITIES, "bpffs", "ww-kernel")
_CHOOSES = "CAP_NET_ADMIN"  # for controls that are not open to any user
_FACTS = (
    *("tcp_congestion_control", "tcp_available_congestion_control", "tcp_rmem", "tcp_wmem"),
    *(
        "tcp_ecn",
        "tcp_no_metrics_save",
        "tcp_no_ssthresh_metrics_save",
        "tcp_slow_start_after_idle",
    ),
)


def controls_of(names: Sequence[str]) -> tuple[str, ...]:
    """Returns the kernel's names of the controls to compare, the baseline first.

    No names mean CANDIDATES. The baseline of these, or of a single name, is this machine's
    default. With several names it is the default if it is among them, else the first name.
    """
    default = _sysctl("tcp_congestion_control")
    if not names and default not in CANDIDATES:
        return default, *CANDIDATES
    known = sorted({*ww_kernel.registered(), *ww_kernel.CONTROLS, *CONTROLS.values()})
    chosen: list[str] = []
    for name in names or CANDIDATES:
        is_file = loading.is_file(name)
        control = user_controls.name_of(name) if is_file else CONTROLS.get(name, name)
        if not is_file and control not in known:
            problem = f"no congestion control of Linux or of ours, {suggestion(name, known)}"
            raise InputError(problem, key="--cc", value=name)
        if control in chosen:
            raise InputError("expected each congestion control once", key="--cc", value=name)
        chosen.append(control)
    if len(chosen) == 1 and chosen[0] == default:
        problem = "is already this machine's default; also name a control to compare it with"
        raise InputError(problem, key="--cc", value=default)
    if default in chosen or len(chosen) == 1:
        chosen = [default, *(control for control in chosen if control != default)]
    return tuple(chosen)


def files_of(names: Sequence[str]) -> dict[str, str]:
    """Returns the files among the names, by the kernel's names of their controls."""
    return {user_controls.name_of(name): name for name in names if loading.is_file(name)}


def check(controls: Sequence[str], files: Mapping[str, str]) -> bool:
    """Returns whether controls must be loaded; raises UnavailableError if one can't be.

    files: by names of `files_of`. One that the kernel has must have the contents of its file.
    """
    there = ww_kernel.registered()
    missing = [control for control in controls if control not in there]
    for control, file in files.items():
        user_controls.compiled(loading.load(file), control)
        if control in there:
            user_controls.require(file, loading.load(file).source, {})
    for control in missing:
        if control not in ww_kernel.CONTROLS and control not in files:
            problem = f"this kernel has no congestion control {control}"
            raise UnavailableError(f"{problem}: modprobe tcp_{control}")
    if missing:
        checks = [check for check in doctor.checks() if check.name in _FOR_LOAD]
        lacks = [check for check in (*checks, doctor.capability(_CHOOSES)) if not check.ok]
        if lacks:
            message = "; ".join(f"{lack.name}: {lack.found}: {lack.remedy}" for lack in lacks)
            raise UnavailableError(f"{missing[0]} can't be loaded: {message}")
        if ww_kernel.status()["loaded"]:
            problem = f"our controls are loaded, but {missing[0]} is not registered"
            of_file = [files[missing[0]]] if missing[0] in files else []
            load = shlex.join(["westwood", "kernel", "load", *of_file])
            raise UnavailableError(f"{problem}: {load}")
    for control in controls:
        if control in there:
            _check_allowed(control)
    return bool(missing)


def _check_allowed(control: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, control.encode())
        except OSError as error:
            if error.errno != errno.EPERM:
                raise UnavailableError(f"{control} may not be used: {error.strerror}") from None
            remedy = "run it as root, or allow it in net.ipv4.tcp_allowed_congestion_control"
            raise UnavailableError(f"{control} may not be used: {remedy}") from None


@contextmanager
def controls(controls: Sequence[str], files: Mapping[str, str]) -> Iterator[None]:
    """Loads the controls for the block and removes them afterwards, however it ends."""
    if not check(controls, files):
        yield
        return
    with ww_kernel.borrowed():
        for file in files.values():
            kernel_loading.load(file, {})
        yield


def machine() -> dict[str, Any]:
    """Returns the facts about this machine that its uploads depend on."""
    settings = {name: " ".join(_sysctl(name).split()) for name in _FACTS}
    return {"kernel": platform.release(), "cpus": os.cpu_count(), **settings}


def _sysctl(name: str) -> str:
    try:
        return (_TCP / name).read_text().strip()
    except OSError:
        return ""
