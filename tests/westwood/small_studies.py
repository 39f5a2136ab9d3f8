# SPDX-License-Identifier: BSD-3-Clause
"""Every command that keeps its finished runs and resumes, in its small form.

A row is attacked by the laws of tests/westwood/experiments/test_laws.py and by `make torture`. As a
program this runs a command line, and is killed after so many kept records:

    python small_studies.py 3 reproduce fig11 --out out
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from westwood import engines
from westwood.cli import call
from westwood.engines.simulator import SIMULATOR
from westwood.experiments import validation
from westwood.experiments.validation.grid import Grid, always, product
from westwood.papers.claims import claims
from westwood.papers.infer import result, space
from westwood.results.store import Store
from westwood.scenario import Scenario

SCENARIO = Path(__file__).with_name("small.toml").read_text(encoding="utf-8")
SWEPT = SCENARIO + '[sweep]\n"bottleneck.loss.rate" = [0.001, 0.01]\n'
COSTS = ("cpu_s", "wall_s")
_OF_A_RUN = re.compile(r"(created|commit)(\"|&#34;): [^\n]*")
GRID = Grid(
    says="two points",
    profile="ns3-3.44",
    protocols={"sack": {"recovery": "sack"}},
    points=product(rate=("2Mbps",), delay=("10ms",), loss=(0.0, 0.01)),
    length=always("1s"),
    seeds=2,
)


@dataclass(frozen=True)
class Small:
    """A command's small form, and the same with one option of another value."""

    words: str
    other: str
    writes: str = "index.html"  # a file of the whole result
    has_workers: bool = True


# Of each suite of `evaluate` some quick criteria, and the controls that they judge.
_SUITES: Mapping[str, tuple[str, str]] = {
    "basics": ("reno", "bursts"),
    "rfc9743": ("reno", "collapse"),
    "c4": ("reno", "c4-alone"),
    "prudentia": ("reno", "prudentia-share"),
    "regressions": ("reno", "low-rate"),
    "tcpeval": ("reno", "tcpeval-parking-lot"),
    "draft": ("bbr3 reno", "drain-inflight"),
    "check": ("scalable.c", "c11-gcc,one-segment,cubic-share --for 0s"),
    "shallow": ("reno", "shallow-fills"),
    "nsperf": ("reno", "nsperf-bufferbloat"),
    "slow-start": ("reno", "start-early"),
    "probe-rtt-interval": ("bbr3", "probe-rtt-fair"),
    "rfc7928": ("--queue codel", "aqm-beside-datagrams,aqm-capacity-use"),
}


def _of_suite(criteria: str, control: str) -> Small:
    words = f"evaluate {control} --quick --only {criteria}"
    return Small(words, f"{words} --seed 2", "answers.json")


STUDIES: Mapping[str, Small] = {
    "sweep": Small(
        "sweep swept.toml --seeds 3", "sweep swept.toml --seeds 3 --set duration=9s", "runs.parquet"
    ),
    **{suite: _of_suite(criteria, control) for suite, (control, criteria) in _SUITES.items()},
    "benchmark": Small(
        "evaluate reno --only clean --paths 4",
        "evaluate reno --only clean --paths 5",
        "runs.parquet",
    ),
    "validate": Small("validate", "validate --engine ns2"),
    "reproduce": Small("reproduce fig11", ""),
    "tune": Small(
        "control tune --cc westwood+ --vary filter --paths 30 --packets 2000 --trials 2",
        "control tune --cc westwood+ --vary filter --paths 30 --packets 2000 --trials 2 --seed 2",
        "best.json",
    ),
    "stress": Small(
        "control stress --cc westwood+ --harm idle --environments 60",
        "control stress --cc westwood+ --harm queue --environments 60",
        "findings.json",
    ),
    "infer": Small(
        "reproduce --infer linux-2003 --settings 48",
        "reproduce --infer linux-2003 --settings 48 --seed 2",
        "settings.parquet",
    ),
}


def contents(folder: Path) -> dict[str, str]:
    """Returns the files of a results folder without times, costs and what is not whole."""
    files = (file for file in sorted(folder.rglob("*")) if file.is_file())
    ignored = (".lock", "SHA256SUMS", ".jsonl")
    whole = (file for file in files if not file.name.endswith(ignored))
    return {str(file.relative_to(folder)): _content(file) for file in whole}


def _content(file: Path) -> str:
    if file.suffix == ".parquet":
        rows = pl.read_parquet(io.BytesIO(file.read_bytes()))
        return rows.drop(COSTS, strict=False).write_json()
    if file.suffix in (".json", ".html"):
        return _OF_A_RUN.sub("", file.read_text(encoding="utf-8"))
    return hashlib.sha256(file.read_bytes()).hexdigest()


def shrink(patch: Callable[[Any, str, Any], object], words: str) -> None:
    """Makes `validate` compare the simulator with itself on a small grid, and inferences short."""
    if "--infer" in words:
        shorten(patch)
    patch(validation, "chosen", lambda *_: {"first": GRID, "second": replace(GRID, seeds=3)})
    patch(engines, "find", lambda name: replace(SIMULATOR, name=name))


def shorten(patch: Callable[[Any, str, Any], object]) -> None:
    """Makes an inference's runs short and few, for one claim."""
    whole = Scenario.preset
    cut = staticmethod(lambda name: whole(name).with_settings({"duration": "4s"}))
    patch(Scenario, "preset", cut)
    patch(space.Open, "claims", property(lambda self: [claims()["linux.rate_halving"]]))
    runs = {"choosing": (1001, 1), "fresh": (2001, 2), "witness": (3001, 2)}
    patch(result, "_RUNS", runs)


def after(records: int, act: Callable[[], object]) -> Callable[[Store, Mapping[str, Any]], None]:
    """Returns a `Store.keep` that acts instead of keeping the record after so many."""
    keep, kept = Store.keep, 0

    def limited(self: Store, record: Mapping[str, Any]) -> None:
        nonlocal kept
        if kept == records:
            act()
        kept += 1
        keep(self, record)

    return limited


if __name__ == "__main__":
    shrink(setattr, " ".join(sys.argv[2:]))
    killed = after(int(sys.argv[1]), lambda: os.kill(os.getpid(), signal.SIGKILL))
    Store.keep = killed  # type: ignore[method-assign]
    sys.exit(call(sys.argv[2:]))
