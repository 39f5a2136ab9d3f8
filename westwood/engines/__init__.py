# SPDX-License-Identifier: BSD-3-Clause
"""Engines run scenarios: the simulator, ns-2, ns-3, Linux, QUIC stacks. All give the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood.errors import InputError
from westwood.scenario.stacks import is_stack

if TYPE_CHECKING:
    from westwood.engines.contract import Engine

NAMES = {
    "sim": "the simulator of this package",
    "ns3": "ns-3, through the module that `westwood ns3 build` builds",
    "ns2": "ns-2 2.35, of Debian's package `ns2`",
    "linux": "real sockets of this machine's kernel over an emulated path, in real time",
    "linux-um": "the Linux that `westwood kernel build` builds, in virtual time and without root",
    "quinn": "connections of the QUIC stack quinn over the simulator's links",
    "noq": "the same for the QUIC stack noq",
}


def find(name: str, key: str = "--engine") -> Engine:
    """Returns the engine of this name; raises UnavailableError if this machine can't run it."""
    if name == "sim":
        from westwood.engines.simulator import SIMULATOR

        return SIMULATOR
    from westwood.engines.contract import Engine

    if name == "ns3":
        from westwood.engines import ns3, ns3_build, ns3_limits

        ns3.program()
        return Engine(
            name,
            ns3.prepare,
            ns3.simulate,
            remarks=ns3_limits.remarks,
            profile=ns3_limits.PROFILE,
            title=ns3_build.title(),
        )
    if name == "ns2":
        from westwood.engines import ns2, ns2_limits

        ns2.program()
        return Engine(
            name, ns2.prepare, ns2.simulate, profile=ns2_limits.PROFILE, title="ns-2 2.35"
        )
    if name == "linux":
        import platform

        from westwood.engines import linux

        linux.check_machine()
        runs = linux.TracedOnce()
        return Engine(
            name,
            runs.prepare,
            runs.simulate,
            real_time=True,
            profile=name,
            workers=1,
            title=f"Linux {platform.release()}",
        )
    if name == "linux-um":
        from westwood.engines import linux_um
        from westwood.kernel import virtual

        virtual.program()
        title = linux_um.title()
        return Engine(name, linux_um.prepare, linux_um.simulate, profile="linux", title=title)
    if is_stack(name):
        from westwood.engines import quic

        title = quic.title_of(name)
        stack = quic.Stack(name)
        return Engine(name, stack.prepare, stack.simulate, remarks=stack.remarks, title=title)
    raise InputError("expected " + ", ".join(NAMES), key=key, value=name)
