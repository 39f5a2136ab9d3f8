# SPDX-License-Identifier: BSD-3-Clause
"""simulate and simulate_many accept scenarios by name or file, engines, and seeds."""

import copy
import multiprocessing
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from westwood import InputError, Scenario, UnavailableError, engines, simulate, simulate_many
from westwood.engines import ns2
from westwood.programs import system_program
from westwood.scenario.stacks import STACKS

SHORT = Scenario.preset("table1").with_settings({"duration": "5s"})


def in_ns2(**settings: Any) -> Scenario:
    """A path that ns-2 can also run."""
    data = SHORT.with_settings({"profile": "ns2-2005", "tcp.cc": "reno", **settings})
    return data.with_settings({"tcp.recovery": "reno"})


def test_a_preset_by_its_name_is_that_scenario():
    named = simulate("fig5", 3)
    assert named.scenario == Scenario.preset("fig5")
    assert named.rows.drop("cpu_s", "wall_s").equals(
        simulate(Scenario.preset("fig5"), 3).rows.drop("cpu_s", "wall_s")
    )


@pytest.mark.parametrize("as_path", [str, Path])
def test_a_file_by_its_name_is_that_scenario(as_path, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(SHORT.to_toml(), encoding="utf-8")
    assert simulate(as_path(file)).scenario == SHORT
    assert simulate_many(as_path(file), 2)["seed"].to_list() == [1, 2]


def test_a_mistake_in_a_file_is_named_with_its_line(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(SHORT.to_toml().replace('"5s"', '"5 parsecs"'), encoding="utf-8")
    with pytest.raises(InputError, match=r"mine\.toml:2: duration = \"5 parsecs\": unknown unit"):
        simulate(file)


@pytest.mark.parametrize(
    ("seeds", "run"),
    [
        (3, [1, 2, 3]),
        (np.int64(2), [1, 2]),
        ([7, 5], [7, 5]),
        (range(4, 6), [4, 5]),
        (np.arange(2), [0, 1]),
        (None, [1, 2, 3, 4]),
    ],
)
def test_seeds_are_a_number_or_a_list(seeds, run):
    chosen = SHORT.with_settings({"seeds": 4})
    assert simulate_many(chosen, seeds)["seed"].to_list() == run


def test_a_seed_given_twice_is_an_error():
    with pytest.raises(InputError, match=r"^seeds = 7: expected each seed once$"):
        simulate_many(SHORT, [5, 7, 7])


def test_a_sweep_comes_in_order_with_its_columns_first():
    rows = simulate_many(SHORT.with_sweep({"tcp.cc": ["reno", "cubic"]}), 2)
    assert rows.columns[0] == "tcp.cc"
    assert rows.select("tcp.cc", "seed").rows() == [
        ("reno", 1),
        ("reno", 2),
        ("cubic", 1),
        ("cubic", 2),
    ]


@pytest.mark.parametrize("engine", engines.NAMES)
def test_an_engine_runs_it_or_says_what_is_missing(engine):
    """Tests every name of --engine; the message is the command line's."""
    try:
        expected = engines.find(engine)
    except UnavailableError as error:
        with pytest.raises(UnavailableError) as missing:
            simulate(SHORT, engine=engine)
        assert str(missing.value) == str(error)
        return
    settings = {"profile": expected.profile} if expected.profile else {}
    if engine in STACKS:
        settings["tcp.packet"] = "1500B"  # QUIC's are larger than SHORT's
    chosen = SHORT.with_settings({"duration": "1s", **settings, "tcp.cc": "reno"})
    if engine == "ns2":
        chosen = in_ns2(duration="1s")
    assert simulate(chosen, engine=engine).rows["engine"].to_list() == [engine]
    assert simulate_many(chosen, 1, engine=engine)["engine"].to_list() == [engine]


@pytest.mark.skipif(not system_program("ns"), reason=f"no ns-2: {ns2.REMEDY}")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"events": True}, "events: works only in the simulator"),
        ({"capture": "access"}, "capture: works only in the simulator"),
        ({"interval_s": 0.1}, "interval_s = 0.1: works only in the simulator"),
        ({"trace": True}, 'engine = "ns2": ns-2 gives no trace'),
    ],
)
def test_what_an_engine_lacks_is_named_as_the_argument(arguments, message):
    with pytest.raises(InputError) as error:
        simulate(in_ns2(), engine="ns2", **arguments)
    assert str(error.value).startswith(message)


@pytest.mark.skipif(not system_program("ns"), reason=f"no ns-2: {ns2.REMEDY}")
def test_a_point_that_an_engine_cannot_run_is_refused_before_any_run():
    swept = in_ns2(duration="600h").with_sweep({"bottleneck.overhead": ["0B", "2B"]})
    with pytest.raises(InputError, match="engine ns2 expects 0B"):
        simulate_many(swept, 1, engine="ns2", check_resources=False)


def test_check_resources_is_skipped_where_it_is_false(monkeypatch):
    monkeypatch.setattr("westwood.engines.machine.free_memory", lambda: 1e6)
    large = SHORT.with_settings({"duration": "1s", "tcp.count": 5000})
    for run in (simulate, simulate_many):
        with pytest.raises(InputError, match="check_resources=False"):
            run(large, 1)
        assert run(large, 1, check_resources=False) is not None


def test_a_result_can_be_pickled_so_that_processes_can_make_it():
    """What was recorded goes along."""
    result = simulate("sawtooth", trace=True, events=True, queues=True)
    again = pickle.loads(pickle.dumps(result))
    for name in ("rows", "trace", "events", "queues", "drops", "links", "transfers", "messages"):
        assert getattr(again, name).equals(getattr(result, name)), name
    assert repr(copy.deepcopy(again)) == repr(result)
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        (there,) = pool.map(simulate, ["sawtooth"])
    assert there.rows.drop("cpu_s", "wall_s").equals(result.rows.drop("cpu_s", "wall_s"))
