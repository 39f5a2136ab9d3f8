# SPDX-License-Identifier: BSD-3-Clause
"""The simulator's run of a user's control before the kernel gets it has no rights."""

import os
import platform
from pathlib import Path

import pytest
from mine import MINE, ON_LOSS

from westwood import _engine
from westwood.control import confined
from westwood.engines import replaying
from westwood.errors import InputError, UnavailableError, WestwoodError

pytestmark = pytest.mark.skipif(
    platform.machine() != "x86_64", reason="the hostile files have system calls of x86_64"
)
# A file that makes a system call at its first loss; a window of 0 tells that it succeeded.
HOSTILE = """
#ifdef __x86_64__
static long called(long number, long a, long b, long c) {
    long answer;
    __asm__ volatile("syscall" : "=a"(answer) : "a"(number), "D"(a), "S"(b), "d"(c)
                     : "rcx", "r11", "memory");
    return answer;
}
#endif
static void attack(struct ww_window *window) {
#ifdef __x86_64__
    struct { uint16_t family, port; uint32_t host; uint64_t none; } to = {2, 0x3500, 0x0100007f, 0};
    (void)to;
    if (ATTACK) window->cwnd = 0;
#endif
}
"""
FAILS = "(long)called({}) >= 0"
ATTACKS = {
    "reads a file": FAILS.format('2, (long)"/etc/shadow", 0, 0'),
    "reads a file of everybody": FAILS.format('257, -100, (long)"/etc/passwd", 0'),
    "writes a file": FAILS.format('2, (long)"{there}", 0101, 0666'),
    "removes a file": FAILS.format('87, (long)"{there}.kept", 0, 0'),
    "makes a folder": FAILS.format('83, (long)"{there}", 0777, 0'),
    "opens a socket": FAILS.format("41, 2, 2, 0"),
    "opens a local socket": FAILS.format("41, 1, 1, 0"),
    "starts a process": FAILS.format("57, 0, 0, 0"),
    "executes": FAILS.format('59, (long)"/bin/true", 0, 0'),
    "kills its parent": FAILS.format("62, called(110, 0, 0, 0), 10, 0"),
    "calls bpf": FAILS.format("321, 0, (long)&to, 16"),
    "is root": "called(102, 0, 0, 0) == 0",
    "writes to descriptors that were open": "called(1, 200, (long)&to, 8) >= 0",
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch) -> Path:
    monkeypatch.chdir(tmp_path)
    tmp_path.chmod(0o777)
    return tmp_path


def hostile(attack: str) -> str:
    """Returns the text of a control that behaves like Reno and attacks at each loss."""
    there = str(Path("there").absolute())
    text = MINE.replace("static ", HOSTILE + "static ", 1)
    text = text.replace("ATTACK", attack.replace("{there}", there))
    text = text.replace(ON_LOSS, "    attack(window);\n", 1)
    assert "    attack(window);\n" in text
    return text


@pytest.mark.parametrize("attack", ATTACKS)
def test_a_hostile_file_gets_nowhere(attack):
    Path("there.kept").touch()
    Path("mine.c").write_text(hostile(ATTACKS[attack]), encoding="utf-8")
    opened = os.dup2(os.open("seen", os.O_RDWR | os.O_CREAT), 200)
    try:
        recorded = replaying.record(replaying.subject("mine.c", {}), None, 1)
    finally:
        os.close(opened)
    assert len(recorded.calls) > 100, "it runs to its end"
    assert sorted(path.name for path in Path().iterdir()) == ["mine.c", "seen", "there.kept"]
    assert Path("seen").read_bytes() == b""


def test_what_a_hostile_file_tries_succeeds_without_the_confinement(monkeypatch):
    """So the test above can fail."""
    monkeypatch.setattr(confined, "call", lambda work, control: work())
    Path("mine.c").write_text(hostile(ATTACKS["makes a folder"]), encoding="utf-8")
    with pytest.raises(InputError, match="cwnd"):
        replaying.record(replaying.subject("mine.c", {}), None, 1)
    assert Path("there").is_dir()


PIPES = "({{ for (long n = 3; n < 64; n++) called({}); 0; }})"


@pytest.mark.parametrize(
    ("attack", "expected"),
    [
        ("called(231, 0, 0, 0)", ": the control ends its process (exit code 0)"),
        ("called(231, 7, 0, 0)", ": the control ends its process (exit code 7)"),
        ("called(234, called(39, 0, 0, 0), called(186, 0, 0, 0), 9)", ""),
        (PIPES.format("3, n, 0, 0"), ""),
        (
            PIPES.format('1, n, (long)"fx\\ty\\t9 \\t\\033[2Jz", 13') + "+ called(231, 0, 0, 0)",
            "2Jz",
        ),
        (PIPES.format('1, n, (long)"fx\\tz", 4') + "+ called(231, 0, 0, 0)", "ends its process"),
        ("1", "on_mark sets cwnd to 0"),
    ],
    ids=["ends", "fails", "kills itself", "closes", "forges a line", "forges nothing", "window"],
)
def test_an_answer_that_is_none_is_one_line(attack, expected):
    Path("mine.c").write_text(hostile(attack), encoding="utf-8")
    with pytest.raises(WestwoodError) as caught:
        replaying.record(replaying.subject("mine.c", {}), None, 1)
    line = str(caught.value)
    assert line.startswith("mine.c:") and expected in line and line.isprintable()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root's programs are confined")
@pytest.mark.parametrize("attack", ["reads a file", "writes a file", "opens a socket", "is root"])
def test_a_program_that_root_starts_gets_nowhere(attack):
    Path("mine.c").write_text(hostile(ATTACKS[attack]), encoding="utf-8")
    asked = replaying.subject("mine.c", {})
    recorded = replaying.record(asked, None, 1)
    (replayed,) = replaying.replay(asked, recorded, ["gcc"])
    assert not replayed.not_run and replayed.difference is None
    assert not Path("there").exists()


def test_a_kernel_without_the_means_runs_nothing(monkeypatch):
    def lacks(starts_program: bool = False) -> None:
        raise OSError(38, os.strerror(38))

    monkeypatch.setattr(_engine, "confine", lacks)
    Path("mine.c").write_text(MINE, encoding="utf-8")
    with pytest.raises(UnavailableError, match=r"mine.c: is run without rights first"):
        replaying.record(replaying.subject("mine.c", {}), None, 1)
