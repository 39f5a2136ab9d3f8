# SPDX-License-Identifier: BSD-3-Clause
"""The page's rows equal the command line's, bit for bit, for its TOML file and its command."""

import json
import math
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from westwood.results.columns import LOST_ON
from westwood.scenario import presets

COSTS = {"scenario", "engine", "cpu_s", "wall_s"}  # differ between engines
PATH = """
name = "mine"
duration = "20s"
{more}
[[link]]
name = "wire"
between = ["a", "b"]
rate = "3Mbps"
delay = "20ms"
{link}
[[flow]]
name = "tcp"
from = "a"
to = "b"
cc = "westwood+"
{flow}
"""
UDP = """
[[flow]]
name = "noise"
from = "a"
to = "b"
app = { kind = "udp", rate = "1Mbps", on = "2s", off = "1s", durations = "exponential",
        spacing = "exponential" }
"""
OTHERS = {
    "red": ('queue = { kind = "red", limit = "1bdp", min = 3, max = 9, max_p = "10%" }', "", ""),
    "ecn": (
        'queue = { kind = "red", limit = "60p", min = 3, max = 9, ecn = true, gentle = true }',
        "ecn = true",
        "",
    ),
    "states": (
        'loss = { kind = "markov", good = "2s", bad = "0.5s", bad_rate = "20%", on = "both" }',
        "count = 3",
        "",
    ),
    "bits": ('loss = { kind = "bits", rate = 1e-6 }\njitter = "2ms"\noverhead = "18B"', "", ""),
    "script": ("loss = { packets = [5, 6, 7, 400] }", 'size = "1MB"\nstart = "0.25s"', ""),
    "reordered": (
        'reorder = { rate = "1%", delay = "15ms" }\nqueue = { limit = "0.5bdp" }',
        'cc = { name = "cubic", slow_start = "standard" }',
        "",
    ),
    "arrivals": ("", 'arrivals = { every = "0.4s", size = "40kB", sizes = "exponential" }', ""),
    "rate": ("", 'app = { kind = "rate", rate = "1Mbps" }\ncount = 2', ""),
    "request": (
        "",
        'app = { kind = "request", size = "9kB", sizes = "exponential", think = "1s" }\ncount = 2',
        "",
    ),
    "video": ("", 'app = { kind = "video", ladder = ["1Mbps", "2Mbps"] }\nstop = "18s"', ""),
    "udp": ('queue = { limit = "64KiB" }', 'stop = "15s"\ndelayed_ack = 4', UDP),
    "linux": ("", 'cc = "bbr"', 'profile = "linux"'),
    "timed": ('queue = { limit = "60ms" }', "", ""),
    "wide": ('queue = { limit = "unlimited" }', 'cc = "westwood-cubic"\nrecovery = "sack"', ""),
}


def scenario(name: str) -> str:
    """Returns a scenario that is not a preset."""
    link, flow, more = OTHERS[name]
    text = PATH.format(link=link, flow=flow, more="" if more == UDP else more)
    if "cc = " in flow:
        text = text.replace('cc = "westwood+"\n', "")
    return text + (UDP if more == UDP else "")


def figures(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Returns the rows without costs, sweep columns and losses by link, and with NaN as null."""
    return [
        {
            key: None if isinstance(value, float) and math.isnan(value) else value
            for key, value in row.items()
            if key not in COSTS and "." not in key and not key.startswith(LOST_ON)
        }
        for row in rows
    ]


def check_rows(page: Any, westwood: Callable[..., Any], folder: Path) -> None:
    """Compares the page's rows with those of its TOML file and its command."""
    state = page.evaluate("lab.state")
    file = folder / f"{state['scenario']['name']}.toml"
    file.write_text(page.evaluate("lab.toml"), encoding="utf-8")
    ours = figures(page.evaluate("lab.rows"))
    for command in {f"westwood run {file.name} --seeds 1 --json", page.evaluate("lab.command")}:
        words = [str(file) if word == file.name else word for word in shlex.split(command)]
        assert ours == figures(json.loads(westwood(*words[1:]).printed())["runs"]), command


@pytest.mark.parametrize("name", presets())
def test_the_page_runs_every_preset_as_the_command_line_does(one_page, westwood, tmp_path, name):
    one_page.evaluate(f"lab.openPreset({json.dumps(name)})")
    for change in ("scenario.duration = '60s'", "lines.splice(2)"):
        one_page.evaluate(
            f"(() => {{ const next = lab.state; next.{change}; return lab.open(next); }})()"
        )
    check_rows(one_page, westwood, tmp_path)


@pytest.mark.parametrize("name", OTHERS)
def test_the_page_runs_any_scenario_as_the_command_line_does(one_page, westwood, tmp_path, name):
    one_page.evaluate(f"lab.openToml({json.dumps(scenario(name))})")
    check_rows(one_page, westwood, tmp_path)


def test_a_preset_runs_at_its_full_length(opened, westwood, tmp_path):
    check_rows(opened("#preset=table1"), westwood, tmp_path)
