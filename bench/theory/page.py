# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/theory.md between their markers; the sentences are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.theory.studies import Study
from tools.pages import replace

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def write(studies: Sequence[Study]) -> None:
    """Replaces the tables of these studies."""
    with ThreadPoolExecutor() as pool:  # the engine releases Python's lock
        tables = list(pool.map(lambda study: "\n".join(study.table()) + "\n", studies))
    written = {study.name: table for study, table in zip(studies, tables, strict=True)}
    for name, table in written.items():
        print(f"{name}\n{table}")
    replace(PAGE, written)
