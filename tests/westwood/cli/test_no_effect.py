# SPDX-License-Identifier: BSD-3-Clause
"""What would have no effect, and what the engine would refuse, is refused by file and key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from error_lines import without_line

from westwood.errors import InputError
from westwood.scenario import Scenario

SMALL = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")
PROBLEMS: dict[str, tuple[tuple[str, str], str]] = {
    "a size of datagrams": (
        ('cc = "westwood+"', 'app = { kind = "udp", rate = "1Mbps" }\nsize = "1MB"'),
        'tcp.size = "1MB": has no effect on datagrams, expected none',
    ),
    "a window of datagrams": (
        ('cc = "westwood+"', 'app = { kind = "udp", rate = "1Mbps" }\nreceive_window = "1MB"'),
        'tcp.receive_window = "1MB": has no effect on datagrams, expected none',
    ),
    "durations of a source that is always on": (
        (
            'cc = "westwood+"',
            'app = { kind = "udp", rate = "1Mbps", durations = "exponential" }',
        ),
        'tcp.app.durations = "exponential": has no effect on a source that is always on, '
        "expected on and off too",
    ),
    "a rate that no direction has": (
        ('rate = "2Mbps"', 'rate = "2Mbps"\ntrace = { forward = [1], backward = [1] }'),
        'bottleneck.rate = "2Mbps": has no effect with a trace of both directions, expected none',
    ),
    "more transfers than there may be": (
        ('cc = "westwood+"', 'cc = "reno"\narrivals = { every = "1us", size = "1B" }'),
        'tcp.arrivals.every = "1us": expected at most 1048576 connections in all',
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_problems(case: str, small_file: Path, westwood: Callable[..., Any]) -> None:
    (old, new), problem = PROBLEMS[case]
    small_file.write_text(new.join(SMALL.rsplit(old, 1)), encoding="utf-8")
    called = westwood("run", small_file, "--out", "results", "--plot")
    first = without_line(called.err, small_file).splitlines()[0]
    assert (called.code, first) == (2, f"westwood: {small_file}: {problem}")
    assert sorted(small_file.parent.iterdir()) == [small_file], "nothing may be written"


def test_a_path_of_more_links_than_a_packet_can_count(
    tmp_path: Path, westwood: Callable[..., Any]
) -> None:
    link = '[[link]]\nname = "l{0}"\nbetween = ["n{0}", "n{1}"]\nrate = "1Mbps"\ndelay = "0s"\n'
    links = "".join(link.format(i, i + 1) + 'queue = { limit = "9p" }\n' for i in range(256))
    flow = '[[flow]]\nname = "{0}"\nfrom = "n0"\nto = "n{1}"\ncc = "reno"\n'
    (tmp_path / "long.toml").write_text(
        f'name = "long"\nduration = "1ms"\n{links}{flow.format("a", 255)}{flow.format("b", 256)}'
    )
    called = westwood("run", "long.toml", "--out", "results")
    problem = 'expected at most 255 links between it and "n0"'
    last = len((tmp_path / "long.toml").read_text().splitlines()) - 1
    said = f'westwood: long.toml:{last}: b.to = "n256": {problem}\n'
    assert (called.code, called.err) == (2, said)
    assert not (tmp_path / "results").exists(), "nothing may be written"


def test_a_setting_of_every_flow_passes_datagrams_over(small: Scenario) -> None:
    udp = {"name": "udp", "from": "source", "to": "sink", "app": {"kind": "udp", "rate": "1Mbps"}}
    data = small.resolved()
    both = Scenario(**{**data, "flow": [*data["flow"], udp]})
    window = {"*.receive_window": "1MB"}
    resolved = both.with_settings(window).resolved()
    assert "receive_window" not in resolved["flow"][1]
    assert Scenario(**resolved) == both.with_settings(window)
    alone = Scenario(**{**data, "flow": [udp]})
    with pytest.raises(InputError, match="has no effect on datagrams, and there is no other flow"):
        alone.with_settings(window)
    assert alone.with_settings({"*.packet": "100B"}).flow[0].packet == 100
