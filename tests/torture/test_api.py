# SPDX-License-Identifier: BSD-3-Clause
"""Any argument to a public function gives a result or one of our errors, in a short time."""

import io
import itertools
import random
import time
from collections import UserDict, deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import westwood
from westwood import (
    InputError,
    Result,
    Results,
    RunError,
    Scenario,
    WestwoodError,
    paired,
    plot_means,
    simulate,
    simulate_many,
    summarise,
)
from westwood.experiments.experiment import plan

LONGEST_S = 5.0
LONGEST_MESSAGE = 1500


class Hostile:
    """Raises on any access."""

    def __repr__(self) -> str:
        raise RuntimeError("no")

    def __index__(self) -> int:
        raise OSError("no")

    def __fspath__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


def nested(depth: int) -> list[Any]:
    inner: list[Any] = []
    for _ in range(depth):
        inner = [inner, inner]
    return inner


def cyclic() -> dict[str, Any]:
    table: dict[str, Any] = {}
    table["link"] = [table]
    return table


MADE: list[Callable[[], Any]] = [
    lambda: itertools.count(),
    lambda: (letter for letter in "abc"),
    lambda: nested(30),
    lambda: nested(5000),
    cyclic,
    io.BytesIO,
    Hostile,
]
VALUES: list[Any] = [
    *(None, True, False, 0, -1, 1, 2, 2**31, 2**63, 2**64, -(2**64), 10**400, 10**5000),
    *(0.0, -0.0, 0.5, 1.5, -1.0, 1e-320, 1e300, float("nan"), float("inf"), -float("inf"), 1j),
    *("", "a", "bulk", "wset", "westwood+", "table1", "table2", "1s", "-1s", "nan", "10p", "2%"),
    *("é", "\0", "\n", "\ud800", "a" * 10**6, "a." * 10**5, "../../x", "/", ".", "-", "/dev/zero"),
    *(b"", b"a", b"\xff", bytearray(b"a"), memoryview(b"a"), [], [1], [None], ["a", 1], (), (1, 2)),
    *({}, {"a": 1}, {1: 2}, {"name": None}, {"kind": []}, set(), {1}, frozenset("a"), deque([1])),
    *(range(3), range(10**12), slice(1), ..., NotImplemented, object(), object, int, len, io),
    *(Path(), Path("none.toml"), Path("/dev/zero"), Decimal(1), Decimal("nan"), Fraction(1, 3)),
    *(np.int64(3), np.uint8(1), np.float32(0.5), np.float64("nan"), np.bool_(True), np.str_("a")),
    *(np.arange(3), np.zeros((2, 2)), np.array(None), np.datetime64("2020-01-01"), np.array([])),
    *(pl.DataFrame(), pl.Series([1]), pl.col("a"), UserDict(a=1), Exception("a"), InputError("a")),
]
SCENARIO = Scenario.preset("table1").with_settings({"duration": "1s", "seeds": 1})
KEYS = ["name", "duration", "seeds", "profile", "link", "flow", "sweep", "tcp", "*.cc", "tcp.cc"]
KEYS += ["tcp.count", "tcp.app", "tcp.arrivals", "tcp.size", "tcp.ecn", "tcp.start", "tcp.cc.name"]
KEYS += ["bottleneck.loss", "bottleneck.loss.rate", "bottleneck.trace", "bottleneck.queue", "*.app"]
KEYS += ["bottleneck.between", "bottleneck.loss.packets", "bottleneck.trace.forward", "tcp.packet"]


@pytest.fixture(scope="module")
def result() -> Result:
    return simulate(SCENARIO, trace=True, queues=True)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("results")
    words = f"run table1 --set duration=1s --seeds 2 --out {path}"
    assert westwood.cli.call(words.split()) == 0
    return path


def some(choices: random.Random) -> Any:
    count = len(VALUES) + len(MADE)
    place = choices.randrange(count)
    return VALUES[place] if place < len(VALUES) else MADE[place - len(VALUES)]()


def call(what: Callable[[], Any]) -> None:
    """Calls a function, which must return or raise one of our errors with one short line."""
    start = time.process_time()
    try:
        what()
    except WestwoodError as error:
        message = str(error)
        assert message and "\n" not in message and len(message) < LONGEST_MESSAGE
    assert time.process_time() - start < LONGEST_S


