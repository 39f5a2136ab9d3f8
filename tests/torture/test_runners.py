# SPDX-License-Identifier: BSD-3-Clause
"""Whatever a runner of an engine reports, it is a run of the scenario or one line."""

import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from one_link import one_link

from westwood import Scenario, simulate
from westwood.control import catalogue
from westwood.engines import linux, ns3, quic
from westwood.errors import WestwoodError
from westwood.programs import Program

# What could be measured but not by such a run is given as measured, with a warning.
pytestmark = pytest.mark.filterwarnings("ignore::westwood.errors.ImpossibleResult")
PROGRAMS: dict[str, tuple[Program, str]] = {
    "quinn": (quic.PROGRAM, "rfc"),
    "ns3": (ns3.PROGRAM, "ns3-3.44"),
    "linux": (linux.PROGRAM, "linux"),
}
TABLES = {
    "windows": ("connection", *catalogue.WINDOW_COLUMNS),
    "queues": ("channel", *catalogue.QUEUE_COLUMNS),
    "drops": tuple(catalogue.DROP_COLUMNS),
}
VALUES = (
    *("nan", "inf", "-inf", "-1", "-0", "0", "1", "3", "255", "256", "1e400", "1e-400", "1.5"),
    *("18446744073709551615", "9223372036854775807", "9223372036854775808", "9" * 5000),
    *("true", "x", "\u00e9", "\ufffd", "0x10", "1_000", ""),
)
HOW = (
    *("exit 0", "exit 0", "exit 0", "exit 1", "exit 77", "kill -SEGV $$"),
    *("echo 'control\tx' >&2; exit 1", "head -c 300 /dev/urandom >&2; exit 3", "sleep 9 & exit 0"),
    *("echo >&2; exit 1", "printf 'a\\rb\\033[2J' >&2; exit 1", "exec >&-; exit 0"),
)


def small(profile: str) -> Scenario:
    link = {"rate": "4Mbps", "queue": {"limit": "20p"}}
    return one_link("cubic", link=link, name="small", duration="2s", profile=profile)


def truth() -> tuple[list[str], dict[str, list[str]]]:
    """Returns the lines of a report and of a trace, which a run could have."""

    def numbers(columns: Any) -> str:
        counts = {
            name: place if column.type == "COUNT" else place / 8
            for place, (name, column) in enumerate(columns.items())
        }
        return " ".join(f"{name} {value}" for name, value in counts.items())

    sides = numbers(catalogue.DIRECTION_COLUMNS)
    report = [
        f"flow 0 {numbers(catalogue.FLOW_COLUMNS)}",
        "port 40000",
        f"link forward {sides}",
        f"link backward {sides}",
        "message connection 0 number 1 bytes 10 start_s 0.1 completed_s 0.2",
        "emulator overruns 0 refused 0 late_worst_s 0.001",
        "end 0.25",
    ]
    rows = {
        "windows": ["0,0.5,10,nan,nan,nan,0.1,0.2,1,9,2", "0,0.75,11,nan,nan,nan,nan,nan,1,9,0"],
        "queues": ["0,0.25,0.5,1500", "1,1.25,nan,40"],
        "drops": ["1.5,1,0,2,1", "1.75,0,0,0,0"],
    }
    return report, {name: [",".join(TABLES[name]), *lines] for name, lines in rows.items()}


def damaged(lines: list[str], choices: random.Random) -> bytes:
    """Returns lines with some words, lines or bytes changed."""
    lines = list(lines)
    for _ in range(choices.choice([0, 1, 1, 1, 2, 4])):
        line_number = choices.randrange(len(lines)) if lines else 0
        match choices.randrange(8):
            case 0 | 1 | 2 if lines:
                words = re.split(r"([ ,])", lines[line_number])
                words[choices.randrange(0, len(words), 2)] = choices.choice(VALUES)
                lines[line_number] = "".join(words)
            case 3 if lines:
                del lines[line_number]
            case 4 if lines:
                lines.insert(choices.randrange(len(lines) + 1), lines[line_number])
            case 5 if lines:
                lines[line_number] = lines[line_number][
                    : choices.randrange(len(lines[line_number]) + 1)
                ]
            case 6 if lines:
                words = re.split(r"([ ,])", lines[line_number])
                lines[line_number] = "".join([*words, *words[1:] * choices.choice([1, 1000])])
            case 7:
                lines.insert(
                    line_number, choices.choice(["", "\0", "é", "end 1", "flow", "link", "a,b,c"])
                )
    raw = "\n".join(lines).encode() + b"\n" * choices.choice([0, 1, 1, 1])
    if choices.random() < 0.2 and raw:
        line_number = choices.randrange(len(raw))
        raw = raw[:line_number] + choices.randbytes(choices.choice([1, 1, 100])) + raw[line_number:]
    return raw[: choices.randrange(len(raw) + 1)] if choices.random() < 0.1 else raw


class Liar:
    """A program that takes the place of an engine's runner."""

    def __init__(self, folder: Path) -> None:
        self.path, self._folder = folder / "liar", folder

    def become(self, choices: random.Random | None) -> None:
        """Becomes a liar, or the honest runner without choices."""
        report, tables = truth()
        for name, lines in {"report": report, **tables}.items():
            raw = damaged(lines, choices) if choices else "\n".join([*lines, ""]).encode()
            (self._folder / name).write_bytes(raw)
        self.path.write_text(
            f"""#!/bin/sh
[ "$1" = --name ] && {{ echo ww-quic; exit; }}
cd {self._folder}
while read word a b c; do
    [ "$word" = trace ] && cat windows > $a && cat queues > $b && cat drops > $c
    [ "$word" = end ] && break
done
cat report
{choices.choice(HOW) if choices else "exit 0"}
"""
        )
        self.path.chmod(0o755)


@pytest.fixture
def liar(tmp_path, monkeypatch) -> Liar:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))  # plans that are kept
    monkeypatch.setattr("westwood.programs._LINGERS_S", 0.1)
    liar_ = Liar(tmp_path)
    for program, _ in PROGRAMS.values():
        monkeypatch.setenv(program.variable, str(liar_.path))
    return liar_


def told(engine: str, trace: bool) -> str:
    """Returns the one line, or "" if the run was taken; everything of it can then be read."""
    try:
        result = RUNS[engine](small(PROGRAMS[engine][1]), 1, trace=trace)
    except WestwoodError as error:
        return str(error)
    frames = (
        result.rows,
        result.trace,
        result.queues,
        result.drops,
        result.links,
        result.transfers,
    )
    assert all(frame.columns for frame in frames) and repr(result)
    return ""


RUNS: dict[str, Callable[..., Any]] = {
    "quinn": lambda *args, **options: simulate(*args, engine="quinn", **options),
    "ns3": lambda *args, **options: simulate(*args, engine="ns3", **options),
    "linux": linux.run,  # without its check of the machine
}


@pytest.mark.parametrize("engine", PROGRAMS)
def test_a_runner_that_lies_is_one_line(engine, liar, attack):
    for choices in attack.rounds():
        liar.become(choices)
        message = told(engine, trace=choices.random() < 0.5)
        assert "\n" not in message and message.isprintable(), message
        for file in liar.path.parent.glob("westwood-*.plan"):
            file.unlink()


@pytest.mark.parametrize("engine", PROGRAMS)
def test_what_the_attacks_begin_with_is_taken(engine, liar):
    liar.become(None)
    assert told(engine, trace=True) == ""
