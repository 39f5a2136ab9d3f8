# SPDX-License-Identifier: BSD-3-Clause
"""Checks scenarios whose queues are disciplines of the kernel: CoDel, FQ-CoDel, PIE and others.

linux/path/queues.hpp sets them up. The disciplines' files in engine/link/queue declare which
settings Linux has, and their attributes. The kernel has its own value of the others.
"""

from __future__ import annotations

import os
import subprocess
from functools import cache
from typing import TYPE_CHECKING

from westwood.control.catalogue import DROPTAIL, QUEUES, settings_of
from westwood.errors import InputError, UnavailableError, show
from westwood.kernel import emulated
from westwood.kernel.doctor import SHAPER
from westwood.programs import system_program
from westwood.scenario.declared import departures, written_defaults
from westwood.units import TIME_UNITS, format_size, format_time

if TYPE_CHECKING:
    from westwood.scenario import Scenario
    from westwood.scenario.links import Link

_MTU = "max_packet"  # the device's MTU in Linux
_BEFORE = ("policer", "ack_filter")  # these act before the queue, the emulated path after it


def refused(key: str, value: object, expected: str) -> InputError:
    """Returns the error for a value that Linux does not have."""
    return InputError(f"engine linux expects {expected}", key=key, value=value)


def refuse_held(scenario: Scenario) -> None:
    """Refuses queues that decide when packets leave, for paths without disciplines."""
    _check_kinds(scenario, [kind for kind, queue in QUEUES.items() if not queue.holds])


def check(scenario: Scenario) -> None:
    """Refuses queues that neither the emulated path nor Linux has."""
    _check_kinds(
        scenario, [kind for kind, queue in QUEUES.items() if queue.kernel or not queue.holds]
    )
    for link in scenario.link:
        if link.queue.kind in QUEUES and QUEUES[link.queue.kind].kernel:
            _check_discipline(link, scenario)


def _check_kinds(scenario: Scenario, kinds: list[str]) -> None:
    for link in scenario.link:
        if link.queue.kind not in (DROPTAIL, *kinds):
            expected = " or ".join((DROPTAIL, *kinds))
            raise refused(f"{link.name}.queue.kind", link.queue.kind, expected)
        if link.ack_filter:
            expected = "none: no queue of the emulated path holds ACKs"
            raise refused(f"{link.name}.ack_filter", link.ack_filter.model_dump(), expected)


def _check_discipline(link: Link, scenario: Scenario) -> None:
    queue, kind = link.queue, QUEUES[link.queue.kind]
    for key in _BEFORE:
        if given := getattr(link, key):
            expected = f"none before the kernel's {kind.kernel}"
            raise refused(f"{link.name}.{key}", given.model_dump(), expected)
    if queue.limit.unit != "p" or queue.limit.count is None:
        raise refused(f"{link.name}.queue.limit", str(queue.limit), "packets, as in 1000p")
    defaults = written_defaults(kind.name, leave_out=kind.obeyed)
    for key, value in departures(queue, kind.name, defaults):
        raise refused(f"{link.name}.queue.{key}", value, f"{show(defaults[key])}, the kernel's own")
    for key in kind.obeyed:
        value = getattr(queue, key)
        if settings_of(kind.name)[key].kind == "TIME" and value % TIME_UNITS["us"]:
            raise refused(f"{link.name}.queue.{key}", format_time(value), "whole microseconds")
    mtu = getattr(queue, _MTU)
    for flow in scenario.flows:
        if flow.packet > mtu:
            expected = f"at most {format_size(mtu)}, {link.name}.queue.{_MTU}"
            raise refused(f"{flow.name}.packet", format_size(flow.packet), expected)


def disciplines_of(scenario: Scenario) -> set[str]:
    """Returns the disciplines of the kernel that a scenario's queues need, the shaper included."""
    kinds = {link.queue.kind for link in scenario.link} & QUEUES.keys()
    wanted = {QUEUES[kind].kernel for kind in kinds} - {""}
    return wanted | {SHAPER} if wanted else set()


@cache
def is_missing(discipline: str) -> bool:
    """Returns whether this kernel lacks a discipline; tries it in a network namespace."""
    tc, unshare = system_program("tc"), system_program("unshare")
    if tc is None or unshare is None:
        lacks, package = ("tc", "iproute2") if tc is None else ("unshare", "util-linux")
        problem = f"engine linux needs {lacks} for {discipline}"
        raise UnavailableError(f"{problem}: apt-get install {package}")
    namespace = "-n" if os.geteuid() == 0 else "-rn"
    adding = [tc, "qdisc", "add", "dev", "lo", "root", discipline]
    return subprocess.run([unshare, namespace, *adding], capture_output=True).returncode != 0


def require(discipline: str) -> None:
    """Raises UnavailableError with the remedy if this kernel lacks a discipline."""
    if not is_missing(discipline):
        return
    remedy = f"modprobe sch_{discipline}, or {emulated.FETCH}, for an emulated kernel that has it"
    raise UnavailableError(
        f"engine linux: this kernel has no queue discipline {discipline}: {remedy}"
    )
