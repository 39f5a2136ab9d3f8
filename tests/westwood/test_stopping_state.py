# SPDX-License-Identifier: BSD-3-Clause
"""Blocks delay the exception of a signal, and the first signal decides the exit code.

Signals are calls of their handler; test_stopping.py sends real ones.
"""

import signal
import sys
import threading
import time

import pytest

from westwood import _engine, stopping


@pytest.fixture
def process(monkeypatch) -> stopping._Process:
    """A process that has begun and got no signal."""
    process_ = stopping._Process()
    process_.has_begun = True
    monkeypatch.setattr(stopping, "_process", process_)
    return process_


@pytest.mark.parametrize("delayed", [stopping.shielded, stopping.keeping])
def test_a_signal_waits_for_the_outermost_block(process, delayed):
    reached = []
    with pytest.raises(stopping.Stopped), delayed():
        with delayed():
            stopping._on_signal(signal.SIGTERM, None)
            reached.append("after the signal")
        reached.append("after the inner block")
    assert len(reached) == 2
    assert stopping.is_asked() and stopping.exit_code(1) == 143
    stopping._on_signal(signal.SIGINT, None)
    assert stopping.exit_code(1) == 143, "the first signal counts, and raises once"


def test_blocks_of_both_kinds_delay_it_together(process):
    reached = []
    with pytest.raises(stopping.Stopped), stopping.keeping():
        with stopping.shielded():
            stopping._on_signal(signal.SIGINT, None)
        reached.append("still keeping")
    with stopping.shielded(), stopping.keeping():
        pass
    assert reached and stopping.exit_code(0) == 130


def test_finished_results_start_the_patience_anew(process):
    before = time.monotonic()
    with stopping.keeping():
        assert process.since == 0
    assert before <= process.since <= time.monotonic()


def test_a_signal_that_was_meant_is_no_interrupt(process):
    stopping.was_meant()
    assert not process.is_meant and stopping.exit_code(3) == 3
    with pytest.raises(stopping.Stopped):
        stopping._on_signal(signal.SIGINT, None)
    stopping.was_meant()
    assert process.is_meant and not stopping.is_asked() and stopping.exit_code(3) == 3


def test_before_it_begins_a_signal_ends_the_process_and_its_children(process, monkeypatch):
    class Child:
        killed = 0

        def kill(self):
            self.killed += 1
            raise ProcessLookupError

    class Ended(Exception):
        """Stands for the end of this process."""

    def ended(code: int) -> None:
        raise Ended(code)

    child, messages = Child(), []
    monkeypatch.setattr(stopping, "children", {child})
    monkeypatch.setattr(stopping.os, "_exit", ended)
    monkeypatch.setattr(stopping.os, "write", lambda to, text: messages.append((to, text)))
    monkeypatch.setattr(stopping.os, "isatty", lambda to: to == 2)
    stopping.end()
    with pytest.raises(Ended, match="143"):
        stopping._on_signal(signal.SIGTERM, None)
    assert child.killed == 1 and not stopping.is_asked()
    line = f"westwood: {stopping.UNKNOWN}\n".encode()
    assert messages == [(2, b"\x1b[?25h" + line)], "a terminal shows its cursor again"
    monkeypatch.setattr(stopping.os, "isatty", lambda to: False)
    with pytest.raises(Ended, match="130"):
        stopping._on_signal(signal.SIGINT, None)
    assert messages[1] == (2, line)
    stopping.begin()
    with pytest.raises(stopping.Stopped):
        stopping._on_signal(signal.SIGINT, None)


def test_an_exception_that_python_could_not_raise_is_due_again(process, monkeypatch):
    shown: list[object] = []
    monkeypatch.setattr(sys, "__unraisablehook__", shown.append)

    class Unraisable:
        exc_value: BaseException = ValueError()

    other = Unraisable()
    stopping._on_unraisable(other)
    assert shown == [other] and not process.is_due
    other.exc_value = stopping.Stopped()
    stopping._on_unraisable(other)
    assert process.is_due and len(shown) == 1


def test_a_threads_stop_flag_ends_its_own_work_only():
    stop, errors = _engine.Stop(), []

    def work():
        stopping.adopt(stop)
        stopping.check()
        stop.set()
        try:
            stopping.check()
        except KeyboardInterrupt:
            errors.append(stopping.of_thread())

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert errors == [stop] and stopping.of_thread() is None
    stopping.check()
