# SPDX-License-Identifier: BSD-3-Clause
"""Each error in a scenario is one line: file, key, value and what was expected."""

from __future__ import annotations

import random
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from error_lines import without_line
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from westwood.errors import InputError
from westwood.scenario import Scenario

SMALL = Path(__file__).parents[1].joinpath("small.toml").read_text(encoding="utf-8")
Change = tuple[str, str]  # a piece of the small scenario, and what stands in its place
RATE = 'expected a rate such as "2Mbps"'
LOSS = '{ kind = "uniform", rate = 0.005 }'
SWEEP = 'cc = "reno"\n[sweep]\n'
PROBLEMS: dict[str, tuple[Change, str]] = {
    "unknown key": (
        ('delay = "5ms"', 'dealy = "5ms"'),
        'bottleneck.dealy = "5ms": unknown key, did you mean "delay"?',
    ),
    "unknown key of the scenario": (
        ("seeds = 3", "seed = 3"),
        'seed = 3: unknown key, did you mean "seeds"?',
    ),
    "unknown key of a loss": (
        ("rate = 0.005", "rate = 0.005, burst = 3"),
        "bottleneck.loss.burst = 3: unknown key, expected one of: kind, on, rate",
    ),
    "impossible unit": (
        ('"2Mbps"', '"2Mbs"'),
        f'bottleneck.rate = "2Mbs": unknown unit "Mbs", {RATE}',
    ),
    "no unit": (('"2Mbps"', "2"), f"bottleneck.rate = 2: {RATE}"),
    "negative": (
        ('"2Mbps"', '"-2Mbps"'),
        f'bottleneck.rate = "-2Mbps": must not be negative, {RATE}',
    ),
    "too much": (
        ('"2Mbps"', '"2000Tbps"'),
        'bottleneck.rate = "2000Tbps": expected at least 1kbps and at most 1Tbps',
    ),
    "nan": (
        ("0.005", "nan"),
        'bottleneck.loss.rate = nan: expected a fraction from 0 to 1, such as 0.005 or "0.5%"',
    ),
    "inf": (
        ("0.005", "inf"),
        'bottleneck.loss.rate = inf: expected a fraction from 0 to 1, such as 0.005 or "0.5%"',
    ),
    "a start beyond the end": (
        ('cc = "westwood+"', 'cc = "westwood+"\nstart = "20s"'),
        'tcp.start = "20s": expected less than the duration, 20s',
    ),
    "zero duration": (
        ('"20s"', '"0s"'),
        'duration = "0s": expected more than 0s and at most 2246400s',
    ),
    "unknown protocol": (
        ('"westwood+"', '"westwod+"'),
        'tcp.cc = "westwod+": unknown protocol, did you mean "westwood+"?',
    ),
    "protocol of a wrong type": (
        ('"westwood+"', "7"),
        'tcp.cc = 7: expected a protocol such as "westwood+", or a table',
    ),
    "unknown profile": (
        ("seeds = 3", 'profile = "rcf"'),
        'profile = "rcf": unknown profile, did you mean "rfc"?',
    ),
    "unknown loss": (
        ('kind = "uniform"', 'kind = "unifrom"'),
        'bottleneck.loss.kind = "unifrom": unknown loss, did you mean "uniform"?',
    ),
    "unknown node": (
        ('to = "sink"', 'to = "sinc"'),
        'tcp.to = "sinc": no link has this node, did you mean "sink"?',
    ),
    "unconnected nodes": (
        ('["router", "sink"]', '["gateway", "sink"]'),
        'tcp.to = "sink": no links connect it to "source", where the flow comes from',
    ),
    "a link to itself": (
        ('["router", "sink"]', '["sink", "sink"]'),
        'bottleneck.between = ["sink", "sink"]: expected two different nodes',
    ),
    "a flow to itself": (
        ('to = "sink"', 'to = "source"'),
        'tcp.to = "source": expected another node than the flow comes from',
    ),
    "duplicate name": (
        ('name = "tcp"', 'name = "access"'),
        'name = "access": expected a name that no other link or flow has',
    ),
    "reserved name": (
        ('name = "tcp"', 'name = "duration"'),
        'name = "duration": is a key of the scenario itself, expected another name',
    ),
    "a name with a dot": (
        ('name = "tcp"', 'name = "t.c.p"'),
        't.c.p.name = "t.c.p": expected a name: letters, digits, _, - and +, '
        "not starting with a digit",
    ),
    "unknown queue": (
        ('"droptail", limit', '"rad", limit'),
        'bottleneck.queue.kind = "rad": unknown queue, did you mean "red"?',
    ),
    "a RED without thresholds": (
        ('"droptail", limit', '"red", limit'),
        "bottleneck.queue.min: is missing, expected 0 to 1e+09 packets",
    ),
    "RED's thresholds": (
        ('"droptail", limit', '"red", min = 5.5, max = 5.5, limit'),
        "bottleneck.queue.max = 5.5: expected more than min, 5.5",
    ),
    "fading without a rate": (
        (LOSS, '{ kind = "markov", good = "8s", bad = "4s" }'),
        "bottleneck.loss.bad_rate: is missing, expected a fraction from 0 to 1, "
        'such as 0.005 or "0.5%"',
    ),
    "a state of no time": (
        (LOSS, '{ kind = "blackout", good = "0s", bad = "1s" }'),
        'bottleneck.loss.good = "0s": expected at least 1us and at most 2246400s',
    ),
    "no file of lost packets": (
        (LOSS, '{ packets = "none.txt" }'),
        'bottleneck.loss.packets = "none.txt": no such file',
    ),
    "not a file of numbers": (
        (LOSS, '{ packets = "small.toml" }'),
        'bottleneck.loss.packets = "small.toml": expected a whole number '
        'in line 3, column 1, found "name = "small""',
    ),
    "a recorded rate in one direction": (
        ('rate = "2Mbps"', "trace = { forward = [1, 2] }"),
        "bottleneck.rate: is missing, and trace does not give the rates of both directions",
    ),
    "times that go back": (
        ('rate = "2Mbps"', 'rate = "2Mbps"\ntrace = { forward = [2, 1] }'),
        "bottleneck.trace.forward = 1: expected ascending times in ms from 0",
    ),
    "a datagram source with windows": (
        ('cc = "westwood+"', 'cc = "reno"\napp = { kind = "udp", rate = "1Mbps" }'),
        'tcp.cc = "reno": expected "udp", as its app is',
    ),
    "a protocol that is none": (
        ('cc = "westwood+"', 'cc = "udp"'),
        'tcp.cc = "udp": expected a protocol, since its app is "bulk"',
    ),
    "on without off": (
        ('cc = "westwood+"', 'app = { kind = "udp", rate = "1Mbps", on = "2s" }'),
        "tcp.app.off: is missing: a source has both on and off, or neither",
    ),
    "unknown app": (
        ('cc = "westwood+"', 'cc = "reno"\napp = "ftp"'),
        'tcp.app.kind = "ftp": unknown app, expected one of: bulk, udp',
    ),
    "two sizes": (
        (
            'cc = "westwood+"',
            'cc = "reno"\nsize = "1MB"\narrivals = { every = "1s", size = "1kB" }',
        ),
        'tcp.size = "1000000B": expected none, since arrivals has a size',
    ),
    "a cte below one": (
        ('"westwood+"', '{ name = "westwoodnr+", cte = 0.5 }'),
        "tcp.cc.cte = 0.5: expected 0 (none) or from 1 to 65",
    ),
    "unknown recovery": (
        ('cc = "westwood+"', 'cc = "reno"\nrecovery = "ppr"'),
        'tcp.recovery = "ppr": expected "tahoe", "reno", "newreno", "sack", '
        '"rate-halving" or "prr"',
    ),
    "missing key": (
        ('rate = "2Mbps"\n', ""),
        "bottleneck.rate: is missing, expected 1kbps to 1Tbps",
    ),
    "missing protocol": (
        ('cc = "westwood+"', ""),
        'tcp.cc: is missing, expected a protocol such as "westwood+" '
        "(westwood list protocols shows all)",
    ),
    "missing delay": (
        ('delay = "5ms"\n', ""),
        "bottleneck.delay: is missing, expected 0s to 3600s",
    ),
    "missing rate of losses": (
        ('kind = "uniform", rate = 0.005', 'kind = "uniform"'),
        "bottleneck.loss.rate: is missing, expected a fraction from 0 to 1, "
        'such as 0.005 or "0.5%"',
    ),
    "missing rate of datagrams": (
        ('cc = "westwood+"', 'app = { kind = "udp" }'),
        'tcp.app.rate: is missing, expected a rate such as "2Mbps"',
    ),
    "wrong type": (("seeds = 3", 'seeds = "3"'), 'seeds = "3": expected a whole number'),
    "too few seeds": (("seeds = 3", "seeds = 0"), "seeds = 0: expected at least 1"),
    "a fraction of an ACK": (
        ('cc = "westwood+"', 'cc = "reno"\ndelayed_ack = 1.5'),
        "tcp.delayed_ack = 1.5: expected a whole number",
    ),
    "a packet without payload": (
        ('cc = "westwood+"', 'cc = "reno"\npacket = "40B"'),
        'tcp.packet = "40B": expected more than the header of 40B',
    ),
    "an empty queue": (
        ('"50p"', '"0p"'),
        'bottleneck.queue.limit = "0p": expected at least one packet or byte and at most 2^30',
    ),
    "not a list": (
        ("[[flow]]", "[flow]"),
        'flow = { name = "tcp", from = "source", to = "sink", cc = "westw...: '
        "expected a list: write [[flow]], not [flow]",
    ),
    "a bad swept value": (
        ('cc = "westwood+"', f'{SWEEP}"bottleneck.rate" = ["1Mbp"]'),
        f'bottleneck.rate = "1Mbp": unknown unit "Mbp", {RATE}',
    ),
    "a bad swept key": (
        ('cc = "westwood+"', f'{SWEEP}"bottlenek.rate" = ["1Mbps"]'),
        'bottlenek.rate = "1Mbps": no such setting, did you mean "bottleneck.KEY"?',
    ),
}


