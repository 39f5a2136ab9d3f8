# SPDX-License-Identifier: BSD-3-Clause
"""Finds the tests that passed only when tried again, and judges whether they are too many."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path

RUNS_A_SECOND_TRY = 100  # of tests; more second tries fail a suite


@dataclass(frozen=True)
class Report:
    """What pytest's --junitxml says: the number of tests, and each failure's reason."""

    tests: int
    failures: dict[str, str]


def read(file: Path) -> Report:
    """Reads a report; one that is missing or cut short has no tests."""
    try:
        root = ET.parse(file).getroot()
    except (OSError, ET.ParseError):
        return Report(0, {})
    cases = list(root.iter("testcase"))
    failures = {}
    for case in cases:
        for found in (case.find("failure"), case.find("error")):
            if found is not None:
                reason = (found.get("message") or "no reason given").strip().splitlines()[0]
                failures[f"{case.get('classname')}::{case.get('name')}"] = reason
    return Report(len(cases), failures)


@dataclass(frozen=True)
class SecondTries:
    """The tests that passed only when tried again, with the reason of the first failure."""

    tests: int
    reasons: dict[str, str]

    def are_too_many(self) -> bool:
        """Returns whether more than one test run in a hundred needed a second try."""
        return len(self.reasons) * RUNS_A_SECOND_TRY > self.tests

    def lines(self) -> list[str]:
        """Returns a line for each, and one that judges them."""
        named = [f"  second try: {name}: {reason}" for name, reason in self.reasons.items()]
        return [f"{len(named)} of {self.tests} tests passed only on the second try", *named]


def second_tries(first: Report, second: Report) -> SecondTries:
    """Compares the reports of a suite and of its failed tests, run again."""
    passed = {name: why for name, why in first.failures.items() if name not in second.failures}
    return SecondTries(first.tests, passed)
