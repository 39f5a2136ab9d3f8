# SPDX-License-Identifier: BSD-3-Clause
"""Boots Debian's kernel in an emulated machine; its initial RAM disk holds our programs only.

The machine's time is counted in instructions (qemu's -icount), not in the host's seconds: delays
and rates in it are exact however busy the host is.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable
from pathlib import Path

from westwood.kernel import ww_kernel

CACHE = Path(__file__).parents[3] / "build" / "vm"
SERIAL = CACHE / "serial.log"  # what the last machine printed
META = "linux-image-amd64"
MODULES = (
    "kernel/drivers/net/veth.ko",
    "kernel/net/sched/sch_netem.ko",
    "kernel/net/ipv4/tcp_westwood.ko",
)
# The shell is dash, since busybox as a shell takes its own ip and tc before those in PATH
TOOLS = ("dash", "ip", "tc", "iperf3", "setpriv")
INIT = """#!/bin/dash
export PATH=/bin:/sbin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t bpf bpf /sys/fs/bpf
mount -t tmpfs tmp /tmp; mount -t devtmpfs dev /dev
ip link set lo up
for module in /modules/*.ko; do insmod $module; done
echo "## $(uname -r)"
. /script
echo "## end"
poweroff -f
"""


def lacking() -> str | None:
    """Says why no machine can be emulated here; None: one can."""
    tools = ("qemu-system-x86_64", "cpio", "dpkg-deb", *TOOLS)
    missing = [tool for tool in tools if find(tool) is None]
    if not Path("/bin/busybox").exists():
        missing.append("busybox")
    if missing:
        return f"no {', '.join(missing)}: tools/system.sh slow"
    if os.uname().machine != "x86_64":
        return "needs x86_64"
    return None if image() else f"apt-get has no {META} of 6.1"


def find(tool: str) -> str | None:
    return shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def image() -> Path | None:
    """Finds Debian's 6.1 kernel with its modules, which apt-get fetches once."""
    there = sorted(CACHE.glob("boot/vmlinuz-6.1.*"))
    if there:
        return there[-1]
    depends = subprocess.run(["apt-cache", "depends", META], capture_output=True, text=True)
    named = re.search(r"Depends: (linux-image-6\.1\.\S+)", depends.stdout)
    if named is None:
        return None
    with tempfile.TemporaryDirectory() as folder:
        fetch = ["apt-get", "download", named[1]]
        if subprocess.run(fetch, cwd=folder, capture_output=True).returncode != 0:
            return None
        package = next(Path(folder).glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(CACHE)], check=True)
    return next(CACHE.glob("boot/vmlinuz-6.1.*"), None)


def libraries(program: Path) -> set[Path]:
    """Lists the shared libraries that a program needs, with the loader."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listed.stdout)}


def disk(folder: Path, script: str) -> Path:
    """Builds the initial RAM disk, which runs `script` and ends."""
    root = folder / "root"
    for name in ("bin", "proc", "sys", "tmp", "dev", "modules", "etc", "run/netns"):
        (root / name).mkdir(parents=True)
    programs = {Path(str(find(tool))) for tool in TOOLS} | {ww_kernel.program()}
    for path in programs:
        shutil.copy2(path, root / "bin" / path.name)
    for path in set().union(*(libraries(path) for path in programs)):
        (root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, root / path.relative_to("/"))
    shutil.copy2("/bin/busybox", root / "bin/busybox")
    listed = subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True)
    for name in listed.stdout.split():
        if not (root / "bin" / name).exists():
            (root / "bin" / name).symlink_to("busybox")
    shutil.copy2(ww_kernel.bpf_object(ww_kernel.program()), root / "ww.bpf.o")
    (root / "bin/sh").unlink()
    (root / "bin/sh").symlink_to("dash")
    modules = next((CACHE / "lib/modules").iterdir())
    for name in MODULES:
        shutil.copy2(modules / name, root / "modules")
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    (root / "script").write_text(script)
    (root / "init").write_text(INIT)
    (root / "init").chmod(0o755)
    archive = folder / "initrd"
    pack = "find . | cpio --quiet -o -H newc"
    with archive.open("wb") as out:
        subprocess.run(pack, shell=True, cwd=root, stdout=out, check=True)
    return archive


def run(script: str, seconds: float) -> list[str]:
    """Runs a script in the machine; returns the lines it prints, the kernel's name first."""
    booted = image()
    assert booted is not None
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "qemu-system-x86_64",
            "-accel",
            "tcg",
            "-icount",
            "shift=1,sleep=off",
            "-cpu",
            "max",
            "-m",
            "1024",
            "-display",
            "none",
            "-no-reboot",
            "-nodefaults",
            "-serial",
            "stdio",
            "-kernel",
            booted,
            "-initrd",
            disk(Path(folder), script),
            "-append",
            "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable random.trust_cpu=on",
        ]
        with SERIAL.open("wb") as out:
            subprocess.run(
                [str(word) for word in command],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                timeout=seconds,
                check=True,
            )
    lines = [line.rstrip() for line in SERIAL.read_text(errors="replace").splitlines()]
    starts = [number for number, line in enumerate(lines) if line.startswith("## 6.")]
    assert starts and "## end" in lines, "\n".join(lines[-30:])
    return lines[starts[0] : lines.index("## end")]


def after(lines: Iterable[str], heading: str) -> list[str]:
    """Returns the lines between a heading and the next one."""
    found, inside = [], False
    for line in lines:
        if line.startswith("## "):
            inside = line == f"## {heading}"
        elif inside:
            found.append(line)
    return found
