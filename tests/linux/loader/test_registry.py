# SPDX-License-Identifier: BSD-3-Clause
"""westwood kernel load, status and unload work at any time and leave nothing behind.

Tests that need the controls follow each other, so that they share a load.
"""

import json
import shutil
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from machine import OURS, alone, available, eventually, in_kernel, outcome

from westwood import __version__
from westwood.control.catalogue import PROTOCOLS
from westwood.kernel import users, ww_kernel

pytestmark = pytest.mark.kernel
PORT = 5001


@pytest.fixture(scope="module", autouse=True)
def clean(bpffs) -> Iterator[None]:
    """Checks that these tests leave nothing of ours in the kernel."""
    yield
    ww_kernel.unload()
    assert eventually(lambda: not in_kernel()), "something was leaked"
    assert not (bpffs / "westwood").exists()


@pytest.fixture
def nothing_loaded(bpffs):
    """Unloads our controls; checks that the kernel has nothing of ours."""
    ww_kernel.unload()
    assert eventually(lambda: not in_kernel()), "something was leaked"
    assert not (bpffs / "westwood").exists()


def sockets(name: str) -> int:
    counts = {control["name"]: control["sockets"] for control in ww_kernel.status()["controls"]}
    return int(counts[name])


@pytest.fixture
def other_version(tmp_path, monkeypatch) -> Callable[[], None]:
    """Makes `load` load another version."""

    def change():
        program = Path(shutil.copy2(ww_kernel.program(), tmp_path))
        there = ww_kernel.bpf_object(ww_kernel.program()).read_bytes()
        ww_kernel.bpf_object(program).write_bytes(there + b"\n")
        monkeypatch.setenv(ww_kernel.VARIABLE, str(program))

    return change


@pytest.mark.usefixtures("nothing_loaded")
def test_nothing_loaded_is_no_error(westwood):
    assert westwood("kernel", "status").out == "nothing is loaded\n"
    called = westwood("kernel", "unload")
    assert (called.code, called.out) == (0, "nothing is loaded\n")


@pytest.mark.usefixtures("nothing_loaded")
def test_without_controls_a_recording_says_what_to_do(westwood, tmp_path):
    words = ("kernel", "record", "--cc", "ww_plus", "--for", "1s")
    called = westwood(*words, "--out", tmp_path / "day.csv")
    assert called.code == 1 and called.err.count("\n") == 1
    assert "nothing is loaded: westwood kernel load" in called.err
    assert not list(tmp_path.glob("*"))


@pytest.mark.usefixtures("nothing_loaded")
def test_pins_outside_of_a_bpffs_are_refused(westwood, tmp_path, monkeypatch):
    monkeypatch.setenv(ww_kernel.PINS_VARIABLE, str(tmp_path / "westwood"))
    called = westwood("kernel", "load")
    assert called.code == 1 and called.err.count("\n") == 1
    assert "expected a folder of a bpffs" in called.err
    assert not available() & OURS


def test_without_the_program_the_remedy_is_named(westwood, tmp_path, monkeypatch):
    monkeypatch.setenv(ww_kernel.VARIABLE, str(tmp_path / "nothing"))
    called = westwood("kernel", "status")
    assert called.code == 77 and called.err.endswith("make linux\n")


@pytest.mark.usefixtures("nothing_loaded")
def test_load_registers_all_four_and_says_which_version(westwood):
    called = westwood("kernel", "load")
    loaded, caveat, *warnings, who, following = called.out.splitlines()
    assert "no default for a machine" in caveat and "takes from CUBIC" in caveat
    assert who == "any user may choose none of them, and root all (--allow-users)"
    assert following == "Next: westwood path compare HOST"
    assert (called.code, loaded, called.err) == (0, f"version {__version__} is loaded", "")
    assert warnings == [f"ww_cubic: {PROTOCOLS['westwood-cubic'].warning}"]
    assert available() >= OURS
    state = json.loads(westwood("kernel", "status", "--json").out)
    assert state["loaded"] and state["version"] == __version__ and state["recorder"] == 0
    assert state["controls"] == [
        {"name": name, "registered": True, "sockets": 0, "total": 0, "any_user": False}
        for name in ww_kernel.CONTROLS
    ]


@pytest.mark.usefixtures("loaded")
def test_a_second_load_changes_nothing(westwood):
    before = in_kernel()
    printed = westwood("kernel", "load").printed()
    assert printed.startswith(f"version {__version__} is loaded already\n")
    assert eventually(lambda: in_kernel() == before)


@pytest.mark.usefixtures("loaded")
def test_status_counts_the_sockets_of_every_namespace(westwood):
    """Each control has a namespace with one connection more than the control before."""
    totals = {control["name"]: control["total"] for control in ww_kernel.status()["controls"]}
    counts = {name: number for number, name in enumerate(sorted(OURS), 1)}
    with ExitStack() as stack:
        ends = {}
        for name, count in counts.items():
            host = stack.enter_context(alone())
            receiver = host.receive("127.0.0.1", PORT)
            ends[name] = host.send("127.0.0.1", PORT, name, 3, count, rate=1e5), receiver, count
        assert eventually(lambda: all(sockets(name) == count for name, count in counts.items()))
        output = westwood("kernel", "status").out
        for name, count in counts.items():
            assert (
                f"{name:<12} {count} sockets, {totals[name] + count} since it was loaded" in output
            )
        for all_of_one in ends.values():
            outcome(*all_of_one)
    assert eventually(lambda: not any(map(sockets, counts)))


