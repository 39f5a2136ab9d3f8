# SPDX-License-Identifier: BSD-3-Clause
"""The numbers of docs/own-evaluation.md agree with today's simulator."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tools import evaluation_page
from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import c4
from westwood.evaluation.catalogue import PARTS
from westwood.evaluation.criterion import USUAL
from westwood.experiments.control import Control
from westwood.results.columns import Row
from westwood.scenario import Scenario
from westwood.scenario.paths.population import seed_of

CURE = "run: python -m tools.pages evaluation"
STORED = evaluation_page.PAGE.read()
FIRST_SEED = 10_000  # of look 1, before the purpose is added


def test_the_page_agrees_with_its_file():
    assert evaluation_page.PAGE.is_written(STORED), CURE


@pytest.mark.parametrize("cc", ["cubic", "bbr3", "westwood+"])
def test_the_times_are_of_todays_simulator(cc):
    (trial,) = (candidate for candidate in c4.TRIALS if candidate.name == "alone")
    seeds = [seed_of("evaluate", FIRST_SEED + n) for n in range(USUAL.worst_of)]
    run = simulator.prepare(Job(trial.scenario(Control(cc)), seeds))
    times_s = [run(seed)[0]["completed_s"] for seed in seeds]
    assert max(times_s) == pytest.approx(STORED["answers"][cc]["c4-alone"]["judged"], rel=1e-5), (
        CURE
    )


def test_the_page_in_docs_has_every_criterion_and_few_pictures():
    text = evaluation_page.WHOLE.read_text(encoding="utf-8")
    for criterion in STORED["says"]:
        assert f'<h2 id="{criterion}"' in text, CURE
    assert text.count("<figure>") == 6 and "Try it in a browser" not in text


def test_what_fails_is_on_the_page():
    """Known faults: BBRv1 starves CUBIC, CUBIC fills queues, Reno does not survive loss."""
    for cc, criterion in (("bbr", "harm-cubic"), ("cubic", "queue"), ("sack", "loss")):
        assert STORED["answers"][cc][criterion]["verdict"] == "fails"


def test_cubic_fails_harder_bursts_than_those_of_stalls():
    """The criterion's note says so, with 0.44 of the link."""
    (stalls,) = (
        criterion for criterion in PARTS["regressions"].criteria if criterion.name == "stalls"
    )
    ((name, gentle),) = stalls.points[0].runs(Control("cubic")).items()
    packets = [first + 2 * n for first in (2000, 2400, 2800, 3200) for n in range(100)]
    harder = gentle.with_settings({"path.loss.packets": packets})
    assert stalls.measure({name: _rows(gentle)}) > 0.5
    assert stalls.measure({name: _rows(harder)}) == pytest.approx(0.44, abs=0.01)


def _rows(scenario: Scenario) -> Sequence[Row]:
    return simulator.prepare(Job(scenario, [1]))(1)
