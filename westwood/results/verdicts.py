# SPDX-License-Identifier: BSD-3-Clause
"""Declares the verdicts on claims, in the order in which pages list them."""

from __future__ import annotations

from enum import StrEnum


class Verdict(StrEnum):
    """What became of a claim; `counted` follows its number, `colour` is that of a terminal."""

    counted: str
    colour: str

    DIFFERS = "DIFFERS", "DIFFER", "red"
    HOLDS = "HOLDS", "HOLD", "green"
    NOT_DECIDABLE = "NOT DECIDABLE", "NOT DECIDABLE", "yellow"
    TESTED = "TESTED", "TESTED elsewhere", "blue"

    def __new__(cls, word: str, counted: str, colour: str) -> Verdict:
        """Makes a verdict that equals its word."""
        one = str.__new__(cls, word)
        one._value_ = word
        one.counted, one.colour = counted, colour
        return one

    @property
    def mark(self) -> str:
        """Name of its colour on a page."""
        return self.replace(" ", "-")

    @classmethod
    def of(cls, failures: object) -> Verdict:
        """Returns the verdict of a check that found these failures."""
        return cls.DIFFERS if failures else cls.HOLDS
