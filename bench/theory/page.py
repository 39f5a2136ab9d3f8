# SPDX-License-Identifier: BSD-3-Clause
"""Writes the tables of docs/theory.md between their markers; the sentences are written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from bench.theory.studies import Study

PAGE = Path(__file__).parents[2] / "docs" / "theory.md"


def table_of(name: str, text: str) -> str:
    """The table between a study's markers."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    return text[text.index(start) + len(start) : text.index(end)]


def write(studies: Sequence[Study]) -> None:
    """Replaces the tables of these studies."""
    text = PAGE.read_text(encoding="utf-8")
    with ThreadPoolExecutor() as pool:  # the engine lets go of Python's lock
        tables = list(pool.map(lambda study: "\n".join(study.table()) + "\n", studies))
    for study, table in zip(studies, tables, strict=True):
        old = table_of(study.name, text)
        text = text.replace(f"<!-- {study.name} -->\n{old}", f"<!-- {study.name} -->\n{table}")
        print(f"{study.name}\n{table}")
    PAGE.write_text(text, encoding="utf-8")
