# SPDX-License-Identifier: BSD-3-Clause
"""Broken scenario files run, or give one line per mistake that names file and key."""

from __future__ import annotations

import os
import random
import re
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.errors import InputError
from westwood.scenario import Scenario

SHIPPED = sorted(Path(__file__).parents[2].joinpath("scenarios").glob("*.toml"))
SMALL = Path(__file__).parents[1].joinpath("westwood", "small.toml")
LONGEST_S = 10.0
MOST_BYTES = 1 << 30
MOST_LINES = 12  # mistakes of a file, and the count of further ones
TOKEN = re.compile(r'"[^"\n]*"|[A-Za-z_][\w.-]*|[0-9.]+|\S')
VALUE = re.compile(r'(?<== )("[^"\n]*"|[0-9][\w.]*|\{.*\}|\[.*\])|(?<=name = )"')
VALUES = r"""
nan inf -1 0 1 1e400 1e-17 -0.0 true "" "2Mbps" "-1s" "1e9h" "x" [] {} [[]] 1979-05-27
99999999999999999999999 "\u0000" "unlimited" "0p" "2246400s" "1ps" "1bps" "1Tbps" "100%" ''
0x10 "1GiB" ["a","b"] {kind="none"} {kind="udp",rate="1kbps"} {name="reno"} "a.b" 1_000
"/dev/zero" "udp" "hystart" {packets="/dev/zero"} {forward="/proc/self/mem"} {packets="."}
{rate=5e-324} {every="1us",size="1B"}
{every="1s",size="1kB"} {rate=0.1,delay="1s",on="both"} "65535B" 10000
[1,2,3] [0] [9223372036854775807] "1bdp" "0bdp" {limit="1bdp"} {limit="-1bdp"}
"""
KEYS = r"""
name between rate delay queue loss trace reorder jitter overhead from to cc recovery count app
arrivals size start stop start_spread packet header ecn duration seeds profile sweep link flow
min_rto max_rto receive_window initial_cwnd delayed_ack timestamps rack durations kind on
"""


def mutated(text: str, choices: random.Random) -> bytes:
    """Returns the text after some changes of its tokens, lines or bytes."""
    for _ in range(choices.choice([1, 1, 1, 2, 5])):
        tokens = list(TOKEN.finditer(text))
        lines = text.splitlines()
        where = choices.choice(tokens) if tokens else None
        place = choices.randrange(len(lines) + 1)
        match choices.choice(range(9)) if choices.random() < 0.3 else 9:
            case 9:
                values = list(VALUE.finditer(text)) or [re.compile("$").search(text)]
                one = choices.choice(values)
                assert one is not None
                text = text[: one.start()] + choices.choice(VALUES.split()) + text[one.end() :]
            case 0 if where:
                text = text[: where.start()] + choices.choice(VALUES.split()) + text[where.end() :]
            case 1 if where:
                text = text[: where.start()] + choices.choice(KEYS.split()) + text[where.end() :]
            case 2 if where:
                other = choices.choice(tokens)
                text = text[: where.start()] + other[0] + text[where.end() :]
            case 3:
                new = f"{choices.choice(KEYS.split())} = {choices.choice(VALUES.split())}"
                text = "\n".join([*lines[:place], new, *lines[place:]])
            case 4:
                text = "\n".join(lines[:place] + lines[place + 1 :])
            case 5:
                text = "\n".join(
                    [*lines[:place], *lines[max(0, place - 9) : place], *lines[place:]]
                )
            case 6:
                deep = choices.choice(["[", "{a=", "a.", '"a".', "[[", '"""', "'''", "\\", "#"])
                text = text.replace("=", "= " + deep * choices.choice([1, 10, 1000, 50_000]), 1)
            case 7:
                text = text.replace("\n", choices.choice(["\r\n", "\r", "\0\n", "\u2028", "\n\n"]))
            case _:
                at = choices.randrange(len(text) + 1)
                text = (
                    text[:at] + chr(choices.choice([0, 34, 127, 233, 0xFEFF, 0x1F600])) + text[at:]
                )
    encoding = choices.choice(["utf-8"] * 30 + ["utf-8-sig", "utf-16", "latin-1"])
    return text.encode(encoding, "replace")


def short(text: str) -> str:
    """Limits the scenario's runs to a second, since an attack has no time for more."""
    text = re.sub(r'^duration = "[^"]*"', 'duration = "1s"', text, flags=re.M)
    text = re.sub(r"^seeds = \d+", "seeds = 1", text, flags=re.M)
    return re.sub(r"^start = .*$", "", text.partition("[sweep]")[0], flags=re.M)