@pytest.mark.parametrize("case", PROBLEMS)
def test_problems(case: str, small_file: Path, westwood: Callable[..., Any]) -> None:
    (old, new), problem = PROBLEMS[case]
    assert old in SMALL
    small_file.write_text(new.join(SMALL.rsplit(old, 1)), encoding="utf-8")
    before = sorted(small_file.parent.iterdir())
    called = westwood("run", small_file, "--out", "results", "--plot")
    assert called.code == 2
    first = without_line(called.err, small_file).splitlines()[0]
    assert first == f"westwood: {small_file}: {problem}"
    assert called.out == ""
    assert sorted(small_file.parent.iterdir()) == before, "nothing may be written"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"name = ", "is not TOML: Invalid value (at end of document)"),
        (b"\xff\xfe", "is not TOML: byte 1 is not UTF-8"),
        (b"a = 2013-13-45", "is not TOML: "),
        (b"a = " + b"[" * 20000, "is nested too deeply"),
        (b"", "name: is missing"),
        (b"a = 0x" + b"f" * 9000, "a = (a value too large to print): unknown key, "),
    ],
    ids=["syntax", "encoding", "date", "depth", "empty", "huge number"],
)
def test_files_that_are_no_scenario(content: bytes, problem: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.toml"
    file.write_bytes(content)
    with pytest.raises(InputError) as error:
        Scenario.from_toml(file)
    assert re.sub(r":1: ", ": ", str(error.value)).startswith(f"{file}: {problem}")
    assert "\n" not in str(error.value)


def test_missing_file_and_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"gone\.toml: no such file$"):
        Scenario.from_toml(tmp_path / "gone.toml")
    with pytest.raises(InputError, match=r"is a folder, expected a file$"):
        Scenario.from_toml(tmp_path)
    with pytest.raises(InputError):
        Scenario.from_toml("a\0b.toml")


