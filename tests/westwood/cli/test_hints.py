# SPDX-License-Identifier: BSD-3-Clause
"""An option that a command lacks is answered with the one that does it."""

import json

import pytest


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
