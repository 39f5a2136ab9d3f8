# SPDX-License-Identifier: BSD-3-Clause
"""Reads the reports of suites: which tests took longest, and which passed only when tried again.

A second try is tolerated once in a hundred runs of a test, and in a run for one test in a hundred.
build/second_tries.json of the clone remembers the last hundred runs.
"""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

RUNS_A_SECOND_TRY = 100


@dataclass(frozen=True)
class Report:
    """What a JUnit file of pytest or ctest says: failures with their reasons, and times in s."""

    tests: int
    failures: dict[str, str]
    times_s: dict[str, float] = field(default_factory=dict)


def read(file: Path) -> Report:
    """Reads a report; one that is missing or cut short has no tests."""
    try:
        root = ET.parse(file).getroot()
    except (OSError, ET.ParseError):
        return Report(0, {})
    cases = list(root.iter("testcase"))
    failures = {}
    for case in cases:
        for element in (case.find("failure"), case.find("error")):
            if element is not None:
                reason = (element.get("message") or "no reason given").strip().splitlines()[0]
                failures[name_of(case)] = reason
    times_s = {name_of(case): float(case.get("time") or 0) for case in cases}
    return Report(len(cases), failures, times_s)


def name_of(case: ET.Element) -> str:
    return "::".join(dict.fromkeys((case.get("classname") or "", case.get("name") or "")))


def dearest(reports: Mapping[str, Report], count: int = 5) -> list[str]:
    """Returns a line for each of the tests of all suites that took longest, the longest first."""
    tests = [
        (time_s, suite, name)
        for suite, report in reports.items()
        for name, time_s in report.times_s.items()
    ]
    return [
        f"  {time_s:7.1f} s  {suite}: {name}"
        for time_s, suite, name in sorted(tests, reverse=True)[:count]
    ]


@dataclass(frozen=True)
class SecondTries:
    """The tests that passed only when tried again, with the reason of the first failure."""

    tests: int
    reasons: dict[str, str]

    def are_too_many(self, earlier: set[str]) -> bool:
        """Returns whether one test in a hundred needed a second try, or one that did earlier."""
        most = max(1, self.tests // RUNS_A_SECOND_TRY)
        return len(self.reasons) > most or bool(earlier & set(self.reasons))

    def lines(self) -> list[str]:
        """Returns a line that counts them, and a line for each."""
        named = [f"  second try: {name}: {reason}" for name, reason in self.reasons.items()]
        return [f"{len(named)} of {self.tests} tests passed only on the second try", *named]


def second_tries(first: Report, second: Report) -> SecondTries:
    """Compares the reports of a suite and of its failed tests, run again."""
    passed = {name: why for name, why in first.failures.items() if name not in second.failures}
    return SecondTries(first.tests, passed)


class History:
    """The tests that needed a second try in the last hundred runs of a suite."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def add(self, suite: str, names: Iterable[str]) -> set[str]:
        """Adds a run; returns the tests that needed a second try in an earlier one."""
        try:
            runs: dict[str, list[list[str]]] = json.loads(self._file.read_text())
        except (OSError, ValueError):
            runs = {}
        earlier = runs.get(suite, [])[-RUNS_A_SECOND_TRY + 1 :]
        runs[suite] = [*earlier, sorted(names)]
        self._file.write_text(json.dumps(runs))
        return {name for run in earlier for name in run}
