# SPDX-License-Identifier: BSD-3-Clause
"""Loads our controls for the tests on this machine's kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import own_bpffs

from westwood.errors import UnavailableError
from westwood.kernel import ww_kernel

HERE = Path(__file__).parent
TOOLS = ("bpftool", "ip", "iperf3", "nsenter", "setpriv", "ss", "unshare")


def lacking() -> str | None:
    """Says why the tests of this folder can't run here; None: they can."""
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
    with tempfile.TemporaryDirectory() as folder:  # a container's root may not
        attempt = ["unshare", "-n", "-m", "mount", "-t", "bpf", "bpf", folder]
        if subprocess.run(attempt, capture_output=True).returncode != 0:
            return "needs to mount a bpffs and to make namespaces"
    return None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.is_relative_to(HERE)]
    mine = [item for item in mine if item.get_closest_marker("kernel")]
    reason = lacking() if mine else None
    for item in mine if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def bpffs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Mounts a bpffs for a file of tests, which has the machine's controls to itself meanwhile."""
    folder = tmp_path_factory.mktemp("bpffs")
    with own_bpffs(folder) as ours:
        if not ours:
            pytest.skip("this machine has our controls loaded: westwood kernel unload")
        yield folder


@pytest.fixture(scope="module")
def controls(bpffs: Path) -> Path:
    """Loads our controls."""
    ww_kernel.load()
    return bpffs
