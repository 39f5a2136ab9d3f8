# SPDX-License-Identifier: BSD-3-Clause
"""The control in C that tests change: one like Reno; the fixture `mine` writes it to a file."""

from westwood.control.writing import like

MINE = like("reno", "mine")
ON_LOSS = "    window->cwnd = window->ssthresh;\n"


def line_of(text: str, part: str) -> int:
    """Returns the number of the line in which a part of a text begins."""
    return text[: text.index(part)].count("\n") + 1
