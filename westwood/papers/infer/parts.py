# SPDX-License-Identifier: BSD-3-Clause
"""Explains why a claim holds nowhere: which of its parts hold, and which exclude each other.

A part is the subject of a failure: its text up to where, how or by how much it fails.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Any

_END = re.compile(r" at |: | is ")


def part_of(failure: str) -> str:
    """Returns the subject: that of "Reno at 0.01: 2 is above 1" is Reno."""
    return _END.split(failure, maxsplit=1)[0]


def failing(explanation: str) -> frozenset[str]:
    """Returns the parts that fail in an explanation of all failures."""
    return frozenset(part_of(text) for text in explanation.split("; ") if text)


def excluding(explanations: Collection[str]) -> dict[str, Any]:
    """Counts the settings in which each part holds, and lists pairs that never hold together."""
    fails = [failing(explanation) for explanation in explanations]
    named = sorted(frozenset().union(*fails))
    holding = {part: sum(part not in failing_parts for failing_parts in fails) for part in named}
    apart = [
        [part, other]
        for part, other in combinations(named, 2)
        if holding[part] and holding[other] and all(part in f or other in f for f in fails)
    ]
    whole = sum(not failing_parts for failing_parts in fails)
    return {"of": len(fails), "all": whole, "holding": holding, "apart": apart}


def written(exclusions: Mapping[str, Any]) -> str:
    """Writes the counts and pairs as a paragraph; "" if there are none."""
    if not exclusions["holding"]:
        return ""
    shares = {part: count / exclusions["of"] for part, count in exclusions["holding"].items()}
    listed = "\n".join(f"- {part}: {share:.0%}" for part, share in shares.items())
    text = f"Each part of the claim holds in this share of the settings:\n\n{listed}\n"
    if exclusions["apart"]:
        return text + "".join(f"\n{_pair(pair)}" for pair in exclusions["apart"])
    if len(shares) == 1:
        return text
    chance = math.prod(shares.values()) * exclusions["of"]
    return (
        f"{text}\nAll parts hold together in {exclusions['all']} of {exclusions['of']} settings; "
        f"independent parts would hold in {chance:.0f}."
    )


def _pair(pair: Sequence[str]) -> str:
    return f"**{pair[0]}** and **{pair[1]}** exclude each other: no setting has both."
