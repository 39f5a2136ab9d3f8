# SPDX-License-Identifier: BSD-3-Clause
"""What the tests on this machine's kernel share: namespaces, a path, traffic, the controls loaded.

Everything a test creates is in namespaces that are named by nothing but the processes in them, and
is gone with those. The controls are the whole machine's: a lock keeps tests that need them apart.
"""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from westwood import kernel
from westwood.cli import call
from westwood.errors import UnavailableError

HERE = Path(__file__).parent
LOCK = Path(tempfile.gettempdir()) / "westwood-kernel-tests.lock"
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
OURS = set(kernel.CONTROLS)


def available() -> set[str]:
    """The congestion controls that this kernel knows now."""
    return set(AVAILABLE.read_text().split())


def lacking() -> str | None:
    """Why the tests of this folder can't run here; None: they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root: BPF, namespaces"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "needs a kernel with BTF"
    try:
        kernel.program()
    except UnavailableError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:  # a container's root may not
        if subprocess.run(["unshare", "-n", "-m", "mount", "-t", "bpf", "bpf", folder],
                          capture_output=True).returncode != 0:  # fmt: skip
            return "needs to mount a bpffs and to make namespaces"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.is_relative_to(HERE)]
    reason = lacking() if any(item.get_closest_marker("kernel") for item in mine) else None
    for item in mine:
        if item.get_closest_marker("kernel"):
            item.add_marker(pytest.mark.xdist_group("kernel"))
            if reason:
                item.add_marker(pytest.mark.skip(reason=reason))


@dataclass
class Called:
    """What a command printed, and its exit code."""

    code: int
    out: str
    err: str


@pytest.fixture
def westwood(capsys: pytest.CaptureFixture[str]) -> Callable[..., Called]:
    """Calls the command line."""

    def run(*arguments: object) -> Called:
        code = call([str(argument) for argument in arguments])
        captured = capsys.readouterr()
        return Called(code, captured.out, captured.err)

    return run


@pytest.fixture(scope="module")
def bpffs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A bpffs of the tests' own, and the machine's controls to themselves meanwhile."""
    folder = tmp_path_factory.mktemp("bpffs")
    with LOCK.open("w") as lock, pytest.MonkeyPatch.context() as patch:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if available() & OURS:
            pytest.skip("this machine has our controls loaded: westwood kernel unload")
        subprocess.run(["mount", "-t", "bpf", "bpf", str(folder)], check=True)
        patch.setenv(kernel.PINS_VARIABLE, str(folder / "westwood"))
        try:
            yield folder
        finally:
            kernel.unload()
            subprocess.run(["umount", str(folder)], check=True)


@pytest.fixture(scope="module")
def controls(bpffs: Path) -> Path:
    """Our controls, loaded."""
    kernel.load()
    return bpffs


class Namespace:
    """A network namespace, as long as the process in it lives."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        holder = subprocess.Popen(["unshare", "-n", "sh", "-c", "ip link set lo up; echo; exec sleep 600"],
                                  stdout=subprocess.PIPE)  # fmt: skip
        stack.callback(_end, holder)
        assert holder.stdout is not None
        holder.stdout.readline()
        self.pid = holder.pid

    def start(self, *words: object) -> subprocess.Popen[str]:
        """A program in it that ends with the test at the latest."""
        command = ["nsenter", "-n", "-t", self.pid, *words]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True)
        self._stack.callback(_end, process)
        return process

    def run(self, *words: object) -> str:
        """What a program in it prints."""
        process = self.start(*words)
        out, _ = process.communicate()
        assert process.returncode == 0, words
        return out

    def receive(self, address: str, port: int) -> subprocess.Popen[str]:
        process = self.start(sys.executable, HERE / "endpoint.py", "receive", address, port)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process

    def send(self, address: str, port: int, cc: str, seconds: float, connections: int = 1,
             rate: float = 0) -> subprocess.Popen[str]:  # fmt: skip
        return self.start(sys.executable, HERE / "endpoint.py", "send", address, port, cc, seconds,
                          connections, rate)  # fmt: skip


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@contextmanager
def joined(*options: object) -> Iterator[tuple[Namespace, Namespace, subprocess.Popen[str]]]:
    """Two namespaces with tests/linux/delay_line.py between them, which prints what passes."""
    with ExitStack() as stack:
        sender, receiver = Namespace(stack), Namespace(stack)
        for one in (sender, receiver):  # nothing remembered from one connection for the next
            one.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")
        words = [sys.executable, HERE / "delay_line.py", sender.pid, receiver.pid, *options]
        line = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        stack.callback(_end, line)
        assert line.stdout is not None and line.stdout.readline() == "ready\n"
        yield sender, receiver, line


@contextmanager
def alone() -> Iterator[Namespace]:
    """A namespace with its loopback only."""
    with ExitStack() as stack:
        yield Namespace(stack)
