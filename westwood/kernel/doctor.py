# SPDX-License-Identifier: BSD-3-Clause
"""Finds what this machine lacks for our controls and for --engine linux, with remedies.

It checks the capabilities of `kernel load`; docs/linux-path.md lists those of each command.
"""

from __future__ import annotations

import gzip
import os
import platform
import re
import shlex
import shutil
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from westwood.control import compiling
from westwood.control.catalogue import QUEUES
from westwood.errors import UnavailableError, WestwoodError
from westwood.kernel import btf, user_controls, virtual, ww_kernel
from westwood.programs import CHECKOUT

OLDEST = (6, 1)
_SKIPS = "init_owned"  # not in any kernel from kernel.org
CAPABILITIES = ("CAP_PERFMON", "CAP_BPF")
_BITS = {"CAP_NET_ADMIN": 12, "CAP_PERFMON": 38, "CAP_BPF": 39}  # linux/capability.h
SHAPER = "htb"
# The queue disciplines that --engine linux uses: westwood/engines/linux_queues.py.
DISCIPLINES = (SHAPER, *(kind.kernel for kind in QUEUES.values() if kind.kernel))


@dataclass(frozen=True)
class Check:
    """Holds the result of a check: whether it passed, what was found, and the remedy."""

    name: str
    ok: bool
    found: str
    remedy: str
    note: bool = False  # it passed, but the finding is worth knowing

    def __str__(self) -> str:
        verdict = "missing" if not self.ok else "note   " if self.note else "ok     "
        return f"{verdict}  {self.name}: {self.found}" + ("" if self.ok else f"; {self.remedy}")


def checks(
    proc: Path = Path("/proc"), sys: Path = Path("/sys"), boot: Path = Path("/boot")
) -> list[Check]:
    """Runs all checks, in the order in which problems are best fixed."""
    return [
        _kernel_version(platform.release()),
        _file("BTF", sys / "kernel/btf/vmlinux", "use a kernel built with CONFIG_DEBUG_INFO_BTF"),
        *_programs_run(sys),
        _jit(proc),
        *(capability(name, proc) for name in CAPABILITIES),
        _bpffs(proc),
        *_program(),
        _file("TUN", Path("/dev/net/tun"), "modprobe tun"),
        _tool("iperf3", "apt-get install iperf3"),
        _compilers(),
        _disciplines(proc, boot),
        _virtual(),
    ]


def missing(performed: Iterable[Check]) -> list[str]:
    """Returns the names of the failed checks."""
    return [check.name for check in performed if not check.ok]


def _kernel_version(release: str) -> Check:
    numbers = re.match(r"(\d+)\.(\d+)", release)
    version = (int(numbers[1]), int(numbers[2])) if numbers else (0, 0)
    oldest = ".".join(map(str, OLDEST))
    return Check("kernel", version >= OLDEST, release, f"expected {oldest} or newer")


def _programs_run(sys: Path) -> list[Check]:
    """Checks for a vendor's change that skips BPF programs: docs/linux-path.md."""
    try:
        known = btf.members((sys / "kernel/btf/vmlinux").read_bytes(), "bpf_prog_aux")
    except OSError:
        return []
    name = "BPF programs"
    if known is None or _SKIPS not in known:
        return [Check(name, True, "never skipped", "")]
    version_text = (
        "skipped while process 1 runs, by a change of this kernel's vendor "
        f"(bpf_prog_aux.{_SKIPS}); our controls compensate, and record counts it"
    )
    return [Check(name, True, version_text, "", note=True)]


def _jit(proc: Path) -> Check:
    name = "net/core/bpf_jit_enable"
    value = _text(proc / "sys" / name)
    # Only root may read it. A kernel without the file always uses the JIT.
    ok = value is None or value in ("1", "2")
    return Check("BPF JIT", ok, "on" if ok else "off", "sysctl net.core.bpf_jit_enable=1")


def capability(name: str, proc: Path = Path("/proc")) -> Check:
    """Checks whether this process has a capability."""
    held = re.search(r"^CapEff:\s*(\w+)", _text(proc / "self/status") or "", re.M)
    ok = bool(held and int(held[1], 16) >> _BITS[name] & 1)
    remedy = f"run as root, or with setpriv or systemd's AmbientCapabilities={name}"
    return Check(name, ok, "held" if ok else "not held", remedy)


