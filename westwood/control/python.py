# SPDX-License-Identifier: BSD-3-Clause
"""Congestion controls in Python, as classes."""

from __future__ import annotations

import itertools
import traceback
from collections.abc import Mapping
from typing import Any, ClassVar

from westwood import _engine
from westwood.control import loading
from westwood.errors import InputError, WestwoodError

_NEEDS_RATE, _OWNS_RECOVERY, _IGNORES_MARKS, _FOLLOWS_PACKETS = 1, 2, 8, 16  # core/contract.h
_OF_PARAMETER = ("name", "what", "fallback", "least", "most")
_OF_QUANTITY = ("name", "unit", "what")
_MOST_PARAMETERS, _MOST_QUANTITIES = 16, 4
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
    `is_dupack`; `sent` has those of `struct ww_sent`, `lost` of `struct ww_lost`. They are valid
    during the call.
    `now_us` is the time in microseconds, `in_flight` is in segments, `mss` in bytes, and `repeated`
    says whether the timeout before had no answer either.

    Attributes
    ----------
    parameters : dict
        Settings: name to default, least, most (whole numbers below 2^32) and what it does, such as
        `{"gain": (1, 1, 100, "Segments a round trip")}`. The instance has them as attributes. A
        flow sets them: `cc={"name": Mine, "gain": 3}`.
    quantities : dict
        Columns of traces: name to unit and what it is. `observe(now_us)` returns their numbers.
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

    parameters: ClassVar[Mapping[str, tuple[int, int, int, str]]] = {}
    quantities: ClassVar[Mapping[str, tuple[str, str]]] = {}
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
    for name in dir(control):
        if name.startswith("on_") and not callable(getattr(control, name)):
            raise InputError(f"{control.__name__}.{name}: expected a method", key="cc")
    for trait in ("needs_rate", "owns_recovery", "ignores_marks"):
        if not isinstance(given := getattr(control, trait), bool):
            problem = f"{control.__name__}.{trait} = {given!r}: expected True or False"
            raise InputError(problem, key="cc")
    name, source = f"{control.__name__}{loading.PYTHON}", f"python-{next(_numbers)}"
    facts = _declared(control)
    traits = _NEEDS_RATE * control.needs_rate + _OWNS_RECOVERY * control.owns_recovery
    traits += _IGNORES_MARKS * control.ignores_marks
    if hasattr(control, "on_packet_sent") or hasattr(control, "on_packet_lost"):
        traits |= _FOLLOWS_PACKETS | _NEEDS_RATE
    try:
        loading.add_class(name, source, control.__name__, traits, facts)
    except ValueError as error:
        raise InputError(f"{control.__name__}: {error}", key="cc") from None
    _engine.add_python_control(
        control,
        source,
        control.__name__,
        traits,
        [tuple(row[key] for key in _OF_PARAMETER) for row in facts["parameters"]],
        [tuple(row[key] for key in _OF_QUANTITY) for row in facts["quantities"]],
    )
    return {"name": name, "source": source}


def _declared(control: type[PythonControl]) -> dict[str, list[dict[str, Any]]]:
    """Returns what a class declares, as a compiled control does."""
    parameters = _table(control, "parameters", _MOST_PARAMETERS, "(default, least, most, text)")
    quantities = _table(control, "quantities", _MOST_QUANTITIES, "(unit, text)")
    if quantities and not callable(getattr(control, "observe", None)):
        raise InputError(f"{control.__name__} lacks observe(), for its quantities", key="cc")
    for name, *numbers, _ in parameters:
        if callable(getattr(control, name, None)):
            problem = f"{control.__name__}.{name}: a parameter has the name of a method"
            raise InputError(problem, key="cc")
        if not all(type(number) is int and 0 <= number < 2**32 for number in numbers):
            problem = f"{control.__name__}.{name}: expected whole numbers below 2^32"
            raise InputError(problem, key="cc")
    named = ((name, what, *numbers) for name, *numbers, what in parameters)
    return {
        "parameters": [dict(zip(_OF_PARAMETER, row, strict=True)) for row in named],
        "quantities": [dict(zip(_OF_QUANTITY, row, strict=True)) for row in quantities],
    }


def _table(
    control: type[PythonControl], attribute: str, most: int, expected: str
) -> list[tuple[Any, ...]]:
    """Returns the rows of `parameters` or `quantities`: the name, and what the class says of it."""
    given, words = getattr(control, attribute), expected.count(",") + 1
    if not isinstance(given, Mapping) or len(given) > most:
        problem = f"expected at most {most}: a table of names, each with {expected}"
        raise InputError(f"{control.__name__}.{attribute}: {problem}", key="cc", value=given)
    for name, row in given.items():
        if not isinstance(row, tuple | list) or len(row) != words or not isinstance(row[-1], str):
            problem = f"{control.__name__}.{attribute}: {name}: expected {expected}"
            raise InputError(problem, key="cc", value=row)
        if not isinstance(name, str):
            raise InputError(f"{control.__name__}.{attribute}: expected a name", value=name)
    return [(name, *row) for name, row in given.items()]


def explained(call: str, cause: BaseException) -> str:
    """Returns one line for an exception in a call: what it is, and where it was raised.

    What must not be explained, such as an interrupt, is raised again.
    """
    if not isinstance(cause, Exception) or isinstance(cause, WestwoodError):
        raise cause
    place = traceback.extract_tb(cause.__traceback__)[-1:]
    place_text = "".join(f" ({frame.filename}, line {frame.lineno})" for frame in place)
    return f"{call}(): {type(cause).__name__}: {cause}{place_text}"