@pytest.mark.usefixtures("loaded")
def test_another_programs_control_of_the_same_name_is_kept(westwood, bpffs, monkeypatch):
    before = in_kernel()
    monkeypatch.setenv(ww_kernel.PINS_VARIABLE, str(bpffs / "another"))
    called = westwood("kernel", "load")
    assert called.code == 1 and called.err.count("\n") == 1
    assert "ww_westwood: another program has registered this name" in called.err
    assert "bpftool struct_ops unregister" in called.err
    assert not (bpffs / "another").exists()
    assert eventually(lambda: in_kernel() == before), "the failed attempt leaves nothing"
    assert available() >= OURS


@pytest.mark.usefixtures("loaded")
def test_another_version_takes_over_under_traffic(westwood, other_version):
    with alone() as host:
        receiver = host.receive("127.0.0.1", PORT)
        old = host.send("127.0.0.1", PORT, "ww_nrplus", 60, connections=2, rate=1e6)
        assert eventually(lambda: sockets("ww_nrplus") == 2)
        before = in_kernel()
        other_version()
        printed = westwood("kernel", "load").printed()
        assert printed.splitlines()[:2] == [
            f"replaces version {__version__}; 2 connections keep using it until they end",
            f"version {__version__} is loaded",
        ]
        new = host.send("127.0.0.1", PORT, "ww_nrplus", 0.3)
        assert eventually(lambda: sockets("ww_nrplus") == 1), "only the new version counts it"
        assert in_kernel() & before, "the old connections keep their programs"
        new.wait()
        old.terminate()  # closes in order; loading takes seconds on a busy machine
        outcome_of_both = [int(p.communicate(timeout=30)[0]) for p in (old, new)]
        assert receiver.stdout is not None
        arrived = [int(receiver.stdout.readline()) for _ in range(3)]
        assert sum(arrived) == sum(outcome_of_both)
    assert eventually(lambda: not in_kernel() & before)


@pytest.mark.usefixtures("loaded")
def test_unload_under_traffic_loses_no_connection(westwood):
    with alone() as host:
        receiver = host.receive("127.0.0.1", PORT)
        sender = host.send("127.0.0.1", PORT, "ww_plus", 60, connections=4)
        assert eventually(lambda: sockets("ww_plus") == 4)
        printed = westwood("kernel", "unload").printed()
        assert printed == (
            f"version {__version__} is unloaded; 4 connections keep using it until they end\n"
        )
        assert not available() & OURS
        assert in_kernel(), "the connections keep their programs"
        assert sender.poll() is None
        time.sleep(0.2)
        sender.terminate()  # closes its connections in order
        assert outcome(sender, receiver, 4) > 0
    assert eventually(lambda: not in_kernel()), "the programs go with the last connection"


@pytest.mark.usefixtures("loaded")
def test_unload_while_a_namespace_has_it_as_default(westwood):
    """The command refuses (test_defaults.py); ww-kernel, which a boot unit runs, does not."""
    users.change({"ww_plus"}, set())
    with alone() as host:
        host.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=ww_plus")
        assert westwood("kernel", "unload").code == 1
        ww_kernel.unload()
        assert not available() & OURS
        receiver = host.receive("127.0.0.1", PORT)
        sender = host.send("127.0.0.1", PORT, "cubic", 0.1)
        assert outcome(sender, receiver, 1) > 0
        host.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=reno")
        receiver.kill()
        receiver.wait()
    assert eventually(lambda: not in_kernel())


@pytest.mark.usefixtures("loaded")
def test_an_ended_namespace_with_a_default_leaks_nothing(westwood):
    users.change({"ww_plus_rh"}, set())
    with alone() as host:
        host.run("sysctl", "-qw", "net.ipv4.tcp_congestion_control=ww_plus_rh")
    assert westwood("kernel", "unload").code == 0
    assert eventually(lambda: not in_kernel(), 10)


@pytest.mark.usefixtures("nothing_loaded")
def test_the_next_load_repairs_a_killed_one(westwood):
    """At once, and shortly before it ends; test_torture_kernel.py kills it at any time."""
    program = ww_kernel.program()
    words = [program, "load", ww_kernel.pins(), ww_kernel.bpf_object(program), __version__]
    lasts_s = 0.3
    for _ in range(2):
        process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL)
        time.sleep(lasts_s)
        process.kill()
        process.wait()
        begin = time.monotonic()
        called = westwood("kernel", "load")
        lasts_s = 0.95 * (time.monotonic() - begin)
        assert called.code == 0, called.err
        assert all(control["registered"] for control in ww_kernel.status()["controls"])
        assert ww_kernel.unload()
        assert eventually(lambda: not in_kernel())
