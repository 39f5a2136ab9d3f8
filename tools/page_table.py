# SPDX-License-Identifier: BSD-3-Clause
"""The pages whose numbers are written by `python -m tools.pages NAME [WORD...]`.

declared             what the code declares, on every page: tools/declared_tables.py
conclusions [PAGE]   the first sentences of the pages of evidence: tools/conclusions.py
torture FOLDER [PAGE]    prints the results of `make torture`, and updates the page
NAME [WORD...]       a page of PAGES; its module describes the words
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench import comparators, compare_ns3, quic, quic_reports
from bench import table as performance
from bench.theory import page as theory
from tools import (
    bbr3_page,
    benchmark_page,
    claims_page,
    class_page,
    conclusions,
    declared_tables,
    evaluation_page,
    gallery_hosts,
    gallery_page,
    hard_cases,
    kernel_evaluation,
    ns2_page,
    readiness,
)
from tools.pages import Numbers, Page, replace, table

PAGES: dict[str, Page] = {
    "claims": claims_page.PAGE,
    "ns2": ns2_page.PAGE,
    "bbr3": bbr3_page.PAGE,
    "lab": class_page.PAGE,
    "gallery": gallery_page.PAGE,
    "gallery-hosts": gallery_hosts.PAGE,
    "kernel": kernel_evaluation.PAGE,
    "evaluation": evaluation_page.PAGE,
    "evaluation-linux": evaluation_page.LINUX,
    "benchmark": benchmark_page.PAGE,
    "cases": hard_cases.PAGE,
    "reference": compare_ns3.PAGE,
    "comparators": comparators.PAGE,
    "quic": quic.PAGE,
    "quic-reports": quic_reports.PAGE,
    "theory": theory.PAGE,
    "performance": performance.PAGE,
    "readiness": readiness.PAGE,
}


def torture_table(attacks: Iterable[Numbers]) -> str:
    """Lists the files of attacks: how many passed, their rounds and time, below the first seed."""
    attacks = sorted(attacks, key=lambda attack: str(attack["attack"]))
    first = ", ".join(sorted({str(attack["first_seed"]) for attack in attacks}))
    by_file: dict[str, list[Numbers]] = {}
    for attack in attacks:
        file, _, _ = str(attack["attack"]).partition("::")
        by_file.setdefault(Path(file).stem.removeprefix("test_"), []).append(attack)
    rows = []
    for name, some in by_file.items():
        passed = sum(attack["outcome"] == "passed" for attack in some)
        rounds, seconds = (sum(attack[key] for attack in some) for key in ("rounds", "seconds"))
        cells = (f"{passed} of {len(some)}", rounds, f"{seconds:.0f}")
        rows.append((f"`{name}`".replace("_", " "), *cells))
    shown = table("attacks | passed | rounds: | seconds:", rows)
    return f"The first seed was {first}; each further round took the next one.\n\n{shown}"


def write_torture(words: Sequence[str]) -> None:
    """Prints the table of the attacks, each of which left a JSON file; updates a page's sum."""
    folder, *pages = words
    attacks = [json.loads(file.read_text()) for file in Path(folder).glob("*.json")]
    print(torture_table(attacks))
    passed = sum(attack["outcome"] == "passed" for attack in attacks)
    rounds = sum(attack["rounds"] for attack in attacks)
    summary = f"{passed} of {len(attacks)} attacks passed, in {rounds} rounds.\n"
    for page in pages:
        replace(Path(page), {"torture": summary})


def write_declared(words: Sequence[str]) -> None:
    """Writes what the code declares."""
    for page in declared_tables.PAGES:
        replace(page, declared_tables.tables(page.read_text(encoding="utf-8")))


COMMANDS = {
    "declared": write_declared,
    "conclusions": conclusions.write,
    "torture": write_torture,
    **{name: page.make for name, page in PAGES.items() if page.measure},
}


def main(words: Sequence[str]) -> int | str:
    """Writes the page that the first word names."""
    name, *rest = words or [""]
    if name not in COMMANDS:
        return f"usage: python -m tools.pages {'|'.join(COMMANDS)} [WORD...]"
    COMMANDS[name](rest)
    return 0
