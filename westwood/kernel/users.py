# SPDX-License-Identifier: BSD-3-Clause
"""Says which controls any user may choose: the list net.ipv4.tcp_allowed_congestion_control.

The others are for root (CAP_NET_ADMIN). Linux marks a control by its name in the list, and the mark
ends with the control, so `unload` closes what was opened. Only the first network namespace has it.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from westwood.errors import InputError, RunError, UnavailableError, suggestion
from westwood.kernel import ww_kernel

ALLOWED = Path("/proc/sys/net/ipv4/tcp_allowed_congestion_control")
OPTION = "--allow-users"
_REMEDY = "run as root, in the first network namespace"


def allowed() -> set[str]:
    """Returns the controls that any user may choose."""
    return set(ALLOWED.read_text().split()) if ALLOWED.exists() else set()


def check(names: Sequence[str], loads: Iterable[str]) -> None:
    """Raises an error unless a command loads all of these, and we may open them."""
    for name in names:
        if name not in loads:
            problem = f"expected a control that it loads, {suggestion(name, sorted(loads))}"
            raise InputError(problem, key=OPTION, value=name)
    if names and not os.access(ALLOWED, os.W_OK):
        raise UnavailableError(f"{ALLOWED}: {_REMEDY}")


@contextlib.contextmanager
def staying(names: Iterable[str]) -> Iterator[None]:
    """Opens the names after the block, which loads them, and what it loads anew that was open."""
    before = allowed()
    yield
    change({*names, *before & ww_kernel.registered()}, set())


def change(opened: set[str], closed: set[str]) -> None:
    """Opens controls to any user, and closes others; raises UnavailableError if we may not."""
    before = allowed()
    after = (before | opened) - closed
    if after == before:
        return
    try:
        ALLOWED.write_text(" ".join(sorted(after)))
    except OSError as error:
        if error.errno in (errno.EPERM, errno.EACCES):
            raise UnavailableError(f"{ALLOWED}: {error.strerror}; {_REMEDY}") from None
        raise RunError(f"{ALLOWED}: {error.strerror}") from None
