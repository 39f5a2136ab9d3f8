# SPDX-License-Identifier: BSD-3-Clause
"""Exported programs build as a user builds them, and give the results of --engine ns3."""

import itertools
import random
import re
from pathlib import Path
from typing import Any

import ns3_package
import pytest

from westwood.engines import ns3
from westwood.engines.export.ns3 import program
from westwood.scenario import Scenario

pytestmark = pytest.mark.slow
SEED = 3
LINKS: list[dict[str, Any]] = [
    {"name": "left", "between": ["a", "r"], "rate": "50Mbps", "delay": "5ms"},
    {"name": "b-neck", "between": ["r", "z"], "rate": "5Mbps", "delay": "20ms"},
]
RED = {"kind": "red", "limit": "60p", "min": 10, "max": 30, "spared": 2}
LIST = {"kind": "script", "packets": [5, 100, 101, 102, 900, 2500], "on": "both"}
THERE: dict[str, Any] = {"from": "a", "to": "z"}
BACK: dict[str, Any] = {"from": "z", "to": "a"}


def shared(bottleneck: dict[str, Any], *flows: dict[str, Any]) -> Scenario:
    """Returns flows over a link with these properties."""
    return Scenario(
        name="shared",
        duration="20s",
        seeds=1,
        profile="ns3-3.44",
        link=[LINKS[0], LINKS[1] | bottleneck],
        flow=[{"name": f"flow-{i}", **flow} for i, flow in enumerate(flows)],
    )


SCENARIOS = {
    "table1": Scenario.preset("table1").with_settings({"duration": "60s"}),
    "fig5": Scenario.preset("fig5").with_settings({"duration": "60s", "tcp.cc": "westwood+"}),
    "ack_compression": Scenario.preset("ack-compression").with_settings(
        {"upload.cc": "newreno", "download.cc": "westwood+"}
    ),
    "path": Scenario.preset("path").with_settings(
        {"duration": "60s", "profile": "ns3-3.44", "path.overhead": "2B", "path.loss.on": "both"}
    ),
    "everything": shared(
        {"queue": RED | {"ecn": True}, "loss": LIST},
        THERE | {"cc": {"name": "westwood", "tau": "250ms"}, "ecn": True, "start_spread": "1s"},
        THERE | {"cc": "newreno", "packet": "1000B", "start": "1s", "count": 2},
        BACK | {"cc": "cubic", "size": "300kB", "start": "2s"},
        BACK | {"cc": "cubic", "recovery": "prr", "stop": "15s"},
        {"from": "r", "to": "a", "cc": "westwood+", "recovery": "tahoe"},
    ),
    "red": shared(
        {"queue": RED},
        *[THERE | {"cc": "sack", "timestamps": True, "header": "52B"}] * 4,
        BACK | {"cc": "vegas"},
    ),
    "family": shared(
        {"loss": {"kind": "uniform", "rate": 0.01}, "queue": {"limit": "unlimited"}},
        THERE | {"cc": {"name": "westwood", "m": 4, "filter": "tustin"}},
        THERE | {"cc": {"name": "westwood+", "min_interval": "20ms", "byte_counting": True}},
        BACK | {"cc": {"name": "westwood+-linux", "min_cwnd": 4}},
    ),
}

QUEUES = [
    {"limit": "5p"},
    {"limit": "unlimited"},
    {"kind": "red", "limit": "40p", "min": 5.5, "max": 20, "spared": 2, "gentle": False},
    {"kind": "red", "limit": "40p", "min": 0, "max": 9, "spared": 2, "max_p": 1.0, "ecn": True},
]
CONTROLS = [
    *("westwood", "westwood+-linux", "westwood-ns3", "westwoodnr"),
    *("tahoe", "reno", "newreno", "sack", "cubic", "vegas", "veno", "bbr"),
    {"name": "westwood+", "alpha": 0.8, "min_interval": "77ms", "set_cwnd_on_loss": True},
    {"name": "westwood", "tau": "123ms", "rtt_tick": "4ms"},
    {"name": "cubic", "slow_start": "standard"},
]
OF_FLOW: dict[str, list[Any]] = {
    "start": ["0.5s", "1.7s"],
    "start_spread": ["1s"],
    "stop": ["8s", "100s"],
    "size": ["3B", "100kB"],
    "ecn": [True],
    "initial_cwnd": ["1p", "8kB"],
    "initial_ssthresh": ["20p"],
    "receive_window": ["20kB"],
    "min_rto": ["300ms"],
    "initial_rto": ["2s"],
    "delayed_ack": [1, 3],
    "delayed_ack_timeout": ["77ms"],
    "dupack_threshold": [2, 5],
    "limited_transmit": [True, False],
    "count": [3],
    "packet": ["700B"],
}


