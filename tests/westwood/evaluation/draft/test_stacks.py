# SPDX-License-Identifier: BSD-3-Clause
"""The draft's cases run in QUIC stacks, and say what a stack does not report."""

import pytest

from westwood.evaluation.draft.catalogue import CASES
from westwood.evaluation.draft.judging import run
from westwood.experiments.control import control

pytestmark = pytest.mark.usefixtures("quic_runner")


def test_a_stacks_control_runs_in_its_stack():
    judgement = run(CASES["sub-packet-bdp"], control("noq:bbr3"), "noq")
    assert judgement.verdict == "meets"


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("startup-plateau", "noq reports no states"),
        ("probe-rtt-idle", "engine noq expects an application that does not take back"),
        ("down-time", "noq has no setting bbr3_probe_rtt"),
    ],
)
def test_what_a_stack_does_not_report_is_not_observed(case, why):
    judgement = run(CASES[case], control("bbr3"), "noq")
    assert judgement.verdict == "not run"
    assert judgement.lacks.startswith("not observed: ") and why in judgement.lacks
