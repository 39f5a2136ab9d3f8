# SPDX-License-Identifier: BSD-3-Clause
"""Boots Debian's kernel in an emulated machine, with programs on its RAM disk.

That kernel has modules of congestion controls that other kernels lack, such as upstream's
Westwood+. The machine's clock counts instructions (qemu's -icount), not the host's time. So its
delays and rates are exact even on a busy host, and idle periods pass quickly.
"""

from __future__ import annotations

import os
import re
import shutil
import stat
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import IO

from westwood.errors import RunError, UnavailableError, one_line
from westwood.programs import check_workshop, system_program, workshop
from westwood.programs import run as run_program

CACHE = workshop() / "vm"
META = "linux-image-amd64"
_SHELL = "dash"  # busybox's shell would prefer its own ip and tc to those in PATH
_EMULATOR = "qemu-system-x86_64"
_PACKAGES = {  # Debian's packages whose names differ from the tools'
    _EMULATOR: "qemu-system-x86",
    "busybox": "busybox-static",
    "dpkg-deb": "dpkg",
    "setpriv": "util-linux",
}
FETCH = "westwood kernel machine"
_MEGABYTES = 1024
_INIT = f"""#!/bin/{_SHELL}
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


find = system_program


def missing_reason(tools: Sequence[str] = ()) -> str | None:
    """Returns why no machine with these programs can be emulated here; None if it can."""
    if problem := missing(tools):
        return problem
    return None if image() else f"no Debian kernel in {CACHE}: {FETCH}"


def missing(tools: Sequence[str] = ()) -> str | None:
    """Returns what is missing apart from the kernel; None if nothing is."""
    tools = (_EMULATOR, "setpriv", "dpkg-deb", _SHELL, *tools)
    lacks = [tool for tool in tools if not find(tool)]
    if not Path("/bin/busybox").exists():
        lacks.append("busybox")
    if lacks:
        packages = sorted({_PACKAGES.get(tool, tool) for tool in lacks})
        return f"no {', '.join(lacks)}: apt-get install {' '.join(packages)}"
    if os.uname().machine != "x86_64":
        return "needs x86_64"
    return None


def image() -> Path | None:
    """Returns Debian's 6.1 kernel, or None if it has not been downloaded."""
    if CACHE.exists():
        check_workshop()
    there = sorted(CACHE.glob("boot/vmlinuz-6.1.*"))
    return there[-1] if there else None


def fetch() -> None:
    """Downloads that kernel and its modules with apt-get, once; raises RunError if it fails."""
    if image():
        return
    if shutil.which("apt-cache") is None or shutil.which("apt-get") is None:
        raise UnavailableError(f"{FETCH} needs Debian 12: no apt-get")
    depends = subprocess.run(["apt-cache", "depends", META], capture_output=True, text=True)
    named = re.search(r"Depends: (linux-image-6\.1\.\S+)", depends.stdout)
    if named is None:
        raise RunError(f"apt-cache has no {META} of 6.1: apt-get update, on Debian 12")
    try:
        _unpack(named[1])
    except OSError as error:
        raise RunError(f"{error.filename}: {error.strerror}") from None


def _unpack(package_name: str) -> None:
    """Downloads a package and copies its kernel and modules to the cache."""
    check_workshop()
    CACHE.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=CACHE.parent, prefix=".vm-") as folder:
        fetch = ["apt-get", "download", package_name]
        if subprocess.run(fetch, cwd=folder, capture_output=True).returncode != 0:
            raise RunError(f"apt-get could not download {package_name}")
        package = next(Path(folder).glob("*.deb"))
        whole = Path(folder) / "whole"
        subprocess.run(["dpkg-deb", "-x", str(package), str(whole)], check=True)
        CACHE.mkdir(exist_ok=True)
        shutil.copytree(whole / "lib", CACHE / "lib", dirs_exist_ok=True, symlinks=True)
        (CACHE / "boot").mkdir(exist_ok=True)
        # In this order the image, vmlinuz, comes last: `image` relies on that.
        for file in sorted((whole / "boot").iterdir()):
            os.replace(file, CACHE / "boot" / file.name)


