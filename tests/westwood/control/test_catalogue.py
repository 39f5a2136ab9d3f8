# SPDX-License-Identifier: BSD-3-Clause
"""The rows of core/catalogue.h are complete, and figures can tell the protocols apart."""

import re
from itertools import combinations
from pathlib import Path

import pytest
from matplotlib.colors import is_color_like
from matplotlib.lines import Line2D

from westwood import _engine
from westwood.control.catalogue import OTHER_STYLE, PROTOCOLS, UDP, style_of

CATALOGUE = (Path(__file__).parents[3] / "core" / "catalogue.h").read_text(encoding="utf-8")

# Pairs that share a style on purpose.
TWINS = {
    ("westwood", "westwood-ns3"),  # the Westwoods of two papers, never in the same figure
}


def rows_of(table: str) -> list[str]:
    """Returns the first two entries of each row of a table in core/catalogue.h."""
    (body,) = re.findall(rf"#define {table}\(X\)((?:.*\\\n)*.*\n)", CATALOGUE)
    return re.findall(r"\bX\((\w+, [^,)]+)", body)


def test_every_row_has_a_unique_name():
    written = [row.partition(", ")[2].strip('"') for row in rows_of("WW_PROTOCOLS")]
    assert len(set(written)) == len(written)
    assert [row["name"] for row in _engine.PROTOCOLS] == list(PROTOCOLS) == written
    assert UDP not in written, "UDP has no congestion control"


def test_every_row_has_a_unique_label():
    labels = [protocol.label for protocol in PROTOCOLS.values()]
    assert len(set(labels)) == len(labels) and all(labels)


def test_every_algorithm_has_a_protocol():
    rows = [*rows_of("WW_COMPACT_ALGORITHMS"), *rows_of("WW_LARGE_ALGORITHMS")]
    algorithms = [row.partition(", ")[2] for row in rows]
    assert len(algorithms) > 1
    assert {protocol.algorithm for protocol in PROTOCOLS.values()} == set(algorithms)


@pytest.mark.parametrize("name", [*PROTOCOLS, UDP, "a protocol that is unknown"])
def test_matplotlib_can_draw_every_style(name):
    style = style_of(name)
    assert is_color_like(style.color)
    # Raises ValueError for a style that matplotlib can't draw.
    Line2D([], [], color=style.color, marker=style.marker, linestyle=style.line)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=PROTOCOLS)
def test_no_protocol_has_the_style_of_udp_or_of_others(protocol):
    assert protocol.style not in (style_of(UDP), OTHER_STYLE)


def test_only_the_twins_have_the_same_style():
    pairs = combinations(PROTOCOLS.values(), 2)
    assert {(a.name, b.name) for a, b in pairs if a.style == b.style} == TWINS
