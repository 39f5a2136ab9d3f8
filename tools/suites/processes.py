# SPDX-License-Identifier: BSD-3-Clause
"""Runs commands, limits the CPU time of each with its descendants, and ends them on request.

The limit is not on the wall clock, so a busy machine fails no suite.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_S = 2.0  # between two looks at the CPU time
GRACE_S = 0.2  # to remove half-written output
RESTORE_S = 60.0  # to restore the machine
_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True)
class Process:
    parent: int
    session: int
    cpu_s: float  # with the children that ended


@dataclass(frozen=True)
class Ended:
    code: int
    cpu_s: float


def processes() -> dict[int, Process]:
    """Returns this machine's processes, without zombies."""
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "stat").read_text(errors="replace").rpartition(")")[2].split()
        except OSError:  # it has just ended
            continue
        if words[0] not in "ZX":
            cpu_s = sum(map(int, words[11:15])) / _TICKS
            processes[int(folder.name)] = Process(int(words[1]), int(words[3]), cpu_s)
    return processes


def family(leader: int) -> dict[int, Process]:
    """Returns a session's leader, the session's other processes, and the descendants of all."""
    everything = processes()
    members = {pid for pid, process in everything.items() if leader in (pid, process.session)}
    size = 0
    while size != len(members):
        size = len(members)
        members |= {pid for pid, process in everything.items() if process.parent in members}
    return {pid: everything[pid] for pid in members}


class Commands:
    """Runs commands from any thread; after `end` it starts no other."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._restoring: dict[subprocess.Popen[bytes], bool] = {}  # of the running commands
        self._is_over = False

    def run(
        self,
        command: Sequence[str],
        output: int,
        limit_s: float,
        *,
        niceness: int = 0,
        restores: bool = False,
    ) -> Ended:
        """Runs a command; ends it when it has used `limit_s` of CPU time.

        A command that `restores` the machine gets SIGINT and a minute for that.
        """
        with self._lock:
            if self._is_over:
                return Ended(-signal.SIGTERM, 0.0)
            process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
            self._restoring[process] = restores
        if niceness:
            _prioritise(process.pid, niceness)
        used_s = 0.0
        while (ended := _reaped(process, LOOK_S)) is None:
            used_s = max(used_s, sum(member.cpu_s for member in family(process.pid).values()))
            if used_s > limit_s:
                os.write(output, f"ended after {used_s:.0f} s of CPU time\n".encode())
                _end({process: restores})
        with self._lock:
            del self._restoring[process]
        return Ended(1, used_s) if used_s > limit_s else ended

    def end(self) -> None:
        """Ends all running commands with their descendants."""
        with self._lock:
            self._is_over = True
            running = dict(self._restoring)
        _end(running)


def _prioritise(session: int, niceness: int) -> None:
    """Sets the niceness of a session's leader, and of the session where Linux groups tasks by it.

    With autogroups a process's own niceness counts only within its session (sched(7)).
    """
    with contextlib.suppress(OSError):  # it has ended, or only root may set it
        os.setpriority(os.PRIO_PROCESS, session, niceness)
        Path(f"/proc/{session}/autogroup").write_text(str(niceness))


def _reaped(process: subprocess.Popen[bytes], patience_s: float) -> Ended | None:
    """Waits for a command; returns its exit code, and the CPU time of all that it waited for."""
    end = time.monotonic() + patience_s
    while process.returncode is None:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return Ended(process.returncode, usage.ru_utime + usage.ru_stime)
        if time.monotonic() > end:
            return None
        time.sleep(0.02)
    return Ended(process.returncode, 0.0)


def _end(running: dict[subprocess.Popen[bytes], bool]) -> None:
    """Ends commands: most at once, those that restore the machine when they have."""
    leaders = {process.pid: restores for process, restores in running.items()}
    for leader, restores in leaders.items():
        if restores:
            _signal([-leader], signal.SIGINT)  # the process group, as Ctrl-C does
        else:
            _signal(family(leader), signal.SIGTERM)
    _kill([leader for leader, restores in leaders.items() if not restores], GRACE_S)
    _kill([leader for leader, restores in leaders.items() if restores], RESTORE_S)


def _kill(leaders: Sequence[int], patience_s: float) -> None:
    """Waits until these sessions are empty; kills what is left of them after `patience_s`."""
    end = time.monotonic() + patience_s
    while left := [pid for leader in leaders for pid in family(leader)]:
        if time.monotonic() > end:
            _signal(left, signal.SIGKILL)
        time.sleep(0.01)


def _signal(pids: Iterable[int], number: signal.Signals) -> None:
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            continue
