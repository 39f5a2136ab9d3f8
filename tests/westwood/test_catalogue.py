# SPDX-License-Identifier: BSD-3-Clause
"""The rows of core/catalogue.h are complete, and figures can tell the protocols apart."""

from __future__ import annotations

import re
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.colors import is_color_like
from matplotlib.lines import Line2D

from westwood import _engine
from westwood.catalogue import OTHER_STYLE, PROTOCOLS, UDP, Protocol, style_of

CATALOGUE = (Path(__file__).parents[2] / "core" / "catalogue.h").read_text(encoding="utf-8")

# Pairs that look the same on purpose.
TWINS = {
    ("westwood", "westwood-ns3"),  # each is the Westwood of a paper, and no paper's figure has both
}


def rows_of(table: str) -> list[str]:
    """The first two entries of each row of a table in core/catalogue.h, as they are written."""
    (body,) = re.findall(rf"#define {table}\(X\)((?:.*\\\n)*.*\n)", CATALOGUE)
    return re.findall(r"\bX\((\w+, [^,)]+)", body)


def test_every_row_has_a_name_of_its_own() -> None:
    written = [row.partition(", ")[2].strip('"') for row in rows_of("WW_PROTOCOLS")]
    assert len(set(written)) == len(written)
    assert [row["name"] for row in _engine.PROTOCOLS] == list(PROTOCOLS) == written
    assert UDP not in written, "it stands for no congestion control"


def test_every_row_has_a_label_of_its_own() -> None:
    labels = [one.label for one in PROTOCOLS.values()]
    assert len(set(labels)) == len(labels) and all(labels)


def test_every_algorithm_has_a_protocol() -> None:
    algorithms = [row.partition(", ")[2] for row in rows_of("WW_ALGORITHMS")]
    assert len(algorithms) > 1
    assert {one.algorithm for one in PROTOCOLS.values()} == set(algorithms)


@pytest.mark.parametrize("name", [*PROTOCOLS, UDP, "a protocol that is unknown"])
def test_matplotlib_can_draw_every_look(name: str) -> None:
    look = style_of(name)
    assert is_color_like(look.color)
    Line2D([], [], color=look.color, marker=look.marker, linestyle=look.line)  # or a ValueError


@pytest.mark.parametrize("one", PROTOCOLS.values(), ids=PROTOCOLS)
def test_no_protocol_looks_like_what_is_no_protocol(one: Protocol) -> None:
    assert one.style not in (style_of(UDP), OTHER_STYLE)


def test_no_two_protocols_look_the_same_but_the_twins() -> None:
    pairs = combinations(PROTOCOLS.values(), 2)
    assert {(a.name, b.name) for a, b in pairs if a.style == b.style} == TWINS
