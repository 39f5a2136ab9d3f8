# SPDX-License-Identifier: GPL-2.0-only
"""`--engine linux`: real sockets over the emulated path give the simulator's rows and traces.

If the path decides alone (which packets are lost), the comparison is exact; otherwise it is a ratio
of rates. Limits are wide if this machine's load matters; bench/linux_path.py has narrow ones.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from emulated_paths import LACKING, needs_path

from westwood import Scenario, engines, simulate
from westwood.cli import call
from westwood.control.catalogue import SHOWN
from westwood.engines import linux, linux_limits
from westwood.engines.contract import Job
from westwood.errors import RunError, UnavailableError
from westwood.experiments import validation
from westwood.kernel import emulated, ww_kernel


def link(name: str, **settings: Any) -> dict[str, Any]:
    ends = [f"a-{name}", f"b-{name}"]
    return {"name": name, "between": ends, "rate": "10Mbps", "delay": "10ms", **settings}


def flow(name: str, **settings: Any) -> dict[str, Any]:
    return {"name": f"on-{name}", "from": f"a-{name}", "to": f"b-{name}", **settings}


def scenario(links: list[Any], flows: list[Any], duration: str = "2s", **settings: Any) -> Scenario:
    return Scenario(
        name="s", duration=duration, seeds=1, profile="linux", link=links, flow=flows, **settings
    )


# A run has all of these links, each with its own flow.
LOSSES: Mapping[str, Any] = {
    "none": {"kind": "none"},
    "uniform": {"kind": "uniform", "rate": 0.1},
    "bits": {"kind": "bits", "rate": 1e-5},
    "script": {"kind": "script", "packets": [1, 3, 100, 300]},
    "markov": {"kind": "markov", "good": "200ms", "bad": "50ms", "bad_rate": 0.5},
    "blackout": {"kind": "blackout", "good": "500ms", "bad": "100ms"},
}


@needs_path
def test_every_loss_model_loses_the_simulators_packets():
    """A datagram leaves every 5 ms. Models that lose by number lose the same ones, but one run may
    end a datagram later. Models that lose by time may differ by one at each of 8 changes of state.
    """
    links = [link(name, loss=loss) for name, loss in LOSSES.items()]
    app = {"kind": "udp", "rate": "1.6Mbps"}
    flows = [flow(name, app=app, packet="1000B", header="28B") for name in LOSSES]
    chosen = scenario(links, flows)
    ours, real = simulate(chosen, 3, queues=True), linux.run(chosen, 3, trace=True)
    for theirs, seen in zip(ours.rows.to_dicts(), real.rows.to_dicts(), strict=True):
        name, last = theirs["flow"], abs(seen["sent"] - theirs["sent"])
        assert seen["engine"] == "linux" and last <= 1, name
        by_time = name in ("on-markov", "on-blackout")
        assert abs(seen["lost"] - theirs["lost"]) <= (8 if by_time else last), name
        assert (theirs["lost"] > 0) == (name != "on-none"), name
    by_number = ["uniform", "bits", "script"]
    for name in by_number:
        there = pl.col("link") == name
        times_s = [drops.filter(there)["time_s"].to_list() for drops in (ours.drops, real.drops)]
        both = min(map(len, times_s))
        assert times_s[1][:both] == pytest.approx(times_s[0][:both], abs=0.1), name


@needs_path
def test_a_syn_sent_again_is_no_retransmitted_data():
    """The kernel counts both together. The first packet, a SYN, is lost."""
    lossy = link("l", loss={"kind": "script", "packets": [1]})
    chosen = scenario([lossy], [flow("l", cc="reno", recovery="prr", size="30kB")], "3s")
    (row,) = linux.run(chosen, 1).rows.to_dicts()
    assert row["completion_p50_s"] > 1, "the SYN's timer takes a second"
    assert row["sent"] > 20 and row["retransmitted"] == 0


CONTROLS = ["reno", "cubic", "bbr"]


@needs_path
def test_the_kernels_own_controls_fill_a_path_as_the_simulators_do():
    """Both engines give the same rows, traces and columns; rates agree within a tenth."""
    controls = [cc for cc in CONTROLS if _has(cc)]
    links = [link(cc, rate="4Mbps", queue={"limit": "40p"}) for cc in controls]
    flows = [flow(cc, cc=cc, recovery="sack" if cc == "bbr" else "prr") for cc in controls]
    chosen = scenario(links, flows, "4s")
    ours, real = simulate(chosen, 1, trace=True), linux.run(chosen, 1, trace=True)
    assert real.rows.columns == ours.rows.columns
    of_simulator = {"mode", "pacing_bps", *SHOWN["bbr"].quantities}
    assert real.trace.schema == ours.trace.drop(of_simulator, strict=False).schema
    assert real.queues.schema == ours.queues.schema and real.drops.schema == ours.drops.schema
    for theirs, seen in zip(ours.rows.to_dicts(), real.rows.to_dicts(), strict=True):
        assert seen["goodput_bps"] == pytest.approx(theirs["goodput_bps"], rel=0.1), seen["cc"]
        # Linux counts the RTT of the handshake, which is shorter.
        assert 0.0199 < seen["min_rtt_s"] < theirs["min_rtt_s"] + 0.005
        assert seen["sent"] == pytest.approx(theirs["sent"], rel=0.15)
    there = real.trace.filter(flow=flows[0]["name"])
    assert there["cwnd"].max() > 20 and there["srtt_s"].drop_nans().min() > 0.02  # type: ignore[operator]
    waiting = real.queues.filter(link=controls[0], direction="forward")["packets"]
    assert 20 < waiting.max() <= 41  # type: ignore[operator]


def _has(cc: str) -> bool:
    try:
        linux_limits.require(linux_limits.CONTROLS[cc])
    except UnavailableError:
        return False
    return True


@needs_path
def test_several_flows_and_cross_traffic_share_a_link():
    both = {"from": "a-l", "to": "b-l", "recovery": "prr"}
    flows = [
        {"name": "one", "cc": "reno", **both},
        {"name": "two", "cc": "cubic", "start": "500ms", "size": "200kB", **both},
        {"name": "back", "cc": "reno", "from": "b-l", "to": "a-l", "recovery": "prr"},
        {"name": "noise", "from": "a-l", "to": "b-l", "app": {"kind": "udp", "rate": "2Mbps"}},
    ]
    rows = linux.run(scenario([link("l")], flows, "3s"), 1).rows
    first, second, back, noise = rows.to_dicts()
    assert second["completed"] == 1 and 0.5 < second["completed_s"] < 3
    assert noise["throughput_bps"] == pytest.approx(2e6, rel=0.1)
    total = first["throughput_bps"] + noise["throughput_bps"] + 8 * 200e3 / 3
    assert 6e6 < total <= 10.1e6
    assert back["goodput_bps"] > 5e6  # the other direction is another link


@needs_path
def test_the_command_line_writes_the_same_files(tmp_path, capsys):
    file = tmp_path / "s.toml"
    file.write_text(scenario([link("l")], [flow("l", cc="reno", recovery="prr")], "1s").to_toml())
    common = [str(file), "--engine", "linux", "--out"]
    assert call(["trace", *common, str(tmp_path / "t"), "--plot"]) == 0
    names = {path.name for path in (tmp_path / "t").iterdir()}
    tables = ("runs", "trace", "queues", "drops", "links", "transfers")
    files = {".lock", "SHA256SUMS", "manifest.json", "scenario.toml", "s-trace.png", "s-trace.svg"}
    assert names == files | {f"{table}.parquet" for table in tables}
    capsys.readouterr()
    assert call(["run", *common, str(tmp_path / "r"), "--json", "--plot"]) == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    assert run["engine"] == "linux" and run["goodput_bps"] > 1e6
    compare = "compare --engine linux --cc reno --duration 300ms --seeds 1"
    assert call(compare.split()) == 0  # it selects the profile that it needs
    assert "Reno" in capsys.readouterr().out
    sweep = ["sweep", *common, str(tmp_path / "w"), "--set", "duration=500ms", "--seeds", "2"]
    assert call(sweep) == 0 and call([*sweep, "--resume"]) == 0
    rows = pl.read_parquet(tmp_path / "w" / "runs.parquet")
    assert rows["engine"].to_list() == ["linux"] * 2 and rows["seed"].to_list() == [1, 2]


@needs_path
def test_the_receivers_window_grows_to_what_the_scenario_says():
    """Linux acknowledges each segment that raises it, by two segments; then every second one.

    The segment at the window's edge is smaller. If a late ACK moves the edge, two such segments are
    in flight.
    """
    window_bytes, mss = 215160, 1448
    reno = flow("l", cc="reno", recovery="prr", receive_window=f"{window_bytes}B")  # 53 rises
    result = linux.run(scenario([link("l", queue={"limit": "1000p"})], [reno]), 1, trace=True)
    segments = math.ceil(window_bytes / mss)
    assert segments <= result.trace["in_flight"].max() <= segments + 1
    assert result.rows["max_cwnd"][0] > segments  # the window, not cwnd, limits it


@needs_path
def test_a_run_on_a_stalled_machine_is_repeated(monkeypatch):
    late = iter([0.3, 0.2, 0.001])
    runs = []
    monkeypatch.setattr(linux, "_check_speed", lambda report, what: runs.append(1) or next(late))
    chosen = scenario([link("l")], [flow("l", cc="reno", recovery="prr")], "100ms")
    assert linux.run(chosen, 1).rows["engine"].to_list() == ["linux"] and len(runs) == 3
    late = iter([0.3, 0.2, 0.25])
    with pytest.raises(RunError, match="stalled for 250 ms, in 3 runs; use fewer --workers"):
        linux.run(chosen, 1)


@pytest.mark.slow
@needs_path
def test_a_control_that_this_kernel_lacks_runs_in_an_emulated_one(monkeypatch):
    """Upstream's Westwood+ runs there, and Reno in both: its time is exact, so rates agree."""
    reason = emulated.missing_reason()
    if reason:
        pytest.skip(reason)
    chosen = [
        scenario([link("l", loss={"kind": "script", "packets": [500]})], [flow_], "5s")
        for flow_ in (flow("l", cc=cc, recovery="prr") for cc in ("westwood+-linux", "reno"))
    ]
    (row,) = linux.run(chosen[0], 1).rows.to_dicts()
    assert row["goodput_bps"] == pytest.approx(
        simulate(chosen[0], 1).rows["goodput_bps"][0], rel=0.1
    )
    direct = linux.run(chosen[1], 1).rows["goodput_bps"][0]
    monkeypatch.setattr(linux_limits, "is_emulated", lambda scenario: True)
    assert linux.run(chosen[1], 1).rows["goodput_bps"][0] == pytest.approx(direct, rel=0.05)


