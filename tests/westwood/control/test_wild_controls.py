# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a control or a compiler does, the process ends with a line that names the file."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mine import MINE, ON_LOSS, line_of

from westwood import InputError, Scenario, programs, simulate
from westwood.control import compiling

LINE = line_of(MINE, ON_LOSS)
LOSSY = Scenario.preset("path").with_settings({"duration": "20s", "path.loss.rate": 0.02})
ENDLESS = MINE.replace(ON_LOSS, "    while (window->cwnd) window->cwnd |= 1;\n")


def written(folder: Path, text: str) -> Path:
    (folder / "mine.c").write_text(text, encoding="utf-8")
    return folder / "mine.c"


@pytest.mark.parametrize(
    "statement",
    [
        "for (int i = 0; i < 4000; i++) ((volatile char *)window)[i] = 1;",
        "for (int i = 0; i < 4000; i++) ((volatile char *)window)[-i] = 1;",
        "for (int i = 0; i < 90; i++) ((struct ww_config *)(uintptr_t)config)[i].control = 0;",
    ],
)
def test_a_crash_of_the_simulator_is_a_line_with_the_file(statement, tmp_path):
    written(tmp_path, MINE.replace(ON_LOSS, ON_LOSS + statement))
    words = "run path --set path.loss.rate=0.02 --seeds 8 --workers 4 --cc ./mine.c"
    ended = subprocess.run(
        [sys.executable, "-m", "westwood", *words.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert (ended.returncode, ended.stderr) == (
        2,
        "westwood: ./mine.c: the simulator crashed, probably because the control wrote into its "
        "memory\n",
    )


def test_many_connections_and_failed_runs_leave_the_states_guarded(tmp_path):
    """A run that fails gives the memory of its states back, and a connection when it ends."""
    past = written(tmp_path, MINE.replace(ON_LOSS, "    ((volatile char *)own)[999] = 1;\n"))
    for _ in range(70):
        with pytest.raises(InputError, match=f"mine.c:{LINE}: the control leaves the bounds"):
            simulate(LOSSY.with_settings({"tcp.cc": str(past)}))
    (tmp_path / "sound.c").write_text(MINE, encoding="utf-8")
    arrivals = {"tcp.arrivals": {"every": "0.01s", "size": "3kB"}, "duration": "5s"}
    simulate(LOSSY.with_settings({"tcp.cc": str(tmp_path / "sound.c"), **arrivals}))
    with pytest.raises(InputError, match=f"mine.c:{LINE}: the control leaves the bounds"):
        simulate(LOSSY.with_settings({"tcp.cc": str(past)}))


def test_an_endless_loop_ends_in_a_forked_process(tmp_path):
    simulate(LOSSY.with_settings({"tcp.cc": str(written(tmp_path, MINE))}))  # starts the watch
    (tmp_path / "endless.c").write_text(ENDLESS, encoding="utf-8")
    compiling.compiled(ENDLESS.encode(), "endless.c")  # a busy machine's compiler is another matter
    script = f"""
import os, time
from westwood import simulate
from westwood.errors import InputError
from westwood.scenario import Scenario
lossy = Scenario.preset("path").with_settings({{"path.loss.rate": 0.02, "duration": "10s"}})
simulate(lossy.with_settings({{"tcp.cc": {str(tmp_path / "mine.c")!r}}}))  # starts the watch
child = os.fork()
if child == 0:
    try:
        simulate(lossy.with_settings({{"tcp.cc": {str(tmp_path / "endless.c")!r}}}))
    except InputError as error:
        os._exit(7 if "endless.c:{LINE}: the control does not return" in str(error) else 8)
    os._exit(9)
ends_at = time.monotonic() + 120
while (ended := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < ends_at:
    time.sleep(0.1)
if ended[0] == 0:
    os.kill(child, 9)
    os.waitpid(child, 0)
assert os.waitstatus_to_exitcode(ended[1]) == 7, ended
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_the_5000th_control_of_a_process_is_watched_too(tmp_path):
    """Each object is another file for the loader, although the code is the same."""
    binary = compiling.compiled(MINE.encode(), "mine.c")
    script = f"""
import shutil
from pathlib import Path
from westwood import Scenario, _engine, simulate
for number in range(5000):
    copy = Path(shutil.copy({str(binary)!r}, "copy.so")).resolve()
    _engine.load_control(str(copy), f"copy {{number}}", "copy.c")
    copy.unlink()
simulate(Scenario.preset("path").with_settings(
    {{"duration": "20s", "path.loss.rate": 0.02, "tcp.cc": "./mine.c"}}))
"""
    written(tmp_path, MINE.replace(ON_LOSS, "    ((volatile char *)own)[999] = 1;\n"))
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert f"mine.c:{LINE}: the control leaves the bounds of its state" in ended.stderr, (
        ended.stderr
    )


COMPILERS = {
    "hangs at once": ("", "sleep 1000", ""),
    "hangs": ("echo gcc", "sleep 1000", "has waited for 5 s"),
    "works for ever": ("echo gcc", "while :; do :; done", "takes more than 2 s to compile"),
    "waits for a child": ("echo gcc", "sleep 1000 & wait", "has waited for 5 s"),
}


@pytest.mark.parametrize("how", COMPILERS)
def test_a_compiler_that_does_not_end_is_ended(how, monkeypatch, tmp_path):
    version, body, expected = COMPILERS[how]
    script = tmp_path / "cc"
    script.write_text(
        f'#!/bin/sh\ncase "$1" in --version) {version or body}; exit;; esac\n{body}\n'
    )
    script.chmod(0o700)
    monkeypatch.setenv("CC", str(script))
    monkeypatch.setattr(compiling, "LONGEST_S", 2)
    monkeypatch.setattr(programs, "system_program", lambda name: shutil.which(name))
    compiling.compilers.cache_clear()
    try:
        if not expected:
            assert compiling.compiler().command[0] != str(script)  # another one is taken
            return
        with pytest.raises(InputError, match=f"mine.c: .*{expected}"):
            compiling.run([*compiling.compiler().command, "mine.c"], "mine.c")
    finally:
        compiling.compilers.cache_clear()


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ('__asm__(".incbin \\"/dev/zero\\"");', "mine.c: does not compile"),
        ("char big[1ull << 40] = {1};", "mine.c: does not compile"),
        (
            "#define A(x) x x x x x x x x x x\n#define B(x) A(A(A(A(A(A(A(A(x))))))))\n"
            'const char text[] = B("aaaaaaa");',
            "mine.c: does not compile",
        ),
    ],
)
def test_a_compiler_has_bounded_memory_and_space(more, expected):
    with pytest.raises(InputError, match=expected):
        compiling.compiled(f"{MINE}{more}\n".encode(), "mine.c")
