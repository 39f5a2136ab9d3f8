# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program as a process that a test interrupts, and finds what it left behind."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path


class Tool:
    """The program in its own session, with its own folder for temporary files."""

    def __init__(self, command: str, folder: Path) -> None:
        (folder / "tmp").mkdir(exist_ok=True)
        self._folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "westwood", *command.split()],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
            start_new_session=True,
        )

    def works(self) -> bool:
        """Waits until it has finished its imports or runs a program; False if it has ended."""
        pid = self.process.pid
        ticks = os.sysconf("SC_CLK_TCK")
        while self.process.poll() is None:
            with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
                used = sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / ticks
            if used > 1.3 or children(pid):
                return True
            time.sleep(0.02)
        return False

    def watches(self) -> bool:
        """Waits until it has installed its signal handlers; False if it has ended."""
        while self.process.poll() is None:
            with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
                taken = next(line for line in status if line.startswith("SigCgt"))
            if int(taken.split()[1], 16) >> signal.SIGHUP - 1 & 1:  # installed last
                return True
            time.sleep(0.001)
        return False

    def end(self, *signals: signal.Signals, group: bool = False) -> tuple[float, str, str]:
        """Sends the signals; returns the time it took to end, and its output."""
        start = time.monotonic()
        for number in signals:
            (os.killpg if group else os.kill)(self.process.pid, number)
            time.sleep(0.01)
        self.process.wait(30)
        took_s = time.monotonic() - start
        return took_s, *self.process.communicate()

    def left(self) -> list[str]:
        """Returns the processes and temporary files that it left behind.

        Killed processes get ten seconds to disappear, because a busy machine must schedule them.
        """
        end = time.monotonic() + 10
        while (alive := members(self.process.pid)) and time.monotonic() < end:
            time.sleep(0.02)
        files = [*self._folder.glob("tmp/*"), *self._folder.rglob(".partial-*")]
        return [*map(str, files), *map(str, alive)]


def stats() -> dict[int, list[str]]:
    words_of = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words_of[int(process.name)] = (process / "stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
    return words_of


def children(pid: int) -> list[int]:
    return [process for process, words in stats().items() if int(words[1]) == pid]


def members(session: int) -> list[int]:
    alive = {process: words for process, words in stats().items() if words[0] not in "ZX"}
    return [process for process, words in alive.items() if int(words[3]) == session]
