# SPDX-License-Identifier: BSD-3-Clause
"""Lists all cases in the draft's order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from westwood.errors import InputError, suggestion
from westwood.evaluation.draft import changes, probe_rtt, probing, startup, undo
from westwood.evaluation.draft.case import Case

DRAFT = "draft-ietf-ccwg-bbr of 2026-08-03"
CASES: Mapping[str, Case] = {
    case.name: case
    for case in sorted(
        (*startup.CASES, *probing.CASES, *probe_rtt.CASES, *changes.CASES, *undo.CASES),
        key=lambda case: case.number,
    )
}


def chosen(names: Sequence[str] = ()) -> list[Case]:
    """Returns the cases with these names or numbers; without names all of them."""
    by_number = {str(case.number): case for case in CASES.values()}
    for name in names:
        if name not in CASES and name not in by_number:
            raise InputError(f"no such case, {suggestion(name, CASES)}", key="--case", value=name)
    wanted = {id(CASES.get(name) or by_number[name]) for name in names}
    return [case for case in CASES.values() if not names or id(case) in wanted]
