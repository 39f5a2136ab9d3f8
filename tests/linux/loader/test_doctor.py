# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel doctor prints a line per item; missing ones have a remedy, and exit code 77."""

import gzip
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from westwood import programs
from westwood.control import compiling
from westwood.errors import UnavailableError
from westwood.kernel import btf, doctor, user_controls, ww_kernel

ALL_CAPABILITIES = (1 << 41) - 1


@pytest.fixture
def machine(tmp_path) -> Callable[..., dict[str, doctor.Check]]:
    """Makes the doctor examine a /proc and a /sys written by the test."""

    def examined(
        *, btf: bool = True, jit: str = "1", held: int = ALL_CAPABILITIES, mounts: str = ""
    ) -> dict[str, doctor.Check]:
        proc, sys_ = tmp_path / "proc", tmp_path / "sys"
        for folder in ("self", "sys/net/core"):
            (proc / folder).mkdir(parents=True, exist_ok=True)
        (proc / "self/status").write_text(f"Name:\twestwood\nCapEff:\t{held:016x}\n")
        (proc / "self/mounts").write_text(mounts)
        (proc / "sys/net/core/bpf_jit_enable").write_text(jit)
        if btf:
            (sys_ / "kernel/btf").mkdir(parents=True, exist_ok=True)
            (sys_ / "kernel/btf/vmlinux").write_bytes(b"")
        return {check.name: check for check in doctor.checks(proc, sys_)}

    return examined


def test_each_line_has_a_result_and_a_remedy(machine):
    checks = machine(btf=False, jit="0")
    assert str(checks["BPF JIT"]) == "missing  BPF JIT: off; sysctl net.core.bpf_jit_enable=1"
    assert str(checks["BTF"]).startswith("missing  BTF: no ")
    assert str(checks["BTF"]).endswith("; use a kernel built with CONFIG_DEBUG_INFO_BTF")
    assert str(machine()["BPF JIT"]) == "ok       BPF JIT: on"
    for check in checks.values():
        assert "\n" not in str(check) and (check.ok or check.remedy)


def test_the_compilers_of_control_files_are_named(machine, monkeypatch):
    clang = compiling.Compiler(("/bin/clang", "-target", "bpf"), "clang 14")
    gcc = compiling.Compiler(("/bin/gcc",), "gcc 12")
    monkeypatch.setattr(user_controls, "compiler", lambda: clang)
    monkeypatch.setattr(compiling, "compiler", lambda: gcc)
    name = "compilers of control files"
    there = f"ok       {name}: /bin/clang -target bpf; for the simulator /bin/gcc"
    assert str(machine()[name]) == there

    def none() -> compiling.Compiler:
        raise UnavailableError("needs clang: apt-get install clang")

    monkeypatch.setattr(user_controls, "compiler", none)
    check = machine()[name]
    assert check.ok and str(check) == f"note     {name}: needs clang: apt-get install clang"


@pytest.mark.parametrize("name", ["CAP_BPF", "CAP_PERFMON"])
def test_each_capability_is_named(machine, name):
    checks = machine(held=ALL_CAPABILITIES & ~(1 << doctor._BITS[name]))
    wrong = [check for check in checks.values() if check.name.startswith("CAP_") and not check.ok]
    assert [check.name for check in wrong] == [name]
    assert f"AmbientCapabilities={name}" in str(wrong[0])


@pytest.mark.parametrize(
    ("release", "ok"),
    [
        ("5.15.0-91-generic", False),
        ("6.0.19", False),
        ("6.1.0-44-amd64", True),
        ("7.1-rc3", True),
        ("10.0", True),
        ("custom", False),
    ],
)
def test_the_kernel_is_new_enough(machine, monkeypatch, release, ok):
    monkeypatch.setattr(doctor.platform, "release", lambda: release)
    check = machine()["kernel"]
    assert check.ok is ok and release in str(check)
    assert ok or "expected 6.1 or newer" in str(check)


CONFIG = """CONFIG_NET_SCH_CODEL=m
CONFIG_NET_SCH_FQ_CODEL=y
# CONFIG_NET_SCH_PIE is not set
CONFIG_NET_SCH_RED_EXTRA=y
"""


def _disciplines(folders):
    (check,) = [check for check in doctor.checks(*folders) if "queue disciplines" in str(check)]
    return check


@pytest.mark.parametrize("place", ["proc/config.gz", "boot/config"])
def test_the_kernels_queue_disciplines_are_named(machine, monkeypatch, tmp_path, place):
    machine()
    monkeypatch.setattr(doctor.platform, "release", lambda: "6.18.1")
    folders = [tmp_path / name for name in ("proc", "sys", "boot")]
    unknown = _disciplines(folders)
    if place == "proc/config.gz":
        (tmp_path / place).write_bytes(gzip.compress(CONFIG.encode()))
    else:
        (tmp_path / "boot").mkdir()
        (tmp_path / "boot/config-6.18.1").write_text(CONFIG)
    assert (
        str(_disciplines(folders))
        == "note     queue disciplines: codel, fq_codel; not htb, pie, fq_pie, cake"
    )
    assert "unknown" in str(unknown) and unknown.ok


