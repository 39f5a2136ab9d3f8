# SPDX-License-Identifier: BSD-3-Clause
"""Congestion controls in Python, as classes."""

from __future__ import annotations

import itertools
import traceback
from typing import Any, ClassVar

from westwood import _engine
from westwood.control import loading
from westwood.errors import InputError, WestwoodError

_NEEDS_RATE, _OWNS_RECOVERY, _IGNORES_MARKS, _FOLLOWS_PACKETS = 1, 2, 8, 16  # core/contract.h
_numbers = itertools.count(1)


class PythonControl:
    """A congestion control of one's own in Python, for the simulator.

    Write a subclass with `on_ack` and `on_loss`, and give the class itself as the `cc` of a flow.
    Each connection has an instance, made without arguments, so its state is in attributes. The
    calls are those of a control in C: docs/your-own-control.md says when they come, and what
    happens without them.

    - `on_ack(window, ack)` and `on_loss(window, now_us, in_flight, mss)`, which it must have;
    - `on_mark(window, now_us, in_flight, mss)`: a congestion mark;
    - `on_rto(window, now_us, in_flight, mss, repeated)`: a retransmission timeout;
    - `on_recovery_exit(window, now_us, mss)`, `on_undo(window)`, `on_restart(now_us)`;
    - `on_packet_sent(window, sent)`, `on_packet_lost(window, lost)`.

    `window` has `cwnd` and `ssthresh` in segments, and `pacing_bps`; 0: not paced. `ack` has the
    fields of `struct ww_sample` in core/contract.h, such as `acked_segments`, `rtt_us` and
    `is_dupack`. Both are valid during the call.

    Attributes
    ----------
    needs_rate : bool
        The control paces, and reads delivery rates: `rate_segments`, `rate_interval_us`.
    owns_recovery : bool
        It sets cwnd in fast recovery.
    ignores_marks : bool
        It does not answer congestion marks.

    Examples
    --------
    >>> from westwood import PythonControl, Scenario, simulate
    >>> class Fixed(PythonControl):
    ...     def on_ack(self, window, ack):
    ...         window.cwnd = 20
    ...
    ...     def on_loss(self, window, now_us, in_flight, mss):
    ...         window.ssthresh = window.cwnd = 10
    >>> path = Scenario.preset("path").with_settings({"tcp.cc": Fixed, "duration": "20s"})
    >>> simulate(path).rows["cc"][0]
    'Fixed.py'
    """

    needs_rate: ClassVar[bool] = False
    owns_recovery: ClassVar[bool] = False
    ignores_marks: ClassVar[bool] = False


def table_of(control: type[PythonControl]) -> dict[str, Any]:
    """Returns the table `cc` for a class, which becomes a control when it is first named."""
    known = control.__dict__.get("_westwood_table")
    if known is None:
        known = _added(control)
        control._westwood_table = known  # type: ignore[attr-defined]
    return dict(known)


def _added(control: type[PythonControl]) -> dict[str, Any]:
    for needed in ("on_ack", "on_loss"):
        if not hasattr(control, needed):
            raise InputError(f"{control.__name__} lacks {needed}()", key="cc")
    for trait in ("needs_rate", "owns_recovery", "ignores_marks"):
        if not isinstance(given := getattr(control, trait), bool):
            problem = f"{control.__name__}.{trait} = {given!r}: expected True or False"
            raise InputError(problem, key="cc")
    name, source = f"{control.__name__}{loading.PYTHON}", f"python-{next(_numbers)}"
    traits = _NEEDS_RATE * control.needs_rate + _OWNS_RECOVERY * control.owns_recovery
    traits += _IGNORES_MARKS * control.ignores_marks
    if hasattr(control, "on_packet_sent") or hasattr(control, "on_packet_lost"):
        traits |= _FOLLOWS_PACKETS | _NEEDS_RATE
    _engine.add_python_control(control, source, control.__name__, traits)
    loading.add_class(name, source, control.__name__, traits)
    return {"name": name, "source": source}


def explained(call: str, cause: BaseException) -> str:
    """Returns one line for an exception in a call: what it is, and where it was raised.

    What must not be explained, such as an interrupt, is raised again.
    """
    if not isinstance(cause, Exception) or isinstance(cause, WestwoodError):
        raise cause
    place = traceback.extract_tb(cause.__traceback__)[-1:]
    at = "".join(f" ({one.filename}, line {one.lineno})" for one in place)
    return f"{call}(): {type(cause).__name__}: {cause}{at}"
