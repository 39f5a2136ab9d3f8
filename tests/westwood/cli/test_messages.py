# SPDX-License-Identifier: BSD-3-Clause
"""A message names the place, the key, the value and what was expected, in one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from westwood.scenario import profiles

PROFILES = ", ".join(profiles.names())


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("list", "profile"), f'"profile": expected a name after it, one of: {PROFILES}'),
        (("list", "protocols", "extra"), '"extra": expected nothing after protocols'),
        (("run", "table1", "--seeds", "x"), '--seeds = "x": expected a whole number'),
        (("sweep", "table1", "--out", "o", "--ci", "x", "--workers", "1.5"), '--workers = "1.5": '),
        (
            ("validate", "--engine", "foo"),
            '--engine = "foo": expected another engine than the simulator: ns3 or linux',
        ),
        (
            ("run", "table1", "--cc", "bbr", "--set", "*.cc.tau=1s"),
            'table1: tcp.cc.tau = "1s": BBR has no settings',
        ),
        (
            ("sweep", "table1", "--out", "o", "--ci", "0"),
            '--ci = 0: expected a fraction more than 0 and at most 1, such as 0.02 or "2%"',
        ),
        (("sweep", "table1", "--out", "o", "--metric", "jain"), "--metric: has no effect without"),
        (("sweep", "table1", "--out", "o", "--max-seeds", "9"), "--max-seeds: has no effect with"),
        (("sweep", "table1", "--out", "o", "--ci", ""), '--ci = "": expected a fraction'),
        (("trace", "table1", "--plot", "--every", "1s"), "--every: has no effect without --out"),
        (("trace", "table1", "--plot", "--events"), "--events: has no effect without --out"),
        (("trace", "table1", "--pcap", "p", "--to", "1s"), "--to: has no effect without --plot"),
        (("trace", "table1", "--plot", "--cc", ""), '--cc = "": unknown protocol'),
        (("trace", "a.csv", "--plot", "--seed", "1"), "--seed: has no effect on a recording"),
        (
            ("validate", "--engine", "ns2", "--grid", "2005-own", "--duration", "5"),
            '--duration = "5": a unit is missing',
        ),
        (("lab", "--port", "99999"), '--port = "99999": expected at most 65535'),
        (("reproduce", "fig10", "--seeds", "0"), "--seeds = 0: expected from 1 to 1000000"),
        (("report", "o", "--row", "1", "--export"), "--export: has no effect with --row"),
    ],
)
def test_a_command_line(
    arguments: tuple[str, ...], message: str, westwood: Callable[..., Any]
) -> None:
    called = westwood(*arguments)
    assert (called.code, called.out) == (2, "")
    assert called.err.startswith(f"westwood: {message}") and called.err.count("\n") == 1


@pytest.mark.parametrize("setting", ["*.cc.fast_convergence", "tcp.cc.fast_convergence"])
def test_a_setting_of_one_of_several_protocols(
    setting: str, small_file: Path, westwood: Callable[..., Any]
) -> None:
    protocols = ("--cc", "cubic", "--cc", "veno")
    called = westwood("run", small_file, *protocols, "--set", f"{setting}=false")
    assert called.code == 2
    problem = "tcp.cc.fast_convergence = false: Veno has no such setting, expected one of: "
    assert called.err.startswith(f"westwood: {small_file}: {problem}")


def test_a_setting_of_every_flow_is_named_as_it_was_set(
    small_file: Path, westwood: Callable[..., Any]
) -> None:
    called = westwood("run", small_file, "--set", "*.cc=renoo")
    problem = 'tcp.cc = "renoo": unknown protocol, did you mean "reno"?'
    assert called.err == f"westwood: {small_file}: {problem}\n"
