# SPDX-License-Identifier: BSD-3-Clause
"""Runs the cases with controls, and judges what was seen."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from westwood.catalogue import OF_STACKS, is_protocol, settings_of_protocol, unknown_protocol
from westwood.conform import runs
from westwood.conform.case import Case, Expectation, Seen, Value, written
from westwood.conform.recording import LackingError, Recording, UnseenError
from westwood.engines import quic, simulator
from westwood.errors import InputError, show
from westwood.scenario import Scenario
from westwood.scenario.stacks import STACKS, engine_of, is_stack, split

NOT_OBSERVED = "not observed"  # begins what a QUIC stack does not report
Verdict = Literal["pass", "FAIL", "-"]


@dataclass(frozen=True, eq=False)
class Control:
    """A congestion control and its settings."""

    cc: str  # as scenarios have it, such as quinn:bbr
    settings: Mapping[str, Any]
    engine: str = simulator.ENGINE

    @property
    def name(self) -> str:
        """Returns the protocol's name and engine, with an asterisk if its settings differ."""
        where = f" in {self.engine}" if is_stack(self.engine) and split(self.cc)[0] is None else ""
        return self.cc + where + ("*" if self.settings else "")

    def table(self, case: Case) -> dict[str, Any]:
        """Returns the `cc` of a flow in a case."""
        return {"name": self.cc, **self._of_case(case), **self.settings}

    def _of_case(self, case: Case) -> dict[str, Any]:
        known = settings_of_protocol(str(split(self.cc)[1]))
        asked = {key: value for key, value in case.settings.items() if key in known}
        if asked and is_stack(self.engine):
            key = next(iter(asked))
            raise InputError(f"{self.engine} has no setting {key}, which the case changes")
        return asked

    def command(self, case: Case) -> str:
        """Returns the command line that runs a case alone."""
        options = [
            f"--set {shlex.quote(f'cc.{key}={value if isinstance(value, str) else show(value)}')}"
            for key, value in self.settings.items()
        ]
        where = ["--engine", self.engine] if is_stack(self.engine) else []
        return " ".join(["westwood conform", self.cc, *where, *options, "--case", case.name])


@dataclass(frozen=True, eq=False)
class Log:
    """A log of somebody else's stack."""

    file: str

    @property
    def name(self) -> str:
        """Returns the file's name."""
        return Path(self.file).name

    def command(self, case: Case) -> str:
        """Returns the command that judges this log by one case."""
        return f"westwood conform --qlog {shlex.quote(self.file)} --case {case.name}"


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
            return "-"
        if self.value is None:
            return "FAIL"
        return "pass" if self.expectation.holds(self.value) else "FAIL"

    @property
    def is_finite(self) -> bool:
        """Returns whether JSON can have the value."""
        return not isinstance(self.value, float) or math.isfinite(self.value)

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
        """Returns FAIL if a finding fails, and "-" if none applies."""
        found = {
            one.verdict
            for one in self.findings
            if one.verdict == "FAIL" or not one.expectation.is_condition
        }
        return "FAIL" if "FAIL" in found else "pass" if "pass" in found else "-"

    @property
    def lacks(self) -> str:
        """Returns what the control lacks for the case."""
        return next((one.lacks for one in self.findings if one.lacks), "")

    def entry(self) -> dict[str, Any]:
        """Returns the judgement for JSON."""
        words = {"pass": "pass", "FAIL": "fail", "-": "does not apply"}
        return {
            "number": self.case.number,
            "case": self.case.name,
            "title": self.case.title,
            "draft": self.case.sentence,
            "note": self.case.note,
            "verdict": words[self.verdict],
            "findings": [
                {
                    "what": one.expectation.what,
                    "expected": one.expectation.expected,
                    "unit": one.expectation.unit,
                    "measured": one.value if one.is_finite else None,
                    "verdict": words[one.verdict],
                    "reason": one.lacks or one.unseen or ("" if one.is_finite else one.measured),
                }
                for one in self.findings
            ],
        }


Subject = Control | Log
Judged = Mapping[Subject, Sequence[Judgement]]


