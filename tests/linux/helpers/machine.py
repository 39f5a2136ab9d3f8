# SPDX-License-Identifier: BSD-3-Clause
"""Makes namespaces, a path and traffic for the tests, and asks the kernel about our controls.

Everything is made in namespaces without names, which disappear with their processes. The controls
belong to the whole machine: a lock keeps tests that load them apart.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from westwood.errors import UnavailableError
from westwood.kernel import ww_kernel

HELPERS = Path(__file__).parent  # has the programs that run in namespaces
AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")
OURS = set(ww_kernel.CONTROLS)
LOCK = Path("/run/westwood-kernel-tests.lock")  # in a folder that only root can write
TOOLS = ("bpftool", "ip", "iperf3", "nsenter", "setpriv", "ss", "unshare")
# Without this a connection would try for two minutes to reach a peer that has disappeared, and
# keep its control in the kernel.
HOLD = """
ip link set lo up
echo 1 >/proc/sys/net/ipv4/tcp_orphan_retries
echo
exec sleep 600
"""


def missing_reason() -> str | None:
    """Returns why the tests of tests/linux can't run on this machine, or None if they can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "needs root: BPF, namespaces"
    if not Path("/sys/kernel/btf/vmlinux").exists():
        return "needs a kernel with BTF"
    if not Path("/dev/net/tun").exists():
        return "needs TUN: modprobe tun"
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing:
        return f"needs {', '.join(missing)}: tools/system.sh test"
    try:
        ww_kernel.program()
    except UnavailableError as error:
        return str(error)
    with tempfile.TemporaryDirectory() as folder:  # root in a container may not mount
        attempt = ["unshare", "-n", "-m", "mount", "-t", "bpf", "bpf", folder]
        if subprocess.run(attempt, capture_output=True).returncode != 0:
            return "needs to mount a bpffs and to make namespaces"
    return None


def available() -> set[str]:
    """Lists the congestion controls that this kernel knows at present."""
    return words("available")


def words(kind: str) -> set[str]:
    """Lists the `available` or `allowed` controls."""
    file = AVAILABLE.with_name(f"tcp_{kind}_congestion_control")
    return set(file.read_text().split()) if file.exists() else set()


def other_than_reno() -> str:
    """Names another of the kernel's own controls that any namespace may use, if there is one."""
    return min(words("allowed") - OURS - {"reno"}, default="reno")


@contextmanager
def controls_to_ourselves() -> Iterator[bool]:
    """Keeps other tests from loading our controls; False if the machine has them loaded."""
    with LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        end_what_killed_tests_left()
        yield not available() & OURS


def end_what_killed_tests_left():
    """Unloads the controls of killed tests and unmounts their bpffs; the caller holds the lock."""
    mounts = Path("/proc/self/mounts").read_text().splitlines()
    for _, folder, kind, *_ in map(str.split, mounts):
        if kind == "bpf" and "/pytest-of-" in folder:
            with pins_in(Path(folder) / "westwood"):
                ww_kernel.unload()
            subprocess.run(["umount", folder], check=True)


@contextmanager
def pins_in(folder: Path) -> Iterator[None]:
    """Makes our tools pin in this folder."""
    before = os.environ.get(ww_kernel.PINS_VARIABLE)
    os.environ[ww_kernel.PINS_VARIABLE] = str(folder)
    try:
        yield
    finally:
        del os.environ[ww_kernel.PINS_VARIABLE]
        if before is not None:
            os.environ[ww_kernel.PINS_VARIABLE] = before


@contextmanager
def own_bpffs(folder: Path) -> Iterator[bool]:
    """Mounts a bpffs for our controls and keeps other tests from loading theirs meanwhile.

    Yields False if this machine has our controls loaded already.
    """
    with controls_to_ourselves() as ours:
        if not ours:
            yield False
            return
        subprocess.run(["mount", "-t", "bpf", "-o", "mode=0700", "bpf", str(folder)], check=True)
        try:
            with pins_in(folder / "westwood"):
                try:
                    yield True
                finally:
                    ww_kernel.unload()
        finally:
            subprocess.run(["umount", str(folder)], check=True)


def in_kernel() -> set[tuple[str, int]]:
    """Returns kind and id of our struct_ops maps and programs in the kernel, registered or not."""
    ids = set()
    for kind in ("map", "prog"):
        listed = subprocess.run(["bpftool", "-j", kind, "list"], capture_output=True, check=True)
        ids |= {
            (kind, program["id"])
            for program in json.loads(listed.stdout)
            if program["type"] == "struct_ops" and "ww_" in program.get("name", "")
        }
    return ids


class Namespace:
    """A network namespace that exists as long as the process in it."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        holder = subprocess.Popen(["unshare", "-n", "sh", "-c", HOLD], stdout=subprocess.PIPE)
        stack.callback(_end, holder)
        assert holder.stdout is not None
        holder.stdout.readline()
        self.pid = holder.pid

    def start(self, *words: object) -> subprocess.Popen[str]:
        """Starts a program in the namespace; it ends with the test at the latest."""
        command = [str(word) for word in ("nsenter", "-n", "-t", self.pid, *words)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self._stack.callback(_end, process)
        return process

    def run(self, *words: object) -> str:
        """Runs a program in the namespace and returns its output."""
        process = self.start(*words)
        out, _ = process.communicate()
        assert process.returncode == 0, words
        return out

    def receive(self, address: str, port: int) -> subprocess.Popen[str]:
        """Starts the receiving end of connections."""
        process = self.start(sys.executable, HELPERS / "endpoint.py", "receive", address, port)
        assert process.stdout is not None and process.stdout.readline() == "ready\n"
        return process

    def send(
        self,
        address: str,
        port: int,
        cc: str,
        seconds: float,
        connections: int = 1,
        rate: float = 0,
    ) -> subprocess.Popen[str]:
        """Starts the sending end; `outcome` returns its result."""
        words = (address, port, cc, seconds, connections, rate)
        return self.start(sys.executable, HELPERS / "endpoint.py", "send", *words)


def outcome(
    sender: subprocess.Popen[str], receiver: subprocess.Popen[str], connections: int
) -> int:
    """Returns the bytes sent; fails unless all arrived and every connection ended in order."""
    out, _ = sender.communicate(timeout=60)
    assert sender.returncode == 0, "a connection was lost"
    assert receiver.stdout is not None
    arrived = sum(int(receiver.stdout.readline()) for _ in range(connections))
    assert arrived == int(out)
    return arrived


def eventually(holds: Callable[[], object], seconds: float = 30) -> bool:
    """Waits until a condition is true, since the kernel frees unused objects with a delay."""
    end = time.monotonic() + seconds
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def _end(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@contextmanager
def joined(*options: object) -> Iterator[tuple[Namespace, Namespace]]:
    """Makes a sender's and a receiver's namespace, joined by delay_line.py."""
    with ExitStack() as stack:
        sender, receiver = Namespace(stack), Namespace(stack)
        for side in (sender, receiver):  # connections do not learn from earlier ones
            side.run("sysctl", "-qw", "net.ipv4.tcp_no_metrics_save=1")
        words = (sys.executable, HELPERS / "delay_line.py", sender.pid, receiver.pid, *options)
        line = subprocess.Popen([str(word) for word in words], stdout=subprocess.PIPE, text=True)
        stack.callback(_end, line)
        assert line.stdout is not None and line.stdout.readline() == "ready\n"
        yield sender, receiver


@contextmanager
def alone() -> Iterator[Namespace]:
    """Makes a namespace with only a loopback device."""
    with ExitStack() as stack:
        yield Namespace(stack)
