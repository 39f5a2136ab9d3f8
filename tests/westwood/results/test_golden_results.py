# SPDX-License-Identifier: BSD-3-Clause
"""A run has the same results in every version: its rows, its traces and its figures' data.

tests/golden/results/ has rows in full and digests of longer tables; `make golden` writes them. A
difference changes published results: name it in CHANGELOG.md.
"""

import dataclasses
import json
import math
from functools import cache
from typing import Any

import polars as pl
import pytest
from golden_files import assert_golden, digest

from westwood import Scenario, simulate
from westwood.engines import run_figures
from westwood.engines.export import ns3
from westwood.engines.result import Result
from westwood.errors import InputError
from westwood.results.metrics import means
from westwood.results.rows import uniform_rows
from westwood.scenario import summary
from westwood.scenario.preset_files import presets

_COST = ("cpu_s", "wall_s", "scenario")  # differ in each run, or with the version
RED = {"kind": "red", "limit": "40p", "min": 4, "max": 20, "weight": 0.02, "ecn": True}
MIXED: dict[str, Any] = {
    "name": "mixed",
    "duration": "12s",
    "profile": "linux",
    "link": [
        {"name": "near", "between": ["a", "b"], "rate": "6Mbps", "delay": "5ms", "queue": RED},
        {
            "name": "far",
            "between": ["b", "c"],
            "rate": "4Mbps",
            "delay": "20ms",
            "jitter": "1ms",
            "queue": {"limit": "20p"},
            "loss": {"rate": 0.005},
            "overhead": "20B",
        },
        {
            "name": "radio",
            "between": ["b", "d"],
            "rate": "8Mbps",
            "delay": "10ms",
            "trace": {"forward": [1, 3, 3, 8, 20]},
            "loss": {"kind": "markov", "good": "2s", "bad": "50ms", "bad_rate": 0.3},
        },
    ],
    "flow": [
        {"name": "own", "from": "a", "to": "c", "cc": "westwood+", "ecn": True},
        {"name": "late", "from": "a", "to": "d", "cc": "cubic", "start": "2s", "stop": "9s"},
        {"name": "back", "from": "c", "to": "a", "cc": "bbr", "count": 2, "start_spread": "1s"},
        {"name": "file", "from": "a", "to": "c", "cc": "sack", "size": "100kB"},
        {"name": "udp", "from": "b", "to": "c", "app": {"kind": "udp", "rate": "300kbps"}},
        {
            "name": "web",
            "from": "a",
            "to": "d",
            "cc": "newreno",
            "arrivals": {"every": "400ms", "size": "15kB"},
        },
    ],
}


@cache
def result() -> Result:
    return simulate(Scenario(**MIXED), 3, trace=True, queues=True, events=True)


def plain(value: Any) -> Any:
    """Returns a value for JSON: numbers with nine digits, and words for those that JSON lacks."""
    if isinstance(value, float):
        return float(f"{value:.9g}") if math.isfinite(value) else str(value)
    return value if isinstance(value, int | str | None) else str(value)


def rows_of(frame: pl.DataFrame) -> list[dict[str, Any]]:
    return [{key: plain(value) for key, value in row.items()} for row in frame.to_dicts()]


def told(frame: pl.DataFrame) -> list[Any]:
    """Returns a table's columns, its length, its sums and a digest of its cells."""
    numbers = [name for name in frame.columns if frame[name].dtype.is_numeric()]
    sums = frame.select(pl.col(numbers).cast(pl.Float64).fill_nan(0).sum()).row(0)
    shown = dict(zip(numbers, map(plain, sums), strict=True))
    return [frame.columns, frame.height, shown, digest(rows_of(frame))]


def test_the_rows_of_a_run():
    rows = {row["flow"]: row for row in rows_of(result().rows.drop(_COST))}
    assert_golden("results/rows", rows)


def test_the_means_of_several_runs():
    rows = [row for seed in (1, 2, 3) for row in simulate(Scenario(**MIXED), seed).flow_rows]
    numbers = [key for key in rows[0] if key not in (*_COST, "engine", "flow", "cc", "seed")]
    mean_rows = means(uniform_rows(rows), ["cc"], numbers)
    assert_golden(
        "results/means",
        {row["cc"]: {key: plain(value) for key, value in row.items()} for row in mean_rows},
    )


@pytest.mark.parametrize("name", ["trace", "events", "queues", "drops", "links", "transfers"])
def test_the_tables_of_a_run(name):
    assert_golden(f"results/{name}", {name: told(getattr(result(), name))})


def test_samples_at_equal_times():
    samples = {f"{every_s} s": told(result().sampled(every_s)) for every_s in (0.1, 0.7)}
    assert_golden("results/sampled", samples)


def test_the_data_of_a_figure():
    """The panel shows the busiest link, and a span of the run if one is asked for."""

    def shown(panel: Any) -> dict[str, Any]:
        fields = {field.name: getattr(panel, field.name) for field in dataclasses.fields(panel)}
        return {
            key: told(value) if isinstance(value, pl.DataFrame) else value
            for key, value in fields.items()
        }

    spans = {"whole": (0.0, 12.0), "middle": (4.0, 7.5), "chosen": None}
    curves = {name: shown(run_figures.panel_of(result(), span)) for name, span in spans.items()}
    assert_golden("results/panel", json.loads(json.dumps(curves)))


def _program(scenario: Scenario) -> str:
    try:
        return digest(ns3.program(scenario).encode())
    except InputError as error:
        return str(error)


def test_scenarios_in_words_files_and_programs():
    texts = {}
    for scenario in (Scenario(**MIXED), *map(Scenario.preset, presets())):
        texts[scenario.name] = {
            "words": summary.summarise(scenario),
            "page": digest(summary.html(scenario).encode()),
            "file": digest(scenario.to_toml().encode()),
            "program": _program(scenario),
        }
    assert_golden("results/scenarios", texts)