def control(
    cc: str, settings: Mapping[str, Any] | None = None, engine: str | None = None
) -> Control:
    """Makes a control with these settings; raises InputError if there is none.

    The control of a QUIC stack runs in that stack, unless `engine` names another.
    """
    stack, name = split(cc)
    of_stack = OF_STACKS.get(str(stack))
    if not (is_protocol(name) if of_stack is None else name in of_stack):
        raise InputError(unknown_protocol(cc), value=cc)
    engine = engine or (engine_of(stack) if stack and is_stack(stack) else simulator.ENGINE)
    if engine != simulator.ENGINE and not is_stack(engine):
        known = ", ".join((simulator.ENGINE, *STACKS))
        raise InputError(f"expected one of: {known}", key="--engine", value=engine)
    if is_stack(engine):
        quic.title_of(engine)
        if stack and is_stack(stack):
            quic.check_control(cc, "CC")
        if settings:
            problem = "expected none: in a stack a control has its defaults"
            raise InputError(problem, key="--set", value=next(iter(settings)))
    return Control(cc, dict(settings or {}), engine)


def judge(case: Case, seen: Seen, scenario: Scenario | None = None) -> Judgement:
    """Judges a recording by a case."""
    return Judgement(case, [_find(one, seen) for one in case.expected], seen, scenario)


def _find(expectation: Expectation, seen: Seen) -> Finding:
    try:
        return Finding(expectation, expectation.measure(seen))
    except LackingError as error:
        return Finding(expectation, None, lacks=_lacks(error, seen.recording.host))
    except UnseenError as error:
        return Finding(expectation, None, unseen=str(error))


def _lacks(error: LackingError, host: str) -> str:
    return f"{NOT_OBSERVED}: {host} reports {error}" if host else str(error)


def run(case: Case, judged: Control) -> Judgement:
    """Runs a case with a control and judges it."""
    if not is_stack(judged.engine):
        return _run(case, judged)
    try:
        return _run(case, judged)
    except LackingError as error:
        problem = LackingError(_lacks(error, judged.engine))
    except InputError as error:  # a path that QUIC can't have
        problem = LackingError(f"{NOT_OBSERVED}: {error}")
    return Judgement(case, _without(case, problem))


def _run(case: Case, judged: Control) -> Judgement:
    """Runs a case with a control and judges it.

    The first of two runs finds when the change has to come. Both are the same until then.
    """
    cc = judged.table(case)
    path = case.changed(None)
    scenario, moment = path.scenario(case.name, cc), None
    recording = runs.record(scenario, judged.engine)
    if case.change is not None:
        try:
            moment = case.moment(recording)
        except (LackingError, UnseenError) as error:
            return Judgement(case, _without(case, error), None, scenario)
        path = case.changed(moment)
        scenario = path.scenario(case.name, cc)
        recording = runs.record(scenario, judged.engine)
    return judge(case, Seen(recording, path, moment), scenario)


def judge_log(case: Case, recording: Recording) -> Judgement:
    """Judges somebody else's recording by a case; what it does not show does not apply."""
    if not case.in_logs:
        problem = LackingError("no change of the path that the case makes")
        return Judgement(case, _without(case, problem))
    found = judge(case, Seen(recording))
    of_conditions = [one for one in found.findings if one.expectation.is_condition]
    if any(one.verdict == "FAIL" for one in of_conditions):
        problem = LackingError(f"other conditions: {of_conditions[0].expectation.what}")
        return Judgement(case, _without(case, problem), found.seen)
    shown = [
        dataclasses.replace(one, lacks=one.unseen, unseen="") if one.unseen else one
        for one in found.findings
    ]
    return Judgement(case, shown, found.seen)


def _without(case: Case, error: LackingError | UnseenError) -> list[Finding]:
    why = "lacks" if isinstance(error, LackingError) else "unseen"
    return [Finding(one, None, **{why: str(error)}) for one in case.expected]


def run_all(
    cases: Sequence[Case], controls: Sequence[Control], workers: int | None = None
) -> Iterator[tuple[Control, Judgement]]:
    """Runs the cases with the controls, on all cores; yields the judgements in order."""
    pairs = [(one, case) for one in controls for case in cases]
    with ThreadPoolExecutor(workers) as pool:
        judgements = pool.map(lambda pair: run(pair[1], pair[0]), pairs)
        yield from zip((one for one, _ in pairs), judgements, strict=True)
