# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases with controls, and judges what was seen."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from westwood.control.catalogue import settings_of_protocol
from westwood.engines import simulator
from westwood.errors import InputError
from westwood.evaluation.draft import runs
from westwood.evaluation.draft.case import Case, Expectation, Seen, Value, written
from westwood.evaluation.draft.recording import LackingError, Recording, UnseenError
from westwood.experiments.control import Control
from westwood.results.verdicts import Verdict
from westwood.scenario import Scenario
from westwood.scenario.stacks import is_stack, split

NOT_OBSERVED = "not observed"  # begins what a QUIC stack does not report


def table_of(control: Control, case: Case, engine: str) -> dict[str, Any]:
    """Returns the `cc` of a flow in a case."""
    known = settings_of_protocol(str(split(control.cc)[1]))
    changed = {key: value for key, value in case.settings.items() if key in known}
    if changed and is_stack(engine):
        key = next(iter(changed))
        raise InputError(f"{engine} has no setting {key}, which the case changes")
    return {"name": control.cc, **changed, **control.settings}


@dataclass(frozen=True)
class Finding:
    """What one expectation found: a value, or why there is none."""

    expectation: Expectation
    value: Value | None
    lacks: str = ""  # of the control: it does not apply
    unseen: str = ""  # what never happened: it fails

    @property
    def verdict(self) -> Verdict:
        """Returns whether the expectation holds."""
        if self.lacks:
            return Verdict.NOT_RUN
        return Verdict.of(self.value is None or not self.expectation.holds(self.value))

    @property
    def measured(self) -> str:
        """Returns the value as text."""
        if self.value is None:
            return self.lacks or self.unseen
        return written(self.value, self.expectation.unit)


@dataclass(frozen=True)
class Judgement:
    """A case judged: its findings, and the run behind them."""

    case: Case
    findings: Sequence[Finding]
    seen: Seen | None = None  # None: it could not be provoked
    scenario: Scenario | None = None

    @property
    def verdict(self) -> Verdict:
        """Returns fails if a finding fails; what a finding lacks leaves it to the others."""
        verdicts = {
            finding.verdict
            for finding in self.findings
            if finding.verdict is Verdict.FAILS or not finding.expectation.is_condition
        }
        order = (Verdict.FAILS, Verdict.MEETS)
        return next((verdict for verdict in order if verdict in verdicts), Verdict.NOT_RUN)

    @property
    def lacks(self) -> str:
        """Returns what the control lacks for the case."""
        return next((finding.lacks for finding in self.findings if finding.lacks), "")


def judge(case: Case, seen: Seen, scenario: Scenario | None = None) -> Judgement:
    """Judges a recording by a case."""
    return Judgement(
        case, [_find(expectation, seen) for expectation in case.expected], seen, scenario
    )


def _find(expectation: Expectation, seen: Seen) -> Finding:
    try:
        return Finding(expectation, expectation.measure(seen))
    except LackingError as error:
        return Finding(expectation, None, lacks=_lacks(error, seen.recording.host))
    except UnseenError as error:
        return Finding(expectation, None, unseen=str(error))


def _lacks(error: LackingError, host: str) -> str:
    return f"{NOT_OBSERVED}: {host} reports {error}" if host else str(error)


def run(case: Case, control: Control, engine: str = simulator.ENGINE) -> Judgement:
    """Runs a case with a control in the simulator or in a QUIC stack, and judges it."""
    if not is_stack(engine):
        return _run(case, control, engine)
    try:
        return _run(case, control, engine)
    except LackingError as error:
        problem = LackingError(_lacks(error, engine))
    except InputError as error:  # a path that QUIC can't have
        problem = LackingError(f"{NOT_OBSERVED}: {error}")
    return Judgement(case, _without(case, problem))


def _run(case: Case, control: Control, engine: str) -> Judgement:
    """Runs a case with a control and judges it.

    The first of two runs finds when the change has to come. Both are the same until then.
    """
    cc = table_of(control, case, engine)
    path = case.changed(None)
    scenario, moment = path.scenario(case.name, cc), None
    recording = runs.record(scenario, engine)
    if case.change is not None:
        try:
            moment = case.moment(recording)
        except (LackingError, UnseenError) as error:
            return Judgement(case, _without(case, error), None, scenario)
        path = case.changed(moment)
        scenario = path.scenario(case.name, cc)
        recording = runs.record(scenario, engine)
    return judge(case, Seen(recording, path, moment), scenario)


def judge_log(case: Case, recording: Recording) -> Judgement:
    """Judges somebody else's recording by a case; what it does not show does not apply."""
    if not case.in_logs:
        problem = LackingError("no change of the path that the case makes")
        return Judgement(case, _without(case, problem))
    judgement = judge(case, Seen(recording))
    of_conditions = [finding for finding in judgement.findings if finding.expectation.is_condition]
    if any(finding.verdict is Verdict.FAILS for finding in of_conditions):
        problem = LackingError(f"other conditions: {of_conditions[0].expectation.what}")
        return Judgement(case, _without(case, problem), judgement.seen)
    shown = [
        dataclasses.replace(finding, lacks=finding.unseen, unseen="") if finding.unseen else finding
        for finding in judgement.findings
    ]
    return Judgement(case, shown, judgement.seen)


def _without(case: Case, error: LackingError | UnseenError) -> list[Finding]:
    why = "lacks" if isinstance(error, LackingError) else "unseen"
    return [Finding(expectation, None, **{why: str(error)}) for expectation in case.expected]
