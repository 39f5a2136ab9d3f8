# SPDX-License-Identifier: BSD-3-Clause
"""`westwood control replay` repeats recorded calls in each host, and finds where one differs."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest
from mine import MINE, ON_LOSS
from ns3_runner import needs_runner

from westwood.engines import replaying

GOLDEN = Path(__file__).parents[2] / "golden" / "calls"
pytestmark = pytest.mark.usefixtures("mine")
needs_gcc = pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
needs_clang = pytest.mark.skipif(not shutil.which("clang"), reason="needs clang")
needs_zig = pytest.mark.skipif(not find_spec("ziglang"), reason="needs ziglang")
needs_node = pytest.mark.skipif(not shutil.which("node"), reason="needs node")
OF_CLANG = ON_LOSS + "#ifdef __clang__\n    window->cwnd++;\n#endif\n"


def test_the_default_path_has_each_call_of_a_connection_with_data():
    asked = replaying.subject("bbr3", {})
    calls = {line.split(" ")[0] for line in replaying.record(asked, None, 1).calls}
    known = {"begin", "host", "ack", "sent", "lost", "loss", "mark", "exit", "rto", "undo"}
    assert calls == known


@needs_gcc
def test_the_simulator_and_a_compiler_set_the_same_windows(westwood):
    westwood("control", "new", "drawn", "--like", "cubic")
    for control, setting in (("./mine.c", "cc.kept=700"), ("./drawn.c", "cc.kept=700")):
        words = (control, "--set", setting, "--host", "sim,gcc")
        lines = westwood("control", "replay", *words).printed().splitlines()
        assert [line.split(" in ")[0] for line in lines] == ["sim      equal", "gcc      equal"]


@needs_gcc
@needs_clang
def test_a_host_that_differs_has_the_call_and_both_values(westwood):
    """The control asks which compiler it has, and its first loss takes one segment less."""
    Path("mine.c").write_text(MINE.replace(ON_LOSS, OF_CLANG), encoding="utf-8")
    words = ("./mine.c", "--host", "gcc,clang", "--record", "calls.txt", "--json")
    called = westwood("control", "replay", *words)
    assert called.code == 1
    gcc, clang = json.loads(called.out)["hosts"]
    kept = Path("calls.txt").read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(kept, 1) if line.split(" ")[0] in ("loss", "mark"))
    cwnd = int(kept[first - 1].split("|")[1].split(" ")[0])
    expected = {"call": first, "quantity": "cwnd", "recorded": cwnd, "found": cwnd + 1}
    assert gcc["difference"] is None and gcc["calls"] == len(kept)
    assert {key: clang["difference"][key] for key in expected} == expected


@pytest.mark.parametrize("name", ["westwood+", "westwood-cubic", "cubic", "bbr3"])
def test_a_recording_can_come_from_a_file(name, westwood):
    golden = GOLDEN / f"{name}.txt"
    called = westwood("control", "replay", name, "--host", "sim", "--calls", golden)
    count = len(golden.read_text(encoding="utf-8").splitlines())
    assert (called.code, called.out) == (0, f"sim      equal in {count} calls\n")
    lines = golden.read_text(encoding="utf-8").splitlines()
    call, _, windows = lines[-1].partition("|")
    cwnd, rest = windows.split(" ", 1)
    lines[-1] = f"{call}|{int(cwnd) + 1} {rest}"
    Path("other.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    called = westwood("control", "replay", name, "--host", "sim", "--calls", "other.txt")
    differs = (
        f"sim      DIFFERS from call {count} on: cwnd {cwnd}, recorded {int(cwnd) + 1} ({call})"
    )
    assert (called.code, called.out.strip()) == (1, differs)


@needs_runner
@pytest.mark.parametrize("name", ["bbr3", "./mine.c"])
def test_ns3_sets_the_same_windows(name, westwood):
    called = westwood("control", "replay", name, "--host", "ns3")
    assert called.code == 0 and called.out.startswith("ns3      equal in ")


@needs_zig
@needs_node
@pytest.mark.slow
@pytest.mark.parametrize("name", ["bbr3", "./mine.c"])
def test_webassembly_sets_the_same_windows(name, westwood):
    """The C library for WebAssembly is compiled when it is first needed, which takes a while."""
    called = westwood("control", "replay", name, "--host", "zig,wasm")
    assert called.code == 0 and "not run" not in called.out


def test_a_host_that_is_missing_says_how_to_install_it(westwood, monkeypatch):
    monkeypatch.setenv("WESTWOOD_NS3", "/none")
    called = westwood("control", "replay", "cubic", "--host", "ns3,quic", "--scenario", "table1")
    ns3, quic = called.out.splitlines()
    assert called.code == 0
    assert ns3.startswith("ns3      not run: engine ns3 needs its runner, and WESTWOOD_NS3 names")
    assert quic.startswith("quic     not run: ")


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("./mine.c", "--set", "cc.kept=0"), "cc.kept = 0: expected a whole number from 1 to 999"),
        (("cubic", "--calls", "mine.c"), "mine.c:1: expected CALL ARGUMENT...|CWND SSTHRESH"),
    ],
)
def test_bad_input_is_one_line(words, problem, westwood):
    assert problem in westwood("control", "replay", *words).refusal()