@pytest.mark.parametrize("member", ["init_owned", "name"])
def test_a_kernel_that_skips_programs_is_reported(machine, tmp_path, member):
    """A member with that name in another structure does not count."""
    machine()
    written = btf_of({"trace_array": ["init_owned"], "bpf_prog_aux": ["refcnt", member]})
    (tmp_path / "sys/kernel/btf/vmlinux").write_bytes(written)
    checks = {check.name: check for check in doctor.checks(tmp_path / "proc", tmp_path / "sys")}
    check = checks["BPF programs"]
    assert check.ok, "the controls cope with it"
    if member == "init_owned":
        assert str(check).startswith("note     BPF programs: ") and "process 1" in str(check)
    else:
        assert str(check) == "ok       BPF programs: never skipped"


def test_this_kernels_type_information_is_read():
    vmlinux = Path("/sys/kernel/btf/vmlinux")
    if not vmlinux.exists():
        pytest.skip("this kernel has no BTF")
    known = btf.members(vmlinux.read_bytes(), "bpf_prog_aux")
    assert known is not None and {"refcnt", "id", "ops"} <= known
    assert btf.members(vmlinux.read_bytes(), "no_such_structure") is None


@pytest.mark.parametrize("size", [0, 10, 30, 60])
def test_truncated_type_information_gives_no_result(size):
    assert btf.members(btf_of({"bpf_prog_aux": ["init_owned"]})[:size], "bpf_prog_aux") is None


def btf_of(structures: dict[str, list[str]]) -> bytes:
    """Writes type information: an integer, a pointer to it, and structures with these members."""
    text = b"\0int\0"
    types = struct.pack("<IIII", 1, 1 << 24, 4, 32) + struct.pack("<III", 0, 2 << 24, 1)
    for name, names in structures.items():
        types += struct.pack("<III", len(text), 4 << 24 | len(names), 4 * len(names))
        text += name.encode() + b"\0"
        for place, member in enumerate(names):
            types += struct.pack("<III", len(text), 1, 32 * place)
            text += member.encode() + b"\0"
    sizes = (0, len(types), len(types), len(text))
    return struct.pack("<HBBIIIII", 0xEB9F, 1, 0, 24, *sizes) + types + text


def test_a_mounted_bpffs_is_found(machine, tmp_path, monkeypatch):
    monkeypatch.setenv(ww_kernel.PINS_VARIABLE, str(tmp_path / "westwood"))
    assert machine(mounts=f"bpf {tmp_path} bpf rw 0 0\n")["bpffs"].ok
    missing = machine(mounts=f"tmpfs {tmp_path} tmpfs rw 0 0\n")["bpffs"]
    assert not missing.ok and f"mount -t bpf bpf {tmp_path}" in str(missing)


def test_missing_tools_are_named_with_their_package(machine, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv(ww_kernel.VARIABLE, str(tmp_path / "ww-kernel"))
    checks = machine()
    assert "apt-get install clang" in str(checks["clang"])
    assert "apt-get install iperf3" in str(checks["iperf3"])
    assert str(checks["ww-kernel"]).endswith("; make linux")


def test_an_installed_package_asks_for_no_compiler_and_names_no_makefile(
    machine, tmp_path, monkeypatch
):
    monkeypatch.setattr(programs, "CHECKOUT", None)
    monkeypatch.setattr(doctor, "CHECKOUT", None)
    monkeypatch.setenv(ww_kernel.VARIABLE, str(tmp_path / "ww-kernel"))
    checks = machine()
    assert "clang" not in checks and "libbpf" not in checks
    assert "; pip install --force-reinstall" in str(checks["ww-kernel"])
    assert "make " not in str(checks["ww-kernel"])


def test_exit_code_77_if_anything_is_missing(westwood, tmp_path, monkeypatch):
    monkeypatch.setenv(ww_kernel.VARIABLE, str(tmp_path / "ww-kernel"))
    called = westwood("kernel", "doctor")
    assert called.code == 77
    lines = called.out.splitlines()
    assert len(lines) == len(doctor.checks())
    assert all(line.startswith(("ok ", "note ", "missing ")) for line in lines)
    assert called.err.startswith("westwood: missing: ") and "ww-kernel" in called.err


@pytest.mark.kernel
def test_exit_code_0_if_the_controls_can_be_loaded(westwood, bpffs, monkeypatch):
    called = westwood("kernel", "doctor")
    assert (called.code, called.err) == (0, ""), called.out
    assert westwood("kernel", "load").code == 0
