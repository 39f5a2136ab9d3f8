# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel load FILE.c registers a user's control beside ours, or says why it can't."""

import json
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from machine import available, joined, outcome

from westwood import programs
from westwood.control import compiling
from westwood.control.checking import Outcome
from westwood.control.writing import like
from westwood.kernel import user_controls, ww_kernel
from westwood.kernel.recording import recording

pytestmark = pytest.mark.kernel
PATH = ("--rate", "20e6", "--delay", "0.04", "--queue", "60", "--drop", "1100")
# The verifier knows no bound of the index.
WILD = """\
#define WW_STATE wild
#include "control.h"
struct wild {
    struct ww_common common;
    uint8_t seen[64];
};
static void on_ack(const struct ww_config *config, struct wild *own, struct ww_window *window,
                   const struct ww_sample *ack) {
    own->seen[ack->rtt_us] = 1;
}
static void on_loss(const struct ww_config *config, struct wild *own, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    window->ssthresh = window->cwnd = 10;
}
WW_CONTROL("Wild", 0, .on_ack = on_ack, .on_loss = on_loss)
"""


@pytest.fixture(autouse=True)
def unloaded(bpffs) -> Iterator[None]:
    yield
    ww_kernel.unload()


@pytest.fixture
def mine(bpffs, tmp_path) -> str:
    file = tmp_path / "mine.c"
    file.write_text(like("reno", "mine"))
    return str(file)


def test_a_control_runs_with_its_parameters_and_is_recorded(mine, westwood):
    """After a loss it keeps 0.8 of what was in flight; Reno would keep half."""
    called = westwood("kernel", "load", mine, "--set", "cc.kept=800")
    assert "ww_mine is loaded\n" in called.out and "ww_mine" in available()
    (control,) = json.loads(westwood("kernel", "status", "--json").out)["own"]
    assert (
        control["name"] == "ww_mine"
        and control["registered"]
        and control["parameters"][:2] == [1, 800]
    )
    with joined(*PATH) as (client, server), recording(cc=["ww_mine"]) as recorded:
        receiver = server.receive("10.77.0.2", 5001)
        sender = client.send("10.77.0.2", 5001, "ww_mine", 1.5)
        outcome(sender, receiver, 1)
    assert set(recorded.trace["cc"]) == {"ww_mine"}
    losses = recorded.trace.filter(pl.col("event") == "loss")
    shares = losses["ssthresh"] / losses["in_flight"]
    assert losses.height >= 1 and shares.is_between(0.75, 0.8).all()
    assert "ww_mine      0 sockets, 1 since" in westwood("kernel", "status").out
    on_path = ("run", "path", "--engine", "linux", "--seeds", "1", "--set", "duration=1s")
    chosen = ("--set", "profile=linux", "--cc", mine, "--set", "cc.kept=800")
    assert westwood(*on_path, *chosen).code == 0
    called = westwood(*on_path, *chosen, "--set", "cc.gain=2")
    other = f"other contents or parameters: westwood kernel load {mine} --set cc.kept=800"
    assert called.code == 77 and other in called.err
    westwood("kernel", "unload")
    assert "ww_mine" not in available()
    called = westwood(*on_path, *chosen)
    assert called.code == 77 and "no congestion control ww_mine: westwood kernel load" in called.err


@pytest.mark.slow
def test_a_refusal_has_the_line_and_leaves_nothing(bpffs, tmp_path, westwood):
    file = tmp_path / "wild.c"
    file.write_text(WILD)
    called = westwood("kernel", "load", str(file))
    assert (called.code, called.out) == (2, "")
    assert f"{file}:9: the kernel's verifier refuses it: R1 unbounded memory access" in called.err
    assert not ww_kernel.status()["loaded"]


DIVIDES = like("reno", "wild").replace(
    "window->cwnd = window->ssthresh;", "window->cwnd = 1 + (uint32_t)((int)in_flight / (int)mss);"
)


# A compilation takes two seconds of CPU.
@pytest.mark.parametrize("used", ["clang", pytest.param("ziglang", marks=pytest.mark.slow)])
def test_a_check_names_the_line_and_registers_nothing(used, tmp_path, monkeypatch):
    only(used, monkeypatch)
    monkeypatch.chdir(tmp_path)
    before = available()
    Path("wild.c").write_text(WILD)
    refused = user_controls.check("wild.c").note
    assert refused.startswith("wild.c:9: the kernel's verifier refuses it: R")
    Path("wild.c").write_text(DIVIDES)
    line = DIVIDES[: DIVIDES.index("/ (int)mss")].count("\n") + 1
    assert user_controls.check("wild.c").note == f"wild.c:{line}: divides signed numbers"
    assert available() == before


@pytest.mark.slow
def test_a_control_may_end_slow_start_without_a_loss(bpffs, tmp_path, westwood):
    stops = "    if (window->cwnd >= 30) window->ssthresh = ww_min_u32(window->ssthresh, 20);\n"
    text = like("reno", "mine")
    begin = text.index("{\n", text.index("static void on_ack")) + 2
    file = tmp_path / "mine.c"
    file.write_text(text[:begin] + stops + text[begin:])
    assert westwood("kernel", "load", str(file)).code == 0
    with joined(*PATH) as (client, server), recording(cc=["ww_mine"]) as recorded:
        receiver = server.receive("10.77.0.2", 5001)
        outcome(client.send("10.77.0.2", 5001, "ww_mine", 0.5), receiver, 1)
    windows = recorded.trace.filter(pl.col("event") == "window")
    assert windows["ssthresh"].fill_nan(0)[-1] == 20 and windows["cwnd"].max() < 60


@pytest.mark.slow
def test_the_kernel_loads_what_ziglang_compiles(mine, westwood, monkeypatch):
    only("ziglang", monkeypatch)
    assert user_controls.check(mine).outcome is Outcome.PASSED
    assert westwood("kernel", "load", mine).code == 0
    assert "ww_mine" in available()
    with joined(*PATH) as (client, server):
        receiver = server.receive("10.77.0.2", 5001)
        outcome(client.send("10.77.0.2", 5001, "ww_mine", 0.5), receiver, 1)
    (control,) = ww_kernel.status()["own"]
    assert control["total"] == 1


def only(used: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides the machine's compilers, unless clang is used; skips the test without ziglang."""
    if used == "clang":
        return
    if not compiling.ziglang():
        pytest.skip("no ziglang")
    find, hidden = programs.system_program, ("cc", "gcc", "clang")
    monkeypatch.setattr(
        programs, "system_program", lambda name: None if name in hidden else find(name)
    )
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr(compiling, "compilers", compiling.compilers.__wrapped__)


@pytest.mark.parametrize(
    ("name", "words", "problem"),
    [
        ("plus.c", (), "ww_plus is a control of ours, expected another file name"),
        ("thirteenchars.c", (), "expected a file name of at most 12 letters before .c"),
        ("mine.c", ("--set", "cc.kept=0"), "cc.kept = 0: expected a whole number from 1 to 999"),
        ("mine.c", ("--set", "cc.kpt=1"), "cc.kpt = 1: expected a parameter of the control"),
        ("mine.c", ("--boot",), "loads at boot only ours, expected no FILE.c"),
        ("gone.c", (), "gone.c"),
    ],
)
def test_bad_input_is_one_line(mine, westwood, name, words, problem):
    file = Path(mine).with_name(name)
    if name != "gone.c":
        file.write_text(like("reno", "mine"))
    assert problem in westwood("kernel", "load", str(file), *words).refusal()
    assert not ww_kernel.status()["loaded"]
