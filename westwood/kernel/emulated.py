# SPDX-License-Identifier: BSD-3-Clause
"""Boots Debian's kernel in an emulated machine; its RAM disk holds the programs it is given.

That kernel has congestion controls as modules that another one lacks, upstream's Westwood+ among
them. The machine's time is counted in instructions (qemu's -icount), not in the host's seconds:
delays and rates in it are exact however busy the host is, and a second that is mostly idle there
passes sooner than here.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

from westwood.errors import RunError, one_line

CACHE = Path(__file__).parents[2] / "build" / "vm"
META = "linux-image-amd64"
_SHELL = "dash"  # busybox as a shell takes its own ip and tc before those in PATH
_EMULATOR = "qemu-system-x86_64"
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


def find(tool: str) -> str | None:
    """Finds a program, also where only root looks."""
    return shutil.which(tool, path=f"{os.environ['PATH']}:/usr/sbin:/sbin")


def lacking(tools: Sequence[str] = ()) -> str | None:
    """Says why no machine with these programs in it can be emulated here; None: one can."""
    missing = [tool for tool in (_EMULATOR, "cpio", "dpkg-deb", _SHELL, *tools) if not find(tool)]
    if not Path("/bin/busybox").exists():
        missing.append("busybox")
    if missing:
        return f"no {', '.join(missing)}: tools/system.sh slow"
    if os.uname().machine != "x86_64":
        return "needs x86_64"
    return None if image() else "no kernel of Debian's in build/vm: make linux-machine"


def image() -> Path | None:
    """Finds Debian's 6.1 kernel, if it has been fetched."""
    there = sorted(CACHE.glob("boot/vmlinuz-6.1.*"))
    return there[-1] if there else None


def fetch() -> None:
    """Has apt-get fetch that kernel with its modules, once; RunError if it can't."""
    if image():
        return
    depends = subprocess.run(["apt-cache", "depends", META], capture_output=True, text=True)
    named = re.search(r"Depends: (linux-image-6\.1\.\S+)", depends.stdout)
    if named is None:
        raise RunError(f"apt-cache knows no {META} of 6.1: apt-get update, on Debian 12")
    with tempfile.TemporaryDirectory() as folder:
        fetch = ["apt-get", "download", named[1]]
        if subprocess.run(fetch, cwd=folder, capture_output=True).returncode != 0:
            raise RunError(f"apt-get did not fetch {named[1]}")
        package = next(Path(folder).glob("*.deb"))
        subprocess.run(["dpkg-deb", "-x", str(package), str(CACHE)], check=True)


def _libraries(program: Path) -> set[Path]:
    """Lists the shared libraries that a program needs, with the loader."""
    listed = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    return {Path(path) for path in re.findall(r"(/\S+) \(0x", listed.stdout)}


def _disk(
    folder: Path,
    script: str,
    programs: Iterable[Path],
    modules: Iterable[str],
    files: Iterable[Path],
) -> Path:
    """Builds the initial RAM disk, which runs `script` and ends."""
    root = folder / "root"
    for name in ("bin", "proc", "sys", "tmp", "dev", "modules", "etc", "run/netns"):
        (root / name).mkdir(parents=True)
    inside = {*programs, Path(str(find(_SHELL)))}
    for path in inside:
        shutil.copy2(path, root / "bin" / path.name)
    for path in set().union(*(_libraries(path) for path in inside)):
        (root / path.relative_to("/")).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, root / path.relative_to("/"))
    shutil.copy2("/bin/busybox", root / "bin/busybox")
    listed = subprocess.run(["/bin/busybox", "--list"], capture_output=True, text=True)
    for name in listed.stdout.split():
        if not (root / "bin" / name).exists():
            (root / "bin" / name).symlink_to("busybox")
    for path in files:
        shutil.copy2(path, root / path.name)
    (root / "bin/sh").unlink()
    (root / "bin/sh").symlink_to(_SHELL)
    there = next((CACHE / "lib/modules").iterdir())
    for name in modules:
        shutil.copy2(there / name, root / "modules")
    (root / "etc/passwd").write_text("root:x:0:0::/:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n")
    (root / "script").write_text(script)
    (root / "init").write_text(_INIT)
    (root / "init").chmod(0o755)
    archive = folder / "initrd"
    pack = "find . | cpio --quiet -o -H newc"
    with archive.open("wb") as out:
        subprocess.run(pack, shell=True, cwd=root, stdout=out, check=True)
    return archive


def run(
    script: str,
    seconds: float,
    *,
    programs: Iterable[Path],
    modules: Iterable[str],
    files: Iterable[Path] = (),
) -> list[str]:
    """Runs a script in the machine; returns the lines it prints, the kernel's name first.

    `modules` are loaded before, by their names below the kernel's folder; `files` lie in /.
    RunError if it does not end within so many seconds, or not well.
    """
    booted = image()
    assert booted is not None
    append = "console=ttyS0 quiet panic=-1 mitigations=off tsc=reliable random.trust_cpu=on"
    with tempfile.TemporaryDirectory() as made:
        disk = _disk(Path(made), script, programs, modules, files)
        command = [_EMULATOR, "-accel", "tcg", "-icount", "shift=1,sleep=off", "-cpu", "max"]
        command += ["-m", str(_MEGABYTES), "-display", "none", "-no-reboot", "-nodefaults"]
        command += ["-serial", "stdio", "-kernel", str(booted), "-initrd", str(disk)]
        try:
            done = subprocess.run(
                [*command, "-append", append],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=seconds,
            )
        except subprocess.TimeoutExpired:
            raise RunError(f"the emulated machine took longer than {seconds:.0f} s") from None
    lines = done.stdout.decode(errors="replace").splitlines()
    lines = [line.rstrip() for line in lines]
    starts = [number for number, line in enumerate(lines) if line.startswith("## 6.")]
    if not starts or "## end" not in lines:
        last = one_line("; ".join(lines[-3:])) or f"exit code {done.returncode}"
        raise RunError(f"the emulated machine ended with {last}")
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
