# SPDX-License-Identifier: BSD-3-Clause
"""Names the stacks whose own controls a flow can have: `cc = "quinn:bbr"`, or `"linux:htcp"`.

Users build forks of the QUIC stacks into ww-quic: `quinn-mine` is a fork of quinn. Only the runner
knows which there are, and only a kernel knows its controls, so reading a scenario checks the form
of their names.
"""

import re

from westwood.control.catalogue import OF_STACKS, PROTOCOLS
from westwood.errors import InputError

STACKS = tuple(OF_STACKS)  # an engine has the name of its stack
TCP = "tcp"  # the simulator's own connections, in those engines
KERNEL = "linux"  # the kernel's own controls, also those that the core does not have
STACK = "stack"  # the key of `cc`
FORK = re.compile(rf"({'|'.join(STACKS)})-[a-z0-9]+(-[a-z0-9]+)*")
OF_FORK = re.compile(r"[a-z0-9]+([+-][a-z0-9]+)*\+?")  # a control
OF_KERNEL = re.compile(r"[a-z0-9][a-z0-9_-]{0,14}")  # a control
STAND_IN = "newreno"  # the protocol of a fork's control of a new name, where the core needs one
_OF_KERNELS = "sack"  # and of a kernel's control


def split(name: object) -> tuple[str | None, object]:
    """Returns the stack that a control's name begins with, or None, and the rest of the name.

    A fork's control that the core does not know stays with the stack, and the rest is STAND_IN. So
    does a kernel's, always.
    """
    if not isinstance(name, str) or ":" not in name:
        return None, name
    stack, _, control = name.partition(":")
    if FORK.fullmatch(stack) and control not in PROTOCOLS and OF_FORK.fullmatch(control):
        return name, STAND_IN
    if stack == KERNEL and OF_KERNEL.fullmatch(control):
        return name, _OF_KERNELS
    return (stack, control) if control and (is_stack(stack) or stack == TCP) else (None, name)


def join(stack: str | None, name: str) -> str:
    """Returns the name of a control as a scenario writes it."""
    return name if stack is None else stack if ":" in stack else f"{stack}:{name}"


def engine_of(stack: str) -> str:
    """Returns the engine of a stack, with or without a fork's control."""
    return stack.partition(":")[0]


def upstream(engine: str) -> str:
    """Returns the stack that an engine is or is a fork of; other engines are returned as given."""
    fork = FORK.fullmatch(engine)
    return fork[1] if fork else engine


def is_stack(engine: object) -> bool:
    """Returns whether an engine's name is that of a stack or has the form of a fork's."""
    return isinstance(engine, str) and upstream(engine_of(engine)) in STACKS


def is_kernels(stack: object) -> bool:
    """Returns whether a flow's control is one of the kernel's own."""
    return isinstance(stack, str) and engine_of(stack) == KERNEL


def checked(stack: object) -> str:
    """Returns the value of the key `stack`; raises InputError if it names no stack."""
    is_known = stack == TCP or is_stack(stack) or (is_kernels(stack) and ":" in str(stack))
    if isinstance(stack, str) and is_known and (":" not in stack or split(stack)[0] == stack):
        return stack
    known = ", ".join((*STACKS, TCP))
    raise InputError(f"expected one of {known}, or a fork such as quinn-mine", value=stack)
