# SPDX-License-Identifier: BSD-3-Clause
"""Kinds of results that a folder can hold, each identified by a file that its command writes.

A folder holds one kind: another kind's files could replace its own or be mistaken for them.
Commands that can resume write the identifying file first; the others, with their first result.
"""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path


class ResultKind(Enum):
    """Names each kind and its identifying file.

    Order matters: a folder may also hold the file of a later kind.
    """

    SWEEP = "sweep", "sweep.json"
    SEARCH = "tuning run", "search.json"
    HUNT = "stress test", "hunt.json"
    INFERENCE = "inference", "inference.json"
    CAMPAIGN = "campaign", "plan.json"
    TRIAL = "path comparison", "uploads.jsonl"
    REPRODUCTION = "reproduction", "claims.json"
    VALIDATION = "validation", "validation.csv"
    EVALUATION = "evaluation", "evaluation.json"
    ARTIFACT = "artifact", "artifact.json"
    RUN = "run", "runs.parquet"  # with traces or without

    def __init__(self, title: str, file: str) -> None:
        self.title, self.file = title, file

    @property
    def is_computed(self) -> bool:
        """Returns whether it depends on this program; uploads over real paths do not."""
        return self not in (ResultKind.CAMPAIGN, ResultKind.TRIAL)

    def __str__(self) -> str:
        return f"{'an' if self.title[0] in 'aeiou' else 'a'} {self.title}"

    def goes_with(self, held: ResultKind) -> bool:
        """Returns whether this kind may be written into a folder that holds the other kind."""
        return held is self or {self, held} == _OF_PAPERS


# None of their files share a name.
_OF_PAPERS = {ResultKind.REPRODUCTION, ResultKind.INFERENCE}


def kind_in(path: Path) -> ResultKind | None:
    """Returns the kind of results in a folder; None if it holds none."""
    return next((kind for kind in ResultKind if os.path.lexists(path / kind.file)), None)