def _libraries(program: Path) -> set[Path]:
    """Returns the shared libraries that a program needs, including the loader."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listed.stdout)}


class _Archive:
    """Writes an initial RAM disk: a cpio archive in the format newc (cpio(5))."""

    def __init__(self, out: IO[bytes]) -> None:
        self._out, self._names = out, set[str]()

    def add(self, name: str, content: bytes = b"", mode: int = stat.S_IFREG | 0o755) -> None:
        """Adds a file and its parent folders, unless the name exists already."""
        if name in self._names:
            return
        above = name.rpartition("/")[0]
        if above:
            self.folder(above)
        self._names.add(name)
        path = name.encode() + b"\0"
        # inode, mode, user, group, links, time, size, device, special device, name, checksum
        number = len(self._names)
        fields = [number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields)
        for part in (head + path, content):
            self._out.write(part + bytes(-len(part) % 4))

    def folder(self, name: str) -> None:
        """Adds a folder."""
        self.add(name, mode=stat.S_IFDIR | 0o755)

    def link(self, name: str, to: str) -> None:
        """Adds a symbolic link."""
        self.add(name, to.encode(), stat.S_IFLNK | 0o777)

    def end(self) -> None:
        """Writes the trailer."""
        self.add("TRAILER!!!", mode=0)
        self._out.flush()


def _write_disk(
    out: IO[bytes],
    script: str,
    programs: Iterable[Path],
    modules: Iterable[str],
    files: Iterable[Path],
) -> None:
    """Writes the initial RAM disk, whose init runs `script` and powers off."""
    disk = _Archive(out)
    for name in ("bin", "proc", "sys", "tmp", "dev", "modules", "etc", "run/netns"):
        disk.folder(name)
    disk.link("bin/sh", _SHELL)
    inside = {*programs, Path(str(find(_SHELL)))}
    for path in inside:
        disk.add(f"bin/{path.name}", path.read_bytes())
    for path in set().union(*(_libraries(path) for path in inside)):
        disk.add(str(path.relative_to("/")), path.read_bytes())
    disk.add("bin/busybox", Path("/bin/busybox").read_bytes())
    listed = subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True)
    for name in listed.stdout.split():
        disk.link(f"bin/{name}", "busybox")
    for path in files:
        disk.add(path.name, path.read_bytes())
    there = next((CACHE / "lib/modules").iterdir())
    built_in = (there / "modules.builtin").read_text().split()
    for name in modules:
        if name not in built_in:
            disk.add(f"modules/{Path(name).name}", (there / name).read_bytes())
    disk.add("etc/passwd", b"root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    disk.add("script", script.encode())
    disk.add("init", _INIT.encode())
    disk.end()


def run(
    script: str,
    seconds: float,
    *,
    programs: Iterable[Path],
    modules: Iterable[str],
    files: Iterable[Path] = (),
) -> list[str]:
    """Runs a script in the machine; returns the lines it prints, the kernel's name first.

    `modules` are loaded first; they are paths relative to the kernel's folder. Those that are part
    of the kernel itself have no file. `files` are in /.
    Raises RunError if the script takes longer than `seconds` or fails.
    """
    booted = image()
    assert booted is not None
    append = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable random.trust_cpu=on"
    with tempfile.TemporaryFile() as disk:  # without a name, it disappears with this process
        _write_disk(disk, script, programs, modules, files)
        # setpriv kills the machine when this process dies.
        command = [str(find("setpriv")), "--pdeathsig", "KILL", str(find(_EMULATOR))]
        command += ["-accel", "tcg", "-icount", "shift=1,sleep=off", "-cpu", "max"]
        command += ["-m", str(_MEGABYTES), "-display", "none", "-no-reboot", "-nodefaults"]
        command += [
            "-serial",
            "stdio",
            "-kernel",
            str(booted),
            "-initrd",
            f"/proc/{os.getpid()}/fd/{disk.fileno()}",
        ]
        try:
            done = run_program([*command, "-append", append], "", timeout_s=seconds, both=True)
        except TimeoutError:
            raise RunError(f"the emulated machine took longer than {seconds:.0f} s") from None
    lines = [line.rstrip() for line in done.out.splitlines()]
    starts = [number for number, line in enumerate(lines) if line.startswith("## 6.")]
    if not starts or "## end" not in lines:
        last = one_line("; ".join(lines[-3:])) or f"exit code {done.code}"
        raise RunError(f"the emulated machine ended with {last}")
    return lines[starts[0] : lines.index("## end")]


def after(lines: Iterable[str], heading: str) -> list[str]:
    """Returns the lines between a heading and the next one."""
    section_lines, inside = [], False
    for line in lines:
        if line.startswith("## "):
            inside = line == f"## {heading}"
        elif inside:
            section_lines.append(line)
    return section_lines