@needs_path
def test_a_traced_run_is_not_run_again():
    """Runs are in real time and not repeatable, so the figure shows the first seed's run."""
    engine = engines.find("linux")
    chosen = scenario([link("l")], [flow("l", cc="reno", recovery="prr")], "300ms")
    traced = engine.simulate(chosen, 1, trace=True).flow_rows
    assert engine.prepare is not None
    job = Job(chosen, [1], {"key": "value"})
    assert engine.prepare(job)(1) == [{"key": "value", **row} for row in traced]


@needs_path
def test_validate_compares_both_engines(tmp_path, monkeypatch):
    grids = validation.GRIDS["linux"]
    assert sum(grid.size for grid in grids.values()) >= 120
    names = "single lossless dumbbell short upstream westwood-cubic short-queues lossy beside-cubic"
    assert set(grids) == {*names.split(), "bbr", "queues", "quic", "quic-short"}
    grid = grids["single"]
    assert {"reno", "cubic", "bbr", "westwood", "westwood+"} <= set(grid.protocols)
    protocols = {"reno": {"recovery": "prr"}}
    small = replace(grid, protocols=protocols, points=grid.points[4:5])
    monkeypatch.setattr(validation, "GRIDS", {"linux": {"single": small}})
    out = tmp_path / "v"
    words = ["validate", "--engine", "linux", "--seeds", "1", "--set", "duration=2s", "--out"]
    assert call([*words, str(out)]) == 0
    (point,) = pl.read_csv(out / "validation.csv").to_dicts()
    assert point["goodput_ratio"] == pytest.approx(1, abs=0.15)
    assert (out / "validation-single.png").exists() and "single, 1 points: " in (
        out / "index.html"
    ).read_text()