def drawn(seed: int) -> Scenario:
    """Draws a chain of one to three links with flows between any of its nodes."""
    choices = random.Random(seed)
    nodes = ["a", "r-1", "r_2", "z+"][: choices.randint(2, 4)]
    links = []
    for i, between in enumerate(itertools.pairwise(nodes)):
        link: dict[str, Any] = {"name": f"link-{i}", "between": list(between)}
        link["rate"] = choices.choice(["10Mbps", "1.5Mbps", "333kbps"])
        link["delay"] = choices.choice(["0s", "12.345ms", "7us", "100ms"])
        link["queue"] = choices.choice(QUEUES)
        listed = sorted(choices.sample(range(1, 500), 9))
        losses = [{"kind": "uniform", "rate": 0.02}, {"kind": "script", "packets": listed}]
        side = choices.choice(["forward", "backward", "both"])
        link["loss"] = choices.choice(losses) | {"on": side}
        links.append(link)
    flows = []
    for i in range(choices.randint(1, 4)):
        source, sink = choices.sample(nodes, 2)
        flow = {"name": f"f_{i}", "from": source, "to": sink, "cc": choices.choice(CONTROLS)}
        settings = {
            key: choices.choice(choices_)
            for key, choices_ in OF_FLOW.items()
            if choices.random() < 0.25
        }
        flows.append(flow | settings)
    return Scenario(
        name=f"drawn{seed}", duration="10s", seeds=1, profile="ns3-3.44", link=links, flow=flows
    )


SCENARIOS |= {f"drawn{seed}": drawn(seed) for seed in range(8)}


@pytest.fixture(scope="module")
def programs(tmp_path_factory) -> Path:
    """Builds all programs against the module that `make ns3` built."""
    folder = tmp_path_factory.mktemp("exported")
    prefix = ns3_package.installed("wheel", folder / "prefix")
    sources = []
    for name, scenario in SCENARIOS.items():
        sources.append(folder / f"{name}.cc")
        sources[-1].write_text(program(scenario), encoding="ascii")
    return ns3_package.built(prefix, sources, folder / "build")


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_program_gives_the_results_of_the_engine(name, programs):
    output = ns3_package.run(programs / name, f"--seed={SEED}")
    pattern = r"(\S+): goodput (\S+) Mb/s, (\d+) bytes delivered, (\d+) packets sent"
    numbers = re.findall(pattern, output)
    result = ns3.simulate(SCENARIOS[name], SEED)
    rows = list(result.rows.iter_rows(named=True))
    assert [flow for flow, *_ in numbers] == [row["flow"] for row in rows]
    delivered = list(result.raw.connections["delivered_bytes"])
    for (_, goodput, bytes_, packets), row, theirs in zip(numbers, rows, delivered, strict=True):
        assert int(bytes_) == theirs and (theirs > 0 or name.startswith("drawn"))
        assert 1e6 * float(goodput) == pytest.approx(row["goodput_bps"], rel=1e-5)
        if not name.startswith("drawn"):  # there SYNs and FINs may be lost, too
            # In addition to the data: the SYN and the ACK of the handshake, and a FIN.
            assert row["sent"] + 2 <= int(packets) <= row["sent"] + 3


def test_another_seed_loses_other_packets(programs):
    outputs = {ns3_package.run(programs / "table1", f"--seed={seed}") for seed in (1, 2)}
    assert len(outputs) == 2
