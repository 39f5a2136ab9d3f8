# SPDX-License-Identifier: BSD-3-Clause
"""The draft's test cases tell BBRv3 from controls that are wrong or follow other documents."""

from typing import Any

import pytest

from westwood.engines import simulator
from westwood.engines.network import build
from westwood.errors import InputError
from westwood.evaluation.draft.catalogue import CASES
from westwood.evaluation.draft.judging import Judgement, run
from westwood.experiments.control import control
from westwood.scenario import Scenario


def verdicts(cc: str, *names: str, **settings: object) -> dict[str, str]:
    judged = control(cc, settings)
    return {name: run(CASES[name], judged).verdict for name in names}


def failed(judgement: Judgement) -> list[str]:
    return [
        f"{finding.expectation.what}: {finding.measured}"
        for finding in judgement.findings
        if finding.verdict != "meets"
    ]


def test_there_are_the_22_cases_of_the_appendix():
    assert [case.number for case in CASES.values()] == list(range(1, 23))


@pytest.mark.parametrize("name", CASES)
def test_bbr3_passes_in_every_measurement(name):
    assert failed(run(CASES[name], control("bbr3"))) == []


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.waits_for])
def test_the_path_changes_in_the_state_that_the_case_waits_for(name):
    judgement = run(CASES[name], control("bbr3"))
    assert judgement.seen is not None and judgement.seen.change is not None
    began_s = judgement.seen.changed_s - CASES[name].later_rounds * judgement.seen.round_trip_s
    assert judgement.seen.recording.state_at(began_s + 1e-6) == CASES[name].waits_for


def test_a_wrong_loss_threshold_fails_the_cases_of_losses():
    of_losses = ("startup-loss", "up-loss-limited", "up-loss")
    assert set(verdicts("bbr3", *of_losses, bbr3_loss=0.5).values()) == {"fails"}
    others = ("startup-plateau", "drain-inflight", "up-plateau", "probe-rtt")
    assert set(verdicts("bbr3", *others, bbr3_loss=0.5).values()) == {"meets"}


def test_wrong_gains_fail_the_cases_of_their_states():
    assert verdicts("bbr3", "drain-inflight", "down-inflight", bbr3_drain=0.347) == {
        "drain-inflight": "fails",
        "down-inflight": "meets",
    }
    assert verdicts("bbr3", "drain-inflight", "down-inflight", bbr3_down=1.0) == {
        "drain-inflight": "meets",
        "down-inflight": "fails",
    }


def test_a_control_without_states_has_only_the_cases_of_what_it_sends():
    verdict_of = verdicts("cubic", *CASES)
    sent = "cruise-aggregation sub-packet-bdp rate-up policer spurious-recovery spurious-rto"
    ran = {name for name, verdict in verdict_of.items() if verdict != "not run"}
    assert ran == {*sent.split()}


def test_what_a_control_lacks_is_named():
    assert run(CASES["startup-plateau"], control("cubic")).lacks == "no states"
    assert run(CASES["refill-limited"], control("bbr")).lacks == "no state ProbeBW_REFILL"


def test_a_state_that_never_comes_fails_a_case():
    never = run(CASES["probe-rtt"], control("bbr3", {"bbr3_probe_rtt": "1h"}))
    assert never.verdict == "fails"
    assert "ProbeRTT was not entered" in {finding.measured for finding in never.findings}


def test_an_unknown_control_is_an_error_with_the_nearest_name():
    with pytest.raises(InputError, match='unknown protocol, did you mean "bbr3"'):
        control("brb3")


def test_a_sender_without_a_pacer_fails_the_cases_of_rates(monkeypatch):
    def without_pacer(scenario: Scenario) -> Any:
        network = build(scenario)
        flows = network.flows
        flows[0].obeys_pacing = False
        network.flows = flows
        return network

    monkeypatch.setattr(simulator, "build", without_pacer)
    of_rates = ("drain-inflight", "down-inflight", "rate-up")
    assert set(verdicts("bbr3", *of_rates).values()) == {"fails"}