def test_mutated_scenario_files(
    attack: Any, westwood: Callable[..., Any], tmp_path: Path, monkeypatch: Any
) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "mutated.toml"
    limit = resource.getrlimit(resource.RLIMIT_AS)
    for choices in attack.rounds():
        content = mutated(short(choices.choice([*SHIPPED, SMALL]).read_text("utf-8")), choices)
        file.write_bytes(content)
        before = set(os.listdir(tmp_path))
        try:
            lasts = Scenario.from_toml(file)
            if lasts.duration > 10**13 or lasts.seeds * len(lasts.flows) > 100 or lasts.sweep:
                continue  # a valid scenario that takes long
        except InputError:
            pass
        start = time.process_time()
        resource.setrlimit(resource.RLIMIT_AS, (used() + MOST_BYTES, limit[1]))
        try:
            called = westwood("run", file, "--seeds", 1, "--out", "out")
        finally:
            resource.setrlimit(resource.RLIMIT_AS, limit)
        assert time.process_time() - start < LONGEST_S
        assert called.code in (0, 2), called.err
        if called.code == 2:
            check_lines(called.err.splitlines(), file)
            assert set(os.listdir(tmp_path)) == before, "nothing may be written"


def check_lines(lines: list[str], file: Path) -> None:
    """Expects one line per mistake, with the file and its line if known, and a limit on lines."""
    assert 0 < len(lines) <= MOST_LINES
    place = re.compile(rf"westwood: {re.escape(str(file))}(:\d+)?: .")
    for number, line in enumerate(lines, 1):
        is_last = number == len(lines) > 1 and re.fullmatch(
            r"westwood: and \d+ more such errors?", line
        )
        assert is_last or place.match(line), line
        assert len(line) < 1500 + len(str(file))


def used() -> int:
    """Returns this process's address space in bytes."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * resource.getpagesize()


def any_scenario(choices: random.Random) -> dict[str, Any]:
    """Draws a network of some links and flows, with values near the limits."""
    count = choices.choice([1, 2, 5, 254, 255, 256, 300])
    rates, delays = ["1kbps", "2Mbps", "1Tbps"], ["0s", "1ps", "45ms", "3600s"]
    times, many = ["1us", "1s", "2246400s"], ["1p", "100p", "1B", "unlimited", "1073741824p"]
    losses: dict[str, dict[str, Any]] = {
        "none": {},
        "uniform": {"rate": choices.choice([0, 5e-324, 1e-17, 0.5, 1])},
        "bits": {"rate": choices.choice([0, 5e-324, 1e-17, 0.5, 1])},
        "script": {"packets": sorted({choices.randrange(1, 2**63) for _ in range(3)})},
        "gilbert": {"p": choices.choice([0, 5e-324, 0.5, 1]), "r": choices.choice([0, 0.5, 1])},
        "markov": {"good": choices.choice(times), "bad": choices.choice(times), "bad_rate": 1},
        "blackout": {"good": choices.choice(times), "bad": choices.choice(["0s", *times])},
    }
    kind = choices.choice([*losses])
    link = {
        "rate": choices.choice(rates),
        "delay": choices.choice(delays),
        "queue": {"limit": choices.choice(many)},
        "loss": {"kind": kind, **losses[kind]},
        "overhead": choices.choice(["0B", "1000B"]),
    }
    flow: dict[str, Any] = {"from": "n0", "to": f"n{count}", "cc": choices.choice(["reno", "bbr"])}
    match choices.randrange(4):
        case 0:
            flow |= {"count": choices.choice([1, 10, 10_000])}
        case 1:
            flow |= {"arrivals": {"every": choices.choice(["1us", "10ms", "1s"]), "size": "1B"}}
        case 2:
            app = {"kind": "udp", "rate": choices.choice(rates), "on": "1us", "off": "2246400s"}
            flow = {**flow, "cc": "udp", "app": app}
    return {
        "name": "any",
        "duration": choices.choice(["1ps", "1s", "2s", "9s"]),
        "link": [
            {"name": f"l{i}", "between": [f"n{i}", f"n{i + 1}"], **link} for i in range(count)
        ],
        "flow": [{"name": "f", **flow}],
    }


def test_the_engine_refuses_no_scenario(attack: Any) -> None:
    """Bad input is rejected by file and key before the engine reads it."""
    for choices in attack.rounds():
        try:
            scenario = Scenario(**any_scenario(choices))
        except InputError as error:
            assert error.key
            continue
        shortest = scenario.with_settings({"duration": "1us"})
        run = simulator.prepare(Job(shortest, [1]))
        run(1)
