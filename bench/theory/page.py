# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/theory.md between their markers; the sentences are written by hand.

`python -m tools.pages theory [STUDY...]` runs these studies, or all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from bench.theory.studies import STUDIES
from tools.pages import DOCS, Numbers, Page


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Yields the tables of the studies."""
    studies = [study for study in STUDIES if not words or study.name in words]
    with ThreadPoolExecutor() as pool:  # the engine releases Python's lock
        tables = pool.map(lambda study: "\n".join(study.table()) + "\n", studies)
        written = {study.name: shown for study, shown in zip(studies, tables, strict=True)}
    for name, shown in written.items():
        print(f"{name}\n{shown}")
    yield written


PAGE = Page(DOCS / "theory.md", tables=lambda stored: stored, measure=measured)
