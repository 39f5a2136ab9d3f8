# SPDX-License-Identifier: BSD-3-Clause
"""An option that a command lacks is answered with the one that does it."""

import json
from collections.abc import Callable
from typing import Any

import pytest

Westwood = Callable[..., Any]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("compare --bandwidth 2Mbps", "use --rate"),
        ("compare --latency 20ms", "use --delay (the delay one way: half the round trip)"),
        ("compare --buffer 5ms", "use --queue"),
        ("compare --protocol cubic", "use --cc"),
        ("run table1 --duration 60s", "use --set duration=60s"),
        (
            "run table1 --bandwidth 2Mbps",
            "use --set LINK.rate=10Mbps, LINK being a link such as bottleneck",
        ),
        ("trace table1 --link bottleneck", "use --at"),
        ("path compare --bw 2Mbps", "use --rate"),
    ],
)
def test_an_option_of_other_tools_names_ours(line, hint, westwood):
    words = line.split()
    called = westwood(*words)
    option = next(word for word in words if word.startswith("--"))
    assert (called.code, called.out) == (2, "")
    assert called.err == f"westwood: No such option: {option}; {hint}\n"


@pytest.mark.parametrize(
    ("words", "missing"),
    [("run", "argument 'FILE|PRESET'"), ("report", "argument 'DIR'"), ("sweep fading", "'--out'")],
)
def test_where_a_word_is_missing_stands_an_example(words, missing, westwood):
    called = westwood(*words.split())
    assert called.code == 2 and missing in called.err and called.err.count("\n") == 1
    assert f"Example: westwood {words.split()[0]} " in called.err


@pytest.mark.parametrize(("words", "group"), [("frobnicate", ""), ("kernel frobnicate", " kernel")])
def test_a_command_like_no_other_names_the_list(words, group, westwood):
    called = westwood(*words.split())
    assert called.code == 2
    said = f"No such command 'frobnicate'. westwood{group} -h lists all."
    assert called.err == f"westwood: {said}\n"


@pytest.mark.parametrize(
    ("words", "protocols"),
    [
        (("--cc", "reno,cubic"), ["reno", "cubic"]),
        (("--cc", "reno,cubic", "--cc", "bbr"), ["reno", "cubic", "bbr"]),
        (("--cc", "reno, cubic"), ["reno", "cubic"]),
    ],
)
def test_protocols_between_commas(words, protocols, westwood):
    called = westwood("compare", *words, "--duration", "1s", "--seeds", "1", "--json")
    assert [row["cc"] for row in json.loads(called.out)["runs"]] == protocols


@pytest.mark.parametrize("command", ["control tune", "control stress", "ns3 export table1"])
def test_a_command_of_one_protocol_refuses_several(command, westwood):
    called = westwood(*command.split(), "--cc", "reno,cubic")
    assert called.code == 2 and called.err.startswith("westwood: --cc = ")
    assert "expected one" in called.err and called.err.count("\n") == 1
