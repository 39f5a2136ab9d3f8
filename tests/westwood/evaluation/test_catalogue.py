# SPDX-License-Identifier: BSD-3-Clause
"""The parts, as declared."""

import pytest

from westwood.engines import simulator
from westwood.engines.contract import Job
from westwood.evaluation import catalogue, tcpeval
from westwood.evaluation.criterion import FULL, QUESTIONS, QUICK, USUAL
from westwood.experiments.control import Control

EVERY = [criterion for part in catalogue.PARTS.values() for criterion in part.criteria]


def test_each_name_is_there_once():
    parts = catalogue.PARTS.values()
    names = [name for part in parts for name in (part.name, *catalogue.names_of(part))]
    assert len(names) == len(set(names))


def test_each_clause_names_criteria_that_exist_or_says_why_not():
    known = {criterion.name for criterion in EVERY}
    for part in catalogue.PARTS.values():
        for clause in part.clauses:
            assert set(clause.criteria) <= known
            assert clause.criteria or clause.why_not, clause.title


def test_each_question_has_a_criterion():
    assert {criterion.question for criterion in EVERY} == {"", *QUESTIONS}


@pytest.mark.parametrize("criterion", EVERY, ids=lambda criterion: criterion.name)
def test_a_criterion_has_a_threshold_with_a_source_and_a_point_for_quick(criterion):
    assert criterion.threshold is not None
    assert criterion.threshold.source
    assert criterion.chosen(QUICK)


def test_an_effort_runs_what_the_smaller_one_runs():
    quick, usual, full = (catalogue.chosen((), effort) for effort in (QUICK, USUAL, FULL))
    assert quick[0].keys() < usual[0].keys()
    assert usual[0].keys() < full[0].keys()


@pytest.mark.parametrize("load", [60, 85])
def test_transfers_bring_the_load_that_the_suite_asks_for(load):
    (access,) = (central for central in tcpeval.CENTRALS if central.name == "access")
    scenario = tcpeval.dumbbell(access, load, Control("cubic"))
    rows = simulator.prepare(Job(scenario, [1]))(1)
    # Between seeds it varies by 0.03.
    assert rows[0]["utilisation"] == pytest.approx(load / 100, abs=0.04)
