# SPDX-License-Identifier: BSD-3-Clause
"""Declares the verdicts of everything that judges, in the order in which pages list them.

A paper's claim HOLDS if it meets its criterion and DIFFERS if it fails. A control pays on a path if
it meets the gain that is worthwhile there. These words are spelled here only.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Verdict(StrEnum):
    """A verdict with its spelling for a paper's claim, for several claims, and for a gain."""

    claim: str
    claims: str
    gain: str
    colour: str  # on a terminal

    FAILS = "fails", "DIFFERS", "DIFFER", "does not pay", "red"
    MEETS = "meets", "HOLDS", "HOLD", "pays", "green"
    CANNOT_TELL = "cannot tell", "NOT DECIDABLE", "NOT DECIDABLE", "cannot tell", "yellow"
    NOT_RUN = "not run", "TESTED", "TESTED elsewhere", "not run", "blue"

    def __new__(cls, word: str, claim: str, claims: str, gain: str, colour: str) -> Verdict:
        """Makes a verdict that equals its word."""
        verdict = str.__new__(cls, word)
        verdict._value_ = word
        verdict.claim, verdict.claims, verdict.gain = claim, claims, gain
        verdict.colour = colour
        return verdict

    @property
    def mark(self) -> str:
        """Name of its colour on a page."""
        return self.claim.replace(" ", "-")

    @classmethod
    def named(cls, word: str) -> Verdict:
        """Returns the verdict of this word; raises KeyError if there is none."""
        return {str(verdict): verdict for verdict in cls}[word]

    @classmethod
    def of(cls, failures: object) -> Verdict:
        """Returns the verdict of a check with these failures."""
        return cls.FAILS if failures else cls.MEETS

    @classmethod
    def of_interval(cls, low_holds: bool, high_holds: bool) -> Verdict:
        """Returns meets or fails if both ends are on one side of a bound, else cannot tell."""
        if low_holds != high_holds:
            return cls.CANNOT_TELL
        return cls.MEETS if low_holds else cls.FAILS

    @classmethod
    def of_all(cls, verdicts: Iterable[Verdict]) -> Verdict:
        """Returns fails if a part fails, meets if all meet, and not run if none was run."""
        several = set(verdicts)
        if cls.FAILS in several:
            return cls.FAILS
        if several <= {cls.NOT_RUN}:
            return cls.NOT_RUN
        return cls.MEETS if several == {cls.MEETS} else cls.CANNOT_TELL