def refused(arguments: list[str], capsys: Any) -> tuple[int, str]:
    code = call(arguments)
    error = str(capsys.readouterr().err)
    assert error.count("\n") == 1, error
    return code, error


def test_missing_parts_are_named_with_their_remedy(tmp_path, capsys, monkeypatch):
    """Without the program or a control it exits with 77, and runs and writes nothing."""
    words = "run path --engine linux --cc reno --cc westwood+ --set profile=linux --out"
    arguments = [*words.split(), str(tmp_path / "r")]
    monkeypatch.setenv(linux.VARIABLE, str(tmp_path / "nothing"))
    code, error = refused(arguments, capsys)
    assert code == 77 and "WESTWOOD_LINUX names no program: make linux-path" in error
    monkeypatch.delenv(linux.VARIABLE)
    if not LACKING:
        monkeypatch.setitem(linux_limits.CONTROLS, "westwood+", "ww_absent")
        monkeypatch.setitem(ww_kernel.CONTROLS, "ww_absent", "westwood+")
        code, error = refused(arguments, capsys)
        assert code == 77
        assert "no congestion control ww_absent: westwood kernel load" in error
        monkeypatch.setitem(linux_limits.CONTROLS, "westwood+", "absent")
        assert "absent: modprobe tcp_absent" in refused(arguments, capsys)[1]
    assert not (tmp_path / "r").exists()


def test_dask_is_rejected_for_engines_of_this_machine(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(linux, "check_machine", lambda: None)
    arguments = ["sweep", "path", "--engine", "linux", "--dask", "tcp://x", "--out", str(tmp_path)]
    code, error = refused(arguments, capsys)
    assert code == 77 and "leave --dask out" in error
