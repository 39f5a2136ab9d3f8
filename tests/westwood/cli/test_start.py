# SPDX-License-Identifier: BSD-3-Clause
"""A command starts with what it needs: others' libraries are imported where they are used."""

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest

from westwood import _engine
from westwood.cli.options import swept
from westwood.experiments import experiment
from westwood.scenario import Scenario, named_path

LIBRARIES = "cmaes distributed jinja2 matplotlib numpy optuna polars pydantic pyroute2 scipy xarray"
HEAVY = {"importlib.metadata", "rich.console", *LIBRARIES.split()}
# Runs a command line and says, as the last thing of all, what of this it has imported.
PROGRAM = f"""
import atexit, os, sys

end = os._exit

def tell(code=0):
    print(*(name for name in {sorted(HEAVY)} if name in sys.modules), file=sys.stderr, flush=True)
    end(code)

os._exit = tell
atexit.register(tell)
from westwood.cli import main

main()
"""


def imported(*words: str, **environment: str) -> set[str]:
    """Returns which heavy modules a command has imported when it ends."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *words],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and done.stdout, done.stderr
    return set(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        ("-h", set()),
        ("run -h", set()),
        ("list profile rfc", {"rich.console"}),
        ("run table1 --set duration=1s --seeds 2", set()),
        ("compare --set duration=1s --seeds 2 --loss 1% --cc cubic --json", set()),
        (
            "compare --set duration=1s --seeds 2 --loss 1%,2% --json",
            {"importlib.metadata", "pydantic"},
        ),
    ],
)
def test_a_command_imports_what_it_needs(words, needed):
    assert imported(*words.split()) <= needed


def test_a_word_is_completed_by_names_alone():
    asked = {"_WESTWOOD_COMPLETE": "complete_bash", "COMP_CWORD": "2"}
    assert imported(COMP_WORDS="westwood run tabl", **asked) == set()


@pytest.mark.parametrize("queue", [None, "1bdp", "5ms"])
def test_a_comparison_reads_a_scenario_once(queue, monkeypatch):
    """The preset, its options and a protocol make three; windows, limits, run and rows none."""
    counts: Counter[str] = Counter()
    take, read = Scenario._read, _engine.plan

    def counted_take(self: Scenario, *words: Any, **settings: Any) -> None:
        counts["scenarios"] += 1
        take(self, *words, **settings)

    def counted_read(given: dict[str, Any]) -> _engine.Plan:
        counts["plans"] += 1
        return read(given)

    monkeypatch.setattr(Scenario, "_read", counted_take)
    monkeypatch.setattr(_engine, "plan", counted_read)
    path = swept(named_path.path(None), {"path.loss.rate": "1%", "path.queue.limit": queue})
    planned = experiment.plan(path, cc=["cubic"], settings={"duration": "1s"}, seeds=2)
    done = experiment.collect(planned, workers=1, track=lambda runs, _: runs)
    assert len(done.runs) == 2 and counts == {"scenarios": 3, "plans": 3}
