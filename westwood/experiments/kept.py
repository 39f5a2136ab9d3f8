# SPDX-License-Identifier: BSD-3-Clause
"""Keeps each finished run of a command, until its results are whole.

    kept = KeptRuns(folder, "validation", {"duration": None})
    with kept.opened({}, resume=True):
        rows = kept.of("sim", job, seed)  # None: it has yet to run
        kept.keep("sim", job, seed, rows)

The first record of the journal has what decides a run beside its scenario. A command of another
version or with other options is refused, since the runs of both would be mixed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from westwood import __version__
from westwood.engines.contract import Job
from westwood.results.columns import Row
from westwood.results.folder import Folder
from westwood.results.store import Store, interrupted


class KeptRuns:
    """The finished runs of a command in its folder, by engine, scenario and seed."""

    def __init__(self, folder: Folder, what: str, state: Mapping[str, Any] | None = None) -> None:
        self._folder, self._what = folder, what
        self._state = {**(state or {}), "version": __version__}
        self._begun: dict[str, Any] | None = None  # the state of the journal
        self._rows: dict[tuple[str, str, int, bool], list[Row]] = {}
        self._store = Store(folder, self._take, file="runs.jsonl")  # beside the journal of --infer

    @contextmanager
    def opened(self, about: Mapping[str, Any], *, resume: bool) -> Iterator[None]:
        """Locks the folder, and reads its finished runs or, without `resume`, removes them.

        about: the manifest's settings. An interrupt becomes the error that says how to continue.
        """
        with self._folder.locked():
            if not resume:
                self._store.clear()
            with self._store.opened(resumes=True):
                if self._begun is not None:
                    self._folder.check_version(self._begun.get("version"))
                    if self._begun != self._state:
                        problem = f"holds another {self._what}: its engine differs"
                        raise self._folder.error(problem)
                self._folder.manifest(about, complete=False)
                if self._begun is None:
                    self._rows.clear()  # it is unknown what made them
                    self._store.clear()
                    self._store.keep({"state": self._state})
                try:
                    yield
                except KeyboardInterrupt:
                    raise interrupted(self._folder, f"{len(self._rows)} runs") from None

    def _take(self, record: Mapping[str, Any]) -> None:
        if "state" in record:
            self._begun = dict(record["state"])
            return
        rows = [dict(row) for row in record["rows"]]
        key = str(record["engine"]), str(record["scenario"]), int(record["seed"])
        self._rows[*key, bool(record["observed"])] = rows

    def of(self, engine: str, job: Job, seed: int) -> list[Row] | None:
        """Returns the rows of a run that an earlier start finished; None if none did."""
        key = engine, job.scenario.hash, seed, job.more_columns is not None
        rows = self._rows.get(key)
        return None if rows is None else [{**job.settings, **row} for row in rows]

    def keep(self, engine: str, job: Job, seed: int, rows: list[Row]) -> None:
        """Keeps a run; its point's settings are not part of it."""
        kept = [{k: v for k, v in row.items() if k not in job.settings} for row in rows]
        run = {"engine": engine, "scenario": job.scenario.hash, "seed": seed}
        self._store.keep({**run, "observed": job.more_columns is not None, "rows": kept})

    def finish(self) -> None:
        """Removes the runs, which the results of the command have replaced."""
        self._store.clear()
