# SPDX-License-Identifier: BSD-3-Clause
"""Connections of quinn and noq over the simulator's links."""

import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from one_link import one_link

from westwood import Scenario, simulate
from westwood.engines import quic
from westwood.engines.quic import Stack
from westwood.errors import InputError, RunError, UnavailableError

pytestmark = pytest.mark.usefixtures("quic_runner")


def scenario(*controls: str, **link: object) -> Scenario:
    flows = [{"name": f"f{number}", "cc": cc} for number, cc in enumerate(controls)]
    return one_link(*flows, link={"queue": {"limit": "1bdp"}, **link}, duration="8s")


@pytest.mark.parametrize("engine", ["quinn", "noq"])
@pytest.mark.parametrize("cc", ["cubic", "westwood+", "westwood-cubic", "bbr3"])
def test_a_control_of_the_core_fills_the_link_from_inside_a_stack(engine, cc):
    (row,) = simulate(scenario(cc), engine=engine).flow_rows
    assert row["engine"] == engine and row["cc"] == cc
    assert 8.5e6 < row["goodput_bps"] < 10e6


@pytest.mark.parametrize("cc", ["quinn:cubic", "quinn:newreno", "noq:cubic", "noq:bbr3"])
def test_a_stacks_own_control_fills_it_too(cc):
    (row,) = simulate(scenario(cc), engine="quinn").flow_rows
    assert row["cc"] == cc and row["goodput_bps"] > 6e6


@pytest.mark.parametrize("cc", ["quinn:bbr", "noq:bbr3"])
def test_the_seed_determines_every_byte_of_a_stack_that_draws_random_numbers(cc):
    quic_scenario = scenario(cc, loss={"rate": 0.01})
    first, again, other = (
        simulate(quic_scenario, seed=seed, engine="noq", trace=True) for seed in (1, 1, 2)
    )
    assert first.trace.equals(again.trace) and not first.trace.equals(other.trace)


def test_connections_of_both_stacks_share_a_queue_with_the_simulators():
    rows = simulate(scenario("quinn:cubic", "noq:cubic", "tcp:cubic"), engine="quinn").flow_rows
    assert [row["cc"] for row in rows] == ["quinn:cubic", "noq:cubic", "tcp:cubic"]
    goodput = [row["goodput_bps"] for row in rows]
    assert 8.5e6 < sum(goodput) < 10e6 and min(goodput) > 0.5e6


def test_the_simulators_connection_is_the_same_in_every_engine():
    (ours,) = simulate(scenario("cubic", loss={"rate": 0.01})).flow_rows
    (there,) = simulate(scenario("tcp:cubic", loss={"rate": 0.01}), engine="quinn").flow_rows
    same = ("delivered_bytes", "sent", "retransmitted", "timeouts", "queue_drops", "lost")
    assert [ours.get(key) for key in same] == [there.get(key) for key in same]


def test_a_packet_whose_number_cannot_be_restored_is_refused():
    """Half of the packets are 300 ms late: RFC 9000, A.3, gives some of them a wrong number."""
    quic_scenario = scenario("quinn:bbr", rate="5Mbps", reorder={"rate": 0.5, "delay": "300ms"})
    (row,) = simulate(
        quic_scenario.with_settings({"duration": "3s", "f0.ecn": True}), engine="noq"
    ).flow_rows
    assert row["goodput_bps"] > 1e4


def test_a_pacer_that_asks_for_less_than_a_nanosecond_does_not_stop_time():
    quic_scenario = scenario("noq:bbr3", rate="1Tbps", delay="1us", queue={"limit": "50p"})
    (row,) = simulate(quic_scenario.with_settings({"f0.size": "100kB"}), engine="noq").flow_rows
    assert row["completed_s"] < 1e-3


@pytest.mark.parametrize("cc, packet", [("quinn:cubic", "9000B"), ("noq:newreno", "16412B")])
def test_large_packets_fit_into_the_first_window(cc, packet):
    quic_scenario = scenario(cc, queue={"limit": "50p"}).with_settings({"f0.packet": packet})
    (row,) = simulate(quic_scenario, engine="quinn").flow_rows
    assert row["goodput_bps"] > 9e6