def read(path: Path, text: str) -> None:
    """Reads a text as a scenario: it is one, or the error is one line."""
    path.write_text(text, encoding="utf-8", errors="surrogatepass")
    try:
        for _ in Scenario.from_toml(path).points():
            pass
    except InputError as error:
        assert "\n" not in str(error)
        assert len(str(error)) < 500 + len(str(path))


FUZZ = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
VALUES = st.sampled_from(
    [
        "nan",
        "-inf",
        "-1",
        "0",
        "1e400",
        "true",
        '""',
        '"2Mbps"',
        '"-1s"',
        '"1e9h"',
        '"x"',
        "[]",
        "{}",
        "[[]]",
        "1979-05-27",
        "99999999999999999999999",
        '"\\u0000"',
        '"unlimited"',
        '"0p"',
        '{ kind = "none" }',
        '{ name = "reno" }',
        '["a", "b"]',
        '"a.b"',
        "0.5",
        '"100%"',
        "''",
    ]
)


@FUZZ
@given(text=st.text(max_size=200))
def test_any_text(text: str, tmp_path: Path) -> None:
    read(tmp_path / "fuzz.toml", text)


@FUZZ
@given(seed=st.integers(0, 2**32), value=VALUES)
def test_any_value_for_any_key(seed: int, value: str, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    lines = SMALL.splitlines()
    place = chosen.choice([n for n, line in enumerate(lines) if "=" in line])
    lines[place] = f"{lines[place].split('=')[0]} = {value}"
    read(tmp_path / "fuzz.toml", "\n".join(lines))


@FUZZ
@given(seed=st.integers(0, 2**32), noise=st.text(max_size=5))
def test_any_mutation_of_the_text(seed: int, noise: str, tmp_path: Path) -> None:
    chosen = random.Random(seed)
    start = chosen.randrange(len(SMALL))
    end = min(len(SMALL), start + chosen.randrange(12))
    read(tmp_path / "fuzz.toml", SMALL[:start] + noise + SMALL[end:])


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3)
    ),
    max_leaves=6,
)
KEYS = st.sampled_from(
    ["link", "flow", "sweep", "name", "duration", "profile", "self", "_given", ""]
)


@FUZZ
@given(changes=st.dictionaries(KEYS, JSON, max_size=3))
def test_any_keywords(changes: dict[str, Any]) -> None:
    try:
        Scenario(**{**tomllib.loads(SMALL), **changes})
    except InputError as error:
        assert "\n" not in str(error)


@FUZZ
@given(
    key=st.sampled_from(
        [
            "tcp",
            "tcp.",
            ".",
            "tcp.cc",
            "tcp.cc.name",
            "bottleneck.loss",
            "a.b.c",
            "tcp.cc.name.x",
            "bottleneck.queue.limit.x",
            "link",
            "sweep",
            "",
        ]
    ),
    value=JSON,
)
def test_any_setting(key: str, value: Any, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text(SMALL)
    try:
        Scenario.from_toml(path).with_settings({key: value})
    except InputError as error:
        assert "\n" not in str(error)
