# SPDX-License-Identifier: BSD-3-Clause
"""Names the QUIC stacks whose controls a flow can have: `cc = "quinn:bbr"`."""

from westwood.catalogue import OF_STACKS

STACKS = tuple(OF_STACKS)  # an engine has the name of its stack
TCP = "tcp"  # the simulator's own connections, in those engines
STACK = "stack"  # the key of `cc`


def split(name: object) -> tuple[str | None, object]:
    """Returns the stack that a control's name begins with, or None, and the rest of the name."""
    stack, _, control = name.partition(":") if isinstance(name, str) else ("", "", "")
    return (stack, control) if stack in (*STACKS, TCP) and control else (None, name)