def test_transfers_that_are_over_take_no_memory():
    arrivals = {"every": "5ms", "size": "1kB"}
    plan = Stack("quinn").plan(scenario("quinn:cubic").with_settings({"f0.arrivals": arrivals}))
    limited = f"ulimit -v 50000 && exec {quic.program()}"  # kB; a connection has about 50
    done = subprocess.run(
        limited,
        shell=True,
        input=f"{plan}seed 1\nend\n",
        text=True,
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0 and done.stdout.count("flow ") > 1_000


def test_a_transfer_ends_when_all_of_it_is_acknowledged():
    quic_scenario = scenario("cubic").with_settings({"f0.size": "500kB"})
    (row,) = simulate(quic_scenario, engine="quinn").flow_rows
    # A round trip of 20 ms for the handshake, and 0.4 s at 10 Mb/s at least.
    assert 0.42 < row["completed_s"] < 1


@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic"])
def test_the_smallest_round_trip_is_the_paths(cc):
    quic_scenario = scenario(cc).with_settings({"duration": "1s"})
    (row,) = simulate(quic_scenario, engine="quinn").flow_rows
    # The queue is empty at first. An ACK takes some us, and a packet 1.2 ms if it is full.
    assert 0.02 < row["min_rtt_s"] < 0.0215


def test_requests_are_streams_of_their_own():
    app = {"kind": "request", "size": "20kB", "think": "100ms"}
    quic_scenario = scenario("cubic").with_settings({"f0.app": app})
    result = simulate(quic_scenario, engine="noq")
    (row,) = result.flow_rows
    # A response takes 16 ms, its ACK 20 ms more, and the next is asked for 100 ms later.
    assert 0.6 < row["goodput_bps"] / (8 * 20_000 / 0.136) < 1
    first = result.messages.row(0, named=True)
    assert (first["flow"], first["number"]) == ("f0", 1)
    assert 20_000 <= first["bytes"] < 22_000 and 0.036 < first["completion_s"] < 0.1
    assert row["transfers"] == result.messages.height > 40


APPLICATIONS = {
    "bulk": "bulk",
    "rate": {"kind": "rate", "rate": "8Mbps"},
    "request": {"kind": "request", "size": "500kB", "think": "10ms"},
}


@pytest.mark.parametrize("app", APPLICATIONS)
@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic"])
def test_an_application_ends_with_its_size(cc, app):
    settings = {"f0.app": APPLICATIONS[app], "f0.size": "100kB", "duration": "1s"}
    (row,) = simulate(scenario(cc).with_settings(settings), engine="quinn").flow_rows
    assert 0.1 < row["completed_s"] < 0.3 and row["sent"] < 85


@pytest.mark.parametrize("app", APPLICATIONS)
@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic"])
def test_no_new_data_leaves_after_the_stop(cc, app):
    settings = {"f0.app": APPLICATIONS[app], "f0.size": "1MB", "f0.stop": "100ms"}
    (row,) = simulate(scenario(cc).with_settings(settings), engine="quinn").flow_rows
    assert row["sent"] < 110 and math.isnan(row["completed_s"])  # 80 packets take 100 ms


@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic"])
def test_what_left_before_the_stop_is_repaired_after_it(cc):
    """The first packet with data is lost."""
    lost = {"kind": "script", "packets": [3], "on": "forward"}
    settings = {"f0.size": "2kB", "f0.stop": "30ms", "duration": "1s"}
    (row,) = simulate(scenario(cc, loss=lost).with_settings(settings), engine="quinn").flow_rows
    assert row["lost"] == 1 and row["retransmitted"] == 1 and row["completed_s"] > 0.1


@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic"])
def test_an_applications_writes_fill_a_packet_each(cc):
    settings = {"f0.app": {"kind": "rate", "rate": "2Mbps"}, "duration": "2s"}
    (row,) = simulate(scenario(cc).with_settings(settings), engine="quinn").flow_rows
    assert row["sent"] < 1.1 * 2e6 * 2 / 8 / 1428
    assert 0.9 < row["application_limited"] < 1


@pytest.mark.parametrize("cc", ["quinn:cubic", "noq:cubic", "cubic"])
def test_reductions_by_marks_are_not_those_by_losses(cc):
    queue = {"kind": "codel", "limit": "300p", "ecn": True}
    quic_scenario = scenario(cc, queue=queue).with_settings({"f0.ecn": True, "duration": "3s"})
    (row,) = simulate(quic_scenario, engine="noq").flow_rows
    assert row["queue_drops"] == 0 and row["fast_recoveries"] == 0 and row["ecn_reductions"] > 1


def test_an_error_of_a_stack_ends_the_run_with_a_command_that_repeats_it(monkeypatch, tmp_path):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    quic_scenario = scenario("cubic")
    plan = Stack("quinn").plan(quic_scenario).replace("ours cubic", "own vegas")
    with pytest.raises(RunError, match="quic, seed 7: quinn, connection 0") as caught:
        quic._execute(plan + "seed 7\nend\n", "quic, seed 7")
    command = str(caught.value).partition("to repeat it: ")[2]
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.returncode == 1 and 'no control "vegas"' in done.stderr


def test_the_runner_refuses_a_plan_that_is_no_plan():
    done = subprocess.run(
        [quic.program()], input="stack 0 quinn", capture_output=True, text=True, check=False
    )
    assert done.returncode == 2 and "stack: too few words" in done.stderr


def test_a_missing_runner_is_one_line(monkeypatch):
    monkeypatch.setenv(quic.VARIABLE, os.devnull)
    with pytest.raises(UnavailableError, match="WESTWOOD_QUIC names no program: make quic"):
        quic.program()


NAMES_ITSELF = '[ "$1" = --name ] && { echo ww-quic; exit; }'


@pytest.mark.parametrize(
    "script, error, expected",
    [
        ("sleep 100", InputError, "does not answer, expected a ww-quic"),
        ("echo hello", InputError, "is no ww-quic"),
        ("echo 'ww-quic: plan: no links' >&2; exit 2", InputError, "is of another version"),
        (
            f"{NAMES_ITSELF}; echo 'ww-quic: new: unknown statement' >&2; exit 2",
            UnavailableError,
            "rebuild it: make quic",
        ),
        (
            f"{NAMES_ITSELF}; echo flow 0 sent 1; echo end 0",
            UnavailableError,
            "other declarations .*: make quic",
        ),
        (
            f"{NAMES_ITSELF}; kill -SEGV $$",
            RunError,
            "seed 1: signal SIGSEGV; to repeat it: .*/own",
        ),
    ],
)
def test_another_program_in_its_place_is_one_line(script, error, expected, monkeypatch, tmp_path):
    program = tmp_path / "own"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv(quic.VARIABLE, str(program))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(quic, "_ANSWERS_IN_S", 0.5)
    with pytest.raises(error, match=expected) as caught:
        simulate(scenario("cubic"), engine="quinn")
    assert "\n" not in str(caught.value)


def test_the_runner_ends_with_the_process_that_started_it():
    """Its standard input stays open here, so only the kernel can tell it."""
    start = "import subprocess, sys; print(subprocess.Popen(sys.argv[1]).pid, flush=True); input()"
    reading, writing = os.pipe()
    parent = subprocess.Popen(
        [sys.executable, "-c", start, quic.program()], stdin=reading, stdout=subprocess.PIPE
    )
    assert parent.stdout is not None
    runner = Path("/proc", parent.stdout.readline().decode().strip())
    _wait_for(lambda: "(ww-quic) S" in (runner / "stat").read_text())
    parent.kill()
    parent.wait()
    try:
        _wait_for(lambda: not runner.exists() or ") Z" in (runner / "stat").read_text())
    finally:
        parent.stdout.close()
        os.close(reading)
        os.close(writing)


def _wait_for(condition: Callable[[], bool]) -> None:
    ends_at = time.monotonic() + 5
    while not condition():
        assert time.monotonic() < ends_at, "it takes too long"
        time.sleep(0.01)


def test_a_results_folder_with_a_stacks_own_control_is_read(westwood):
    words = ("--engine", "quinn", "--cc", "quinn:cubic,cubic", "--duration", "1s", "--loss", "0%")
    assert westwood("compare", *words, "--seeds", "1", "--out", "out").code == 0
    assert westwood("report", "out").code == 0
