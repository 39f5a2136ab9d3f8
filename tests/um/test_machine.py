# SPDX-License-Identifier: BSD-3-Clause
"""`--engine linux-um`: the real Linux TCP in virtual time, where its machine is built."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mine import MINE
from one_link import one_link

from westwood import InputError, RunError, Scenario, UnavailableError, simulate, simulate_many
from westwood.engines import linux_limits, linux_um, wire
from westwood.evaluation.discipline import MARKS_UNASKED
from westwood.kernel import virtual

try:
    MACHINE, WHY_NOT = virtual.program(), ""
except UnavailableError as error:
    MACHINE, WHY_NOT = Path("linux"), str(error)
pytestmark = pytest.mark.skipif(bool(WHY_NOT), reason=WHY_NOT)
CONTROLS = sorted(linux_limits.CONTROLS)
LOSSY = {"kind": "uniform", "rate": 0.005}


def scenario(*ccs: str, seconds: int = 5, **link: Any) -> Scenario:
    flows = [{"name": f"tcp{number}", "cc": cc} for number, cc in enumerate(ccs)]
    link = {"delay": "20ms", "queue": {"limit": "34p"}, **link}
    return one_link(*flows, link=link, name="um", duration=f"{seconds}s", profile="linux")


def everything(chosen: Scenario, seed: int) -> list[pl.DataFrame]:
    """Returns all that a run reports, apart from what it cost."""
    ran = simulate(chosen, seed, engine="linux-um", trace=True, queues=True)
    return [ran.rows.drop("cpu_s", "wall_s"), ran.trace, ran.queues, ran.drops]


def same(result_frames: list[pl.DataFrame], other: list[pl.DataFrame]) -> bool:
    return all(left.equals(right) for left, right in zip(result_frames, other, strict=True))


@pytest.mark.parametrize("cc", CONTROLS)
def test_a_seed_decides_every_byte(cc, tmp_path, monkeypatch):
    chosen = scenario(cc, loss=LOSSY)
    first = everything(chosen, 1)
    assert first[0]["cc"].to_list() == [cc] and first[0]["goodput_bps"].item() > 1e6
    assert first[1].height > 100 and first[3].height > 3
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("SOMETHING", "x" * 4000)
    assert same(first, everything(chosen, 1))
    assert not same(first, everything(chosen, 2))


def test_many_flows_and_workers_do_not_matter():
    chosen = scenario("cubic", "reno", "bbr", "cubic", rate="50Mbps", loss=LOSSY)
    alone = simulate_many(chosen, seeds=3, engine="linux-um", workers=1)
    beside = simulate_many(chosen, seeds=3, engine="linux-um", workers=3)
    assert alone.drop("cpu_s", "wall_s").equals(beside.drop("cpu_s", "wall_s"))
    assert alone["goodput_bps"].sum() < 3 * 50e6
    assert alone.group_by("seed").agg(pl.sum("goodput_bps"))["goodput_bps"].n_unique() == 3


def test_it_is_as_fast_as_said_and_close_to_the_simulator():
    chosen = scenario("cubic", seconds=30)
    real, ours = (simulate(chosen, engine=engine).rows for engine in ("linux-um", "sim"))
    assert real["cpu_s"].item() < 30 / 20  # twenty times real time
    assert real["goodput_bps"].item() == pytest.approx(ours["goodput_bps"].item(), rel=0.01)
    assert abs(real["retransmitted"].item() - ours["retransmitted"].item()) <= 3


def test_a_round_trip_that_timestamps_round_does_not_end_growth():
    """The kernel takes 9.95 ms from timestamps as 9 ms: linux/bpf/full_control.h."""
    link = {"rate": "50Mbps", "delay": "4.85ms", "loss": {"kind": "uniform", "rate": 0.01}}
    chosen = scenario("westwood-cubic", seconds=20, **link)
    real, ours = (
        simulate_many(chosen, seeds=4, engine=engine)["goodput_bps"].mean()
        for engine in ("linux-um", "sim")
    )
    assert real == pytest.approx(ours, rel=0.07)  # it was less than half


@pytest.mark.parametrize(
    ("change", "key"),
    [
        ({"tcp0.cc": "tahoe"}, "tcp0.cc"),
        ({"tcp0.timestamps": False}, "tcp0.timestamps"),
        ({"path.queue": {"kind": "dualpi2", "limit": "1000p"}}, "path.queue.kind"),
        ({"tcp0.cc": "linux:tahoe"}, "tcp0.cc"),
        ({"tcp0.app": {"kind": "rate", "rate": "1Mbps"}}, "tcp0.app"),
    ],
)
def test_what_it_cannot_run_is_refused_by_key(change, key):
    with pytest.raises(InputError, match="engine linux-um expects") as raised:
        simulate(scenario("cubic").with_settings(change), engine="linux-um")
    assert raised.value.key == key


@pytest.mark.parametrize("kind", ["codel", "fq_codel", "cake"])
@pytest.mark.parametrize("ecn", [False, True])
def test_codel_and_cobalt_of_the_kernel_decide_as_ours_do(kind, ecn):
    asked = {} if kind in MARKS_UNASKED else {"ecn": ecn}
    queue = {"kind": kind, "limit": "1000p", **asked}
    chosen = scenario("reno", seconds=20, queue=queue).with_settings({"tcp0.ecn": ecn})
    assert same(everything(chosen, 1), everything(chosen, 1))
    real, ours = (simulate(chosen, engine=name).raw.forward[0] for name in ("linux-um", "sim"))
    assert real.utilisation == pytest.approx(ours.utilisation, abs=0.05)
    assert real.waited_s == pytest.approx(ours.waited_s, rel=0.2)
    counts = (real.marked, real.early_drops), (ours.marked, ours.early_drops)
    assert counts[0] == pytest.approx(counts[1], rel=0.25)
    assert real.queue_drops == real.early_drops


def test_the_kernels_cake_shapes_as_ours_does():
    shaper = {"bandwidth": "9Mbps", "overhead": "38B", "mpu": "84B"}
    queue = {"kind": "cake", "limit": "1000p", **shaper}
    chosen = scenario("reno", seconds=20, queue=queue)
    real, ours = (simulate(chosen, engine=name).raw.forward[0] for name in ("linux-um", "sim"))
    assert real.utilisation == pytest.approx(ours.utilisation, rel=0.02)
    assert real.waited_s == pytest.approx(ours.waited_s, rel=0.05)
    assert real.early_drops == pytest.approx(ours.early_drops, abs=2) and ours.early_drops > 10


@pytest.mark.parametrize("kind", ["pie", "fq_pie"])
def test_pie_of_the_kernel_fills_the_link_and_drops_early(kind):
    """In slow start Linux sends what it repairs again and again, so it drops more than ours."""
    chosen = scenario("reno", seconds=20, queue={"kind": kind, "limit": "1000p"})
    real = simulate(chosen, engine="linux-um").raw.forward[0]
    assert real.utilisation > 0.85
    assert real.queue_drops == real.early_drops > 100


@pytest.mark.parametrize("cc", virtual.controls())
def test_every_control_of_the_kernel_can_be_named(cc):
    chosen = scenario(f"linux:{cc}", loss=LOSSY)
    first = everything(chosen, 1)
    assert first[0]["cc"].to_list() == [f"linux:{cc}"] and first[0]["goodput_bps"].item() > 1e6
    assert same(first, everything(chosen, 1))


def test_a_kernels_control_is_the_one_that_a_protocol_names():
    named, ours = (
        simulate(scenario(cc, loss=LOSSY), engine="linux-um").rows
        for cc in ("linux:cubic", "cubic")
    )
    counted = ("goodput_bps", "sent", "retransmitted", "mean_cwnd")
    assert named.select(counted).equals(ours.select(counted))


def test_dctcp_keeps_the_queue_short_where_it_is_marked():
    red = {"kind": "red", "limit": "200p", "min": 20, "max": 150, "max_p": 1.0, "weight": 1.0}
    chosen = scenario("linux:dctcp", seconds=10, rate="50Mbps", queue={**red, "ecn": True})
    ran = simulate(chosen, engine="linux-um")
    assert ran.raw.forward[0].marked > 100 and ran.rows["goodput_bps"].item() > 35e6
    assert ran.rows["retransmitted"].item() < 100


def test_the_simulator_refuses_a_control_of_the_kernel():
    with pytest.raises(InputError, match="expected --engine linux or linux-um"):
        simulate(scenario("linux:htcp"))


GROWTH = "if (!ww_may_grow(ack)) return;"


def own_program(folder: Path, fault: str = "") -> str:
    """Writes the control like Reno, with a fault at each ACK."""
    (folder / "mine.c").write_text(MINE.replace(GROWTH, f"{fault}\n    {GROWTH}"))
    return str(folder / "mine.c")


@pytest.mark.parametrize("name", ["hybla.c", "dctcp.c", "copa.c"])
def test_a_file_runs_as_in_the_simulator(name):
    chosen = scenario(name, "cubic", seconds=20)
    real, ours = (simulate(chosen, engine=engine).rows for engine in ("linux-um", "sim"))
    total = [rows["goodput_bps"].sum() for rows in (real, ours)]
    assert total[0] == pytest.approx(total[1], rel=0.05)
    assert same(everything(chosen, 1), everything(chosen, 1))


@pytest.mark.parametrize(
    ("fault", "problem"),
    [
        ("if (ack->now_us) *(volatile int *)8 = 1;", "access to memory that is not there"),
        ("for (volatile int forever = 1; forever;) {}", "virtual time stands still"),
        ("window->cwnd = 1 / (ack->mss == 0 ? 1 : ack->mss - ack->mss);", "undefined in C"),
    ],
)
def test_a_control_that_fails_ends_the_run_with_one_line(fault, problem, tmp_path):
    with pytest.raises(RunError, match=problem):
        simulate(scenario(own_program(tmp_path, fault)), engine="linux-um")


def test_a_second_file_is_refused_by_key(tmp_path):
    two = scenario(own_program(tmp_path), "hybla.c")
    with pytest.raises(InputError, match="one file for a run") as raised:
        simulate(two, engine="linux-um")
    assert raised.value.key == "tcp1.cc"


def test_a_folder_that_it_cannot_use_is_one_line(monkeypatch):
    monkeypatch.setenv("TMPDIR", "/proc/self")
    with pytest.raises(RunError, match="um, seed 1: the kernel ended with "):
        linux_um.run(scenario("cubic"))


def test_it_does_not_outlive_the_process_that_started_it():
    text = wire.plan(scenario("cubic", seconds=3000)) + wire.conclusion(1, None)
    code = f"""import os, subprocess, time
machine = subprocess.Popen([{str(MACHINE)!r}, "1", str(os.getpid())], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
machine.stdin.write({text!r}.encode()); machine.stdin.flush()
print(machine.pid, flush=True); time.sleep(60)"""
    parent = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    machine = int(parent.stdout.readline())
    os.kill(machine, 0)
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    for _ in range(100):
        if not Path(f"/proc/{machine}").exists() or _is_zombie(machine):
            return
        time.sleep(0.05)
    pytest.fail("the machine goes on")


def _is_zombie(pid: int) -> bool:
    return ") Z" in Path(f"/proc/{pid}/stat").read_text()


def test_a_named_program_must_be_there(monkeypatch, tmp_path):
    monkeypatch.setenv(virtual.VARIABLE, str(tmp_path / "none"))
    with pytest.raises(UnavailableError, match="WESTWOOD_LINUX_UM names no program"):
        simulate(scenario("cubic"), engine="linux-um")