def calls(  # noqa: PLR0915 - it is a table
    choices: random.Random, result: Result, results: Results
) -> Iterator[Callable[[], Any]]:
    """Yields a call of each public function, with any value for one argument."""
    value = some(choices)
    option = choices.choice(
        ["seed", "trace", "interval_s", "events", "queues", "capture", "check_resources"]
    )
    key = choices.choice(KEYS)
    yield lambda: simulate(value)
    yield lambda: simulate(SCENARIO, **{option: value})
    yield lambda: simulate_many(value)
    yield lambda: simulate_many(SCENARIO, value)
    yield lambda: simulate_many(SCENARIO, [value])
    yield lambda: simulate_many(SCENARIO, workers=value)
    yield lambda: Scenario.preset(value)
    yield lambda: Scenario.load(value)
    yield lambda: Scenario.from_toml(value)
    yield lambda: Scenario(name=value)
    yield lambda: Scenario(**{**SCENARIO.resolved(), key.partition(".")[0]: value})
    yield lambda: SCENARIO.with_settings(value)
    yield lambda: list(SCENARIO.with_settings({key: value}).points())
    yield lambda: list(SCENARIO.with_settings({"sweep": {key: [value]}}).points())
    yield lambda: SCENARIO.with_settings({value if is_hashable(value) else "a": value})
    yield lambda: SCENARIO.to_files(value)
    yield lambda: SCENARIO.__eq__(value)
    yield lambda: summarise(value, "cc", "sent")
    yield lambda: summarise(result.rows, value, "sent")
    yield lambda: summarise(result.rows, "cc", value)
    yield lambda: paired(result.rows, value, "seed", "sent")
    yield lambda: paired(result.rows, result.rows, "seed", value)
    yield lambda: plot_means(value)
    yield lambda: plot_means(result.rows, value)
    yield lambda: result.sampled(value)
    yield lambda: Result(value, 1, result.flow_rows, result.raw).rows
    yield lambda: Result(SCENARIO, value, result.flow_rows, result.raw).rows
    yield lambda: Result(SCENARIO, 1, value, result.raw)
    yield lambda: Result(SCENARIO, 1, [], value).trace
    yield lambda: Results.read(value)
    yield lambda: results.pairs(value)
    yield lambda: results.write_page(value)
    yield lambda: results.command(value)
    yield lambda: Results(value, results.planned, results.rows)
    yield lambda: Results(results.path, value, results.rows)
    yield lambda: Results(results.path, results.planned, value)
    for kind in (InputError, RunError, WestwoodError):
        yield lambda kind=kind: str(kind(value))
    yield lambda: str(InputError("a", key=value, value=value, source=value))


def is_hashable(value: object) -> bool:
    try:
        hash(value)
    except Exception:
        return False
    return True


def test_any_argument_of_any_function(attack, result, folder):
    results = Results.read(folder)
    for choices in attack.rounds():
        for api_call in calls(choices, result, results):
            call(api_call)


def test_numpys_scalars_and_paths_are_as_good_as_pythons(tmp_path):
    seed = np.int64(3)
    assert simulate(SCENARIO, seed, trace=np.bool_(True)).seed == 3
    many = simulate_many(SCENARIO, np.arange(1, 3), workers=np.int8(1))
    assert many["seed"].to_list() == [1, 2]
    set_ = SCENARIO.with_settings({"bottleneck.loss.rate": np.float64(0.01), "seeds": np.int64(2)})
    assert set_ == SCENARIO.with_settings({"bottleneck.loss.rate": 0.01, "seeds": 2})
    for name, content in SCENARIO.to_files("one").items():
        (tmp_path / name).write_text(content, encoding="utf-8")
    for path in (tmp_path / "one.toml", str(tmp_path / "one.toml")):
        assert Scenario.from_toml(path) == Scenario.load(path) == SCENARIO
    assert plan(SCENARIO).runs == 1


@pytest.mark.parametrize(
    ("call_", "message"),
    [
        (lambda: simulate("tabel1"), 'scenario = "tabel1": neither a file nor'),
        (lambda: simulate(1), "scenario = 1: expected a Scenario, the name of a preset"),
        (lambda: simulate(SCENARIO, engine="ns4"), 'engine = "ns4": expected sim, ns3'),
        (lambda: simulate(SCENARIO, capture="wire"), 'capture = "wire": no such link'),
        (lambda: simulate(SCENARIO, 1.5), "seed = 1.5: expected a whole number"),
        (lambda: simulate(SCENARIO, trace="yes"), 'trace = "yes": expected True or False'),
        (lambda: simulate_many(SCENARIO, 0), "seeds = 0: expected a whole number from 1"),
        (lambda: simulate_many(SCENARIO, []), "seeds: expected at least one"),
        (lambda: simulate_many(SCENARIO, "3"), 'seeds = "3": expected a number of seeds'),
        (lambda: simulate_many(SCENARIO, workers=float("nan")), "workers = nan: expected a whole"),
        (lambda: Scenario.preset(None), "name = None: expected text"),
        (lambda: SCENARIO.with_settings([1]), "(list) "),
    ],
)
def test_an_error_names_the_argument(call_, message):
    with pytest.raises(InputError) as error:
        call_()
    assert str(error.value).startswith(message) or message == "(list) "