def _bpffs(proc: Path) -> Check:
    folder = ww_kernel.pins().parent
    mounts = [line.split() for line in (_text(proc / "self/mounts") or "").splitlines()]
    bpffs = {Path(words[1]) for words in mounts if words[2] == "bpf"}
    if not bpffs & {folder, *folder.parents}:
        remedy = f"mount -t bpf bpf {folder} (kernel load does it as root)"
        return Check("bpffs", _can_mount(), f"{folder} is not one", remedy)
    if whose := _not_ours(ww_kernel.pins()):
        return Check("bpffs", False, whose, f"rm -r {ww_kernel.pins()}")
    ok = os.access(ww_kernel.pins() if ww_kernel.pins().exists() else folder, os.W_OK | os.X_OK)
    own_mount = (
        f"mount -t bpf bpf DIR && chown USER DIR, and {ww_kernel.PINS_VARIABLE}=DIR/westwood"
    )
    return Check("bpffs", ok, f"{folder}{'' if ok else ' is not yours to write'}", own_mount)


def _not_ours(pins: Path) -> str:
    """Returns the owner and mode of the pins' folder if ww-kernel would refuse it, else ''."""
    try:
        status = pins.lstat()
    except OSError:
        return ""
    if os.geteuid() != 0 or (status.st_uid == 0 and status.st_mode & 0o170077 == stat.S_IFDIR):
        return ""
    return f"{pins} belongs to user {status.st_uid}, mode {stat.filemode(status.st_mode)}"


def _can_mount() -> bool:
    return os.geteuid() == 0 and ww_kernel.PINS_VARIABLE not in os.environ


def _compilers() -> Check:
    """Names what compiles users' controls; without any, the rest works, so none is missing."""
    name = "compilers of control files"
    try:
        for_bpf = user_controls.compiler().command
        for_programs = compiling.compiler().command
    except UnavailableError as error:
        return Check(name, True, str(error), "", note=True)
    text = f"{shlex.join(for_bpf)}; for the simulator {shlex.join(for_programs)}"
    return Check(name, True, text, "")


def _disciplines(proc: Path, boot: Path) -> Check:
    """Names the kernel's queue disciplines; few scenarios need them, so a lack is only noted."""
    name = "queue disciplines"
    config = _config(proc, boot)
    if config is None:
        return Check(name, True, "unknown, as this kernel shows no configuration", "", note=True)
    lines = config.splitlines()
    has = [
        kind
        for kind in DISCIPLINES
        if {f"CONFIG_NET_SCH_{kind.upper()}={how}" for how in "ym"} & set(lines)
    ]
    lacks = [kind for kind in DISCIPLINES if kind not in has]
    text = "; ".join(
        f"{prefix}{', '.join(kinds)}" for prefix, kinds in (("", has), ("not ", lacks)) if kinds
    )
    return Check(name, True, text, "", note=bool(lacks))


def _virtual() -> Check:
    """Says whether the machine of linux-um is there; a lack is only noted."""
    name = "engine linux-um"
    try:
        return Check(name, True, f"{virtual.program()} {virtual.version()}".rstrip(), "")
    except WestwoodError as error:
        return Check(name, True, str(error).removeprefix(f"{name} needs "), "", note=True)


def _config(proc: Path, boot: Path) -> str | None:
    """Returns the kernel's configuration if it can be read."""
    try:
        return gzip.decompress((proc / "config.gz").read_bytes()).decode()
    except (OSError, EOFError, ValueError):
        return _text(boot / f"config-{platform.release()}")


def _program() -> list[Check]:
    """Checks for ww-kernel and, if a checkout has not built it yet, for its build tools."""
    try:
        return [Check("ww-kernel", True, str(ww_kernel.program()), "")]
    except UnavailableError as error:
        text = str(error).partition(": ")[0].rpartition(", and ")[2]
    missing_program = Check("ww-kernel", False, text, ww_kernel.PROGRAM.remedy)
    if CHECKOUT is None:
        return [missing_program]
    libbpf = Path("/usr/include/bpf/libbpf.h")
    return [
        _tool("clang", "apt-get install clang"),
        _file("libbpf", libbpf, "apt-get install libbpf-dev"),
        missing_program,
    ]


def _tool(name: str, remedy: str) -> Check:
    path = shutil.which(name)
    return Check(name, path is not None, path or "not in PATH", remedy)


def _file(name: str, path: Path, remedy: str) -> Check:
    if not path.exists():
        return Check(name, False, f"no {path}", remedy)
    ok = os.access(path, os.R_OK)
    return Check(name, ok, f"{path}{'' if ok else ' is not yours to read'}", "run as root")


def _text(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None


def check_all(say: Callable[[str], object]) -> None:
    """Reports a line for each check; raises UnavailableError if any failed."""
    performed = checks()
    for check in performed:
        say(str(check))
    if missing(performed):
        raise UnavailableError(f"missing: {', '.join(missing(performed))}")
