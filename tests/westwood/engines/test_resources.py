# SPDX-License-Identifier: BSD-3-Clause
"""Runs that would take more memory or disk than the machine has are refused before they start."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from westwood import InputError, Scenario, simulate, simulate_many
from westwood.engines import machine, resources

LINK = {"name": "path", "between": ["a", "b"], "rate": "10Mbps", "delay": "20ms"}
FLOW = {"name": "tcp", "from": "a", "to": "b", "cc": "cubic"}
LITTLE = 40e6  # bytes of memory


def scenario(duration: str = "100s", **more: Any) -> Scenario:
    return Scenario(
        **{"name": "small", "duration": duration, "link": [LINK], "flow": [FLOW]} | more
    )


@pytest.fixture
def poor(monkeypatch):
    monkeypatch.setattr(machine, "free_memory", lambda: LITTLE)
    monkeypatch.setattr(machine, "free_disk", lambda _: LITTLE)


@pytest.mark.parametrize(
    ("more", "key"),
    [
        ({"duration": "3000s"}, 'duration = "3000s"'),
        ({"flow": [{**FLOW, "count": 9000}]}, "tcp.count = 9000"),
        (
            {"flow": [{**FLOW, "arrivals": {"every": "100us", "size": "1kB"}}]},
            'tcp.arrivals.every = "100us"',
        ),
        (
            {
                "flow": [{**FLOW, "receive_window": "1000MB"}],
                "link": [{**LINK, "rate": "10Gbps", "delay": "500ms"}],
            },
            'tcp.receive_window = "1000000000B"',
        ),
    ],
)
@pytest.mark.usefixtures("poor")
def test_the_setting_that_takes_too_much_is_named(more, key):
    chosen = scenario(**more)
    with pytest.raises(InputError) as error:
        simulate(chosen, trace="duration" in more)
    assert str(error.value).startswith(f"{key}: takes about ") and "\n" not in str(error.value)
    assert "40 MB are free here; --yes (in Python check_resources=False)" in str(error.value)


@pytest.mark.usefixtures("poor")
def test_a_sweep_is_refused_before_its_points_are_made(monkeypatch):
    monkeypatch.setattr(Scenario, "points", lambda _: pytest.fail("made"))
    swept = scenario(sweep={"path.delay": [f"{i}ms" for i in range(1, 5001)]}, seeds=1)
    with pytest.raises(InputError, match=r"^sweep: takes about "):
        simulate_many(swept)
    with pytest.raises(InputError, match=r"^seeds = 20000: takes about "):
        simulate_many(scenario(seeds=20_000))


@pytest.mark.usefixtures("poor")
def test_check_resources_false_runs_it_anyway():
    many = scenario("10ms", flow=[{**FLOW, "count": 5000}])
    with pytest.raises(InputError, match="takes about"):
        simulate(many)
    assert simulate(many, check_resources=False).rows.height == 5000


@pytest.mark.parametrize(
    "command",
    [
        ("run", "--seeds", 20_000),
        ("sweep", "--seeds", 20_000, "--out", "new"),
        ("trace", "--pcap", "new.pcap", "--at", "access"),
        ("trace", "--out", "new"),
    ],
)
@pytest.mark.usefixtures("poor")
def test_the_command_line_refuses_in_one_line_and_writes_nothing(
    command, westwood, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    done = westwood(command[0], "table1", *command[1:]).refusal()
    assert done.startswith("westwood: table1: ") and "--yes" in done
    assert not list(tmp_path.iterdir())


@pytest.mark.usefixtures("poor")
def test_the_option_yes_runs_it_anyway(westwood, tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "free_disk", lambda _: 0.0)
    monkeypatch.setattr(resources, "_LITTLE", 0.0)
    words = "trace table1 --set duration=1s --at access --pcap"
    chosen = (*words.split(), tmp_path / "a.pcap")
    assert westwood(*chosen).code == 2
    assert westwood(*chosen, "--yes").code == 0
    monkeypatch.setattr(machine, "free_memory", lambda: 0.0)
    for command in ("run", "compare"):
        chosen = (command, *(["table1"] if command == "run" else []), "--set", "duration=1s")
        assert westwood(*chosen, "--seeds", 1).code == 2
        assert westwood(*chosen, "--seeds", 1, "--yes").code == 0


def test_links_are_shared_by_the_demands_of_their_flows():
    """Estimates packets within 20 %, with small windows, slow sources and shared links."""
    udp = {"name": "udp", "from": "a", "to": "b", "app": {"kind": "udp", "rate": "2Mbps"}}
    small = {**FLOW, "name": "small", "receive_window": "12kB"}
    for flows in ([FLOW], [udp], [small], [FLOW, udp], [FLOW, small, udp]):
        chosen = scenario("20s", flow=flows)
        bps = sum(group.bps for group in resources._shared(chosen, {"path": chosen.link[0]}))
        sent = simulate(chosen).rows["sent"].sum()
        assert bps * 20 / (8 * 1500) == pytest.approx(sent, rel=0.2), flows


def test_control_groups_limit_what_is_free(tmp_path, monkeypatch):
    """The tightest limit of a group and its parents counts; its file cache counts as free."""
    inner = tmp_path / "outer" / "inner"
    inner.mkdir(parents=True)
    for group, most, taken, cached in ((inner.parent, "1000", 600, 50), (inner, "max", 10, 0)):
        (group / "memory.max").write_text(f"{most}\n")
        (group / "memory.current").write_text(f"{taken}\n")
        (group / "memory.stat").write_text(f"anon 1\ninactive_file {cached}\n")
    read = machine._text
    monkeypatch.setattr(machine, "_CGROUPS", tmp_path)
    monkeypatch.setattr(
        machine,
        "_text",
        lambda path: "0::/outer/inner\n" if path == Path("/proc/self/cgroup") else read(path),
    )
    assert machine._left_in_cgroups() == 450 and machine.free_memory() == 450


def test_this_machine_has_memory_and_disk_space(tmp_path):
    assert 1e6 < machine.free_memory() < 1e15
    assert 1e3 < machine.free_disk(tmp_path / "not" / "yet") < 1e18


_TRANSFERS = """
from westwood import Scenario, simulate
import polars

def peak_mb():
    with open("/proc/self/status") as lines:  # ru_maxrss may be the parent's
        return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))

link = {"name": "path", "between": ["a", "b"], "rate": "1Gbps", "delay": "1ms"}
web = {"name": "web", "from": "a", "to": "b", "cc": "cubic"}
web["arrivals"] = {"every": "200us", "size": "3kB"}
made = Scenario(name="web", duration="1s", link=[link], flow=[web])
simulate(made)
before = peak_mb()
rows = simulate(made.with_settings({"duration": "16s"})).rows
print(rows["transfers"][0], rows["completed"][0], peak_mb() - before)
"""


def test_a_completed_transfer_takes_200_bytes():
    done = subprocess.run(
        [sys.executable, "-c", _TRANSFERS], capture_output=True, text=True, check=True
    )
    transfers, completed, grown_mb = map(float, done.stdout.split())
    assert transfers > 70_000 and completed > 0.99 * transfers
    assert grown_mb * 2**20 < 1.5 * resources.TRANSFER * transfers
