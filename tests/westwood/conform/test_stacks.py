# SPDX-License-Identifier: BSD-3-Clause
"""The draft's cases run in QUIC stacks, and say what a stack does not report."""

import pytest

from westwood.conform.catalogue import CASES
from westwood.conform.judging import Control, control, run
from westwood.engines import quic
from westwood.errors import InputError, UnavailableError


@pytest.fixture(autouse=True)
def _runner() -> None:
    try:
        quic.program()
    except UnavailableError as error:
        pytest.skip(str(error))


def test_a_stacks_control_runs_in_its_stack():
    judged = control("noq:bbr3")
    assert (judged.engine, judged.name) == ("noq", "noq:bbr3")
    case = CASES["sub-packet-bdp"]
    assert run(case, judged).verdict == "pass"
    assert judged.command(case).endswith("noq:bbr3 --engine noq --case sub-packet-bdp")


@pytest.mark.parametrize(
    ("case", "why"),
    [
        ("startup-plateau", "noq reports no states"),
        ("probe-rtt-idle", "engine noq expects an application that does not take back"),
        ("down-time", "noq has no setting bbr3_probe_rtt"),
    ],
)
def test_what_a_stack_does_not_report_is_not_observed(case, why):
    judgement = run(CASES[case], control("bbr3", engine="noq"))
    assert judgement.verdict == "-"
    assert judgement.lacks.startswith("not observed: ") and why in judgement.lacks


@pytest.mark.parametrize(
    ("cc", "options", "problem"),
    [
        ("quinn:bbr3", {}, "expected one of: quinn:newreno"),
        ("bbr3", {"engine": "ns3"}, "expected one of: sim, quinn, noq"),
        ("noq:bbr3", {"settings": {"bbr3_loss": 0.1}}, "a control has its defaults"),
    ],
)
def test_what_cannot_run_is_refused(cc, options, problem):
    with pytest.raises(InputError, match=problem):
        control(cc, **options)  # type: ignore[arg-type]


def test_a_control_of_ours_names_its_stack():
    assert Control("cubic", {}, "quinn").name == "cubic in quinn"
