# SPDX-License-Identifier: BSD-3-Clause
"""Which kinds of work results folders hold, each known by a file of its command.

A folder holds one: files of another kind would replace its own, or be taken for them. Work that
goes on after a kill writes its file first, the other kinds when they have something to lose.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path


class Work(Enum):
    """Is a kind of work: what it is called, and its file. Before the later ones come those whose
    folders have their files, too.
    """

    SWEEP = "sweep", "sweep.json"
    SEARCH = "search", "search.json"
    HUNT = "hunt", "hunt.json"
    INFERENCE = "inference", "inference.json"
    CAMPAIGN = "campaign", "plan.json"
    TRIAL = "trial", "uploads.jsonl"
    REPRODUCTION = "reproduction", "claims.json"
    VALIDATION = "validation", "validation.csv"
    JUDGEMENT = "judgement", "table.json"
    RUN = "run", "runs.parquet"  # with traces or without

    def __init__(self, title: str, file: str) -> None:
        self.title, self.file = title, file

    def __str__(self) -> str:
        return f"{'an' if self.title[0] in 'aeiou' else 'a'} {self.title}"

    def goes_with(self, held: Work) -> bool:
        """Says whether it may be written where the other one is held."""
        return held is self or {self, held} == _OF_PAPERS


_OF_PAPERS = {Work.REPRODUCTION, Work.INFERENCE}  # of whose files none has another's name


def held(path: Path) -> Work | None:
    """Returns what a folder holds; None if no work has left anything in it."""
    return next((one for one in Work if os.path.lexists(path / one.file)), None)
