# SPDX-License-Identifier: BSD-3-Clause
"""ns-3 runs controls of users, and decides as the simulator does."""

from pathlib import Path

import pytest
from mine import MINE, ON_LOSS, line_of
from ns3_runner import needs_runner
from one_link import one_link

from westwood import Scenario, simulate
from westwood.control.writing import like
from westwood.engines import ns3
from westwood.engines.export.ns3 import program
from westwood.errors import InputError

pytestmark = pytest.mark.usefixtures("mine")
LOST = {"kind": "script", "packets": [500, 1200, 1203, 2500], "on": "forward"}


def lossy(cc: object) -> Scenario:
    """Returns a flow over 10 Mb/s and 20 ms, a BDP of queue, and four lost packets."""
    link = {"delay": "20ms", "loss": LOST, "queue": {"limit": "34p"}}
    flow = {"cc": cc, "recovery": "sack", "packet": "1500B"}
    return one_link(flow, link=link, profile="ns3-3.44")


@needs_runner
@pytest.mark.parametrize("its_like", ["reno", "westwood+", "bbr", "cubic"])
def test_both_hosts_send_the_same_packets(its_like):
    """Losses depend on the order of packets, so one packet more or less would change all counts."""
    Path("mine.c").write_text(like(its_like, "mine"), encoding="utf-8")
    ours, theirs = (run(lossy("./mine.c"), 1).flow_rows[0] for run in (simulate, ns3.simulate))
    for column in ("lost", "queue_drops", "fast_recoveries", "timeouts"):
        assert theirs[column] == ours[column], column
    for column, tolerance in (("sent", 5), ("retransmitted", 2)):
        assert theirs[column] == pytest.approx(ours[column], abs=tolerance), column
    assert theirs["mean_cwnd"] == pytest.approx(ours["mean_cwnd"], rel=0.01)


@needs_runner
def test_a_control_may_end_slow_start_without_a_loss():
    """Below 30 segments it doubles in a round trip; then its ssthresh stops that."""
    stops = "    if (window->cwnd >= 30) window->ssthresh = ww_min_u32(window->ssthresh, 20);\n"
    begin = MINE.index("{\n", MINE.index("static void on_ack")) + 2
    Path("mine.c").write_text(MINE[:begin] + stops + MINE[begin:], encoding="utf-8")
    scenario = lossy("./mine.c").with_settings({"path.loss": {"kind": "none"}, "duration": "3s"})
    scenario = scenario.with_settings({"tcp.initial_ssthresh": "unlimited"})
    ours, theirs = (run(scenario, 1).flow_rows[0] for run in (simulate, ns3.simulate))
    assert theirs["mean_cwnd"] == pytest.approx(ours["mean_cwnd"], rel=0.01)
    assert theirs["queue_drops"] == ours["queue_drops"]


@needs_runner
def test_bbr3_follows_its_packets_in_both_hosts():
    """After a timeout ns-3 sends other segments than the simulator does; here is none."""
    settings = {"path.rate": "50Mbps", "path.delay": "10ms", "path.queue.limit": "83p"}
    settings |= {"path.loss": {"kind": "none"}, "duration": "5s"}
    scenario = lossy("bbr3").with_settings(settings)
    ours, theirs = (run(scenario, 1).flow_rows[0] for run in (simulate, ns3.simulate))
    assert theirs["goodput_bps"] == pytest.approx(ours["goodput_bps"], rel=0.001)
    assert theirs["mean_cwnd"] == pytest.approx(ours["mean_cwnd"], rel=0.005)
    for column in ("queue_drops", "retransmitted", "fast_recoveries", "timeouts"):
        assert theirs[column] == ours[column], column
    assert ours["queue_drops"] > 0 == ours["timeouts"]


@needs_runner
def test_parameters_reach_ns3_and_only_their_flow():
    scenario = lossy("./mine.c")
    fast, slow = (
        ns3.simulate(scenario.with_settings({"tcp.cc": {"name": "./mine.c", "gain": gain}}), 1)
        for gain in (3, 1)
    )
    assert fast.flow_rows[0]["mean_cwnd"] > 1.1 * slow.flow_rows[0]["mean_cwnd"]


@needs_runner
@pytest.mark.parametrize(
    ("instead", "problem"),
    [
        ("    window->cwnd = 0;\n", "on_loss sets cwnd to 0, expected from 1 to 2^28 segments"),
        ("    *(volatile int *)0 = 1;\n", "the control uses memory that is not its own"),
        ('    for (;;) __asm__("");\n', "the control does not return within 2 s"),
    ],
)
def test_a_control_that_fails_ends_the_run_in_one_line(instead, problem, westwood):
    code = MINE.replace(ON_LOSS, instead) + "/* in ns-3 */\n"
    Path("mine.c").write_text(code, encoding="utf-8")
    Path("lossy.toml").write_text(lossy("./mine.c").to_toml(), encoding="utf-8")
    called = westwood("run", "lossy.toml", "--engine", "ns3", "--seeds", "1")
    assert (called.code, called.err.count("\n")) == (2, 1)
    assert called.err.startswith("westwood: ./mine.c:") and called.err.endswith(f" {problem}\n")
    assert "cwnd to 0" in problem or f"mine.c:{line_of(code, instead)}:" in called.err


@needs_runner
def test_an_object_that_is_none_is_refused_in_one_line():
    Path("none.so").write_text("this is no object", encoding="utf-8")
    text = ns3.plan(lossy("./mine.c")).splitlines()
    source = next(line.split()[1] for line in text if line.startswith("object "))
    broken = [line for line in text if not line.startswith("object ")]
    broken += [f"object {source} {Path('none.so').absolute()}"]
    with pytest.raises(Exception, match=r"none\.so: file too short|invalid ELF"):
        ns3._execute(ns3.program(), "\n".join([*broken, "seed 1", "end", ""]), "s")


def test_an_exported_program_has_only_the_modules_own_controls():
    for cc in ("./mine.c", "bbr3"):
        with pytest.raises(InputError, match=r"tcp\.cc = .*export expects a control of Westwood"):
            program(lossy(cc))
