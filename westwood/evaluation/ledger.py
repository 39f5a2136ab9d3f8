# SPDX-License-Identifier: BSD-3-Clause
"""Keeps which seeds were looked at, so that a fresh look can state its number.

Whoever changes a control after a look has tuned it on that look's seed. The ledger is one file of
the user, a line for each evaluation of a control: `westwood/looks.jsonl` in XDG_STATE_HOME.
"""

from __future__ import annotations

import os
from pathlib import Path

from westwood.control.loading import is_file
from westwood.errors import RunError
from westwood.experiments.control import Control
from westwood.results import disk, journal


def path() -> Path:
    """Returns the ledger's path."""
    named = os.environ.get("XDG_STATE_HOME", "")
    states = Path(named) if os.path.isabs(named) else Path(os.path.expanduser("~/.local/state"))
    return states / "westwood" / "looks.jsonl"


def looked(control: Control) -> list[int]:
    """Returns the seeds at which a control was looked, in order, each once.

    A control in a file is the file's name: what counts is its author, who has seen the seed.
    """
    try:
        records = journal.read(path()).records
    except OSError:
        return []
    name = _name(control)
    seeds = [record.get("seed") for record in records if record.get("control") == name]
    return list(dict.fromkeys(seed for seed in seeds if isinstance(seed, int)))


def add(control: Control, seed: int) -> None:
    """Notes a look."""
    if seed in looked(control):
        return
    try:
        path().parent.mkdir(parents=True, exist_ok=True)
        file = disk.open_to_append(path())
        try:
            disk.append(file, journal.line_of({"control": _name(control), "seed": seed}))
        finally:
            os.close(file)
    except OSError as error:
        reason = error.strerror or error
        problem = f"{path()}: can't be written, so the look at seed {seed} is not kept: {reason}"
        raise RunError(problem) from None


def fresh(controls: list[Control]) -> int:
    """Returns the least seed above all at which one of the controls was looked."""
    return max((seed for control in controls for seed in looked(control)), default=0) + 1


def _name(control: Control) -> str:
    return os.path.abspath(control.cc) if is_file(control.cc) else control.cc
