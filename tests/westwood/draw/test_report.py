# SPDX-License-Identifier: BSD-3-Clause
"""The text of a rendered report has no joined sentences."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import polars as pl
import pytest

from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.papers.claims import Claim, ClaimVerdict, Paper
from westwood.results.folder import Folder
from westwood.results.verdicts import Verdict

INLINE = {"span", "a", "em", "strong", "code"}
# A sentence or clause that meets the next one without a space, as in "start.The".
JOINED = re.compile(r"\w*[a-z)%][.,;:][A-Z(]\w*|\w*[a-z],[a-z]\w*| [.,;:]\B|  +\S")


class Text(HTMLParser):
    """Collects the text of a page, a line for each block."""

    def __init__(self):
        super().__init__()
        self.parts: list[str] = []
        self.hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.hidden += tag in ("style", "script", "pre")
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_endtag(self, tag: str) -> None:
        self.hidden -= tag in ("style", "script", "pre")
        if tag not in INLINE:
            self.parts.append("\n")

    def handle_data(self, data: str) -> None:
        if not self.hidden:
            self.parts.append(re.sub(r"\s", " ", data))

    @classmethod
    def lines(cls, page: str) -> list[str]:
        parser = cls()
        parser.feed(page)
        return [line.strip() for line in "".join(parser.parts).split("\n")]


def verdict(word: str, elsewhere: str) -> ClaimVerdict:
    paper = Paper("p", "A paper", "Journal, 2001")
    claim = Claim(
        f"c-{word}", paper, "Figure 1", "It is faster.", "As there", "A", "Goodput.", "A quote."
    )
    explanation = "" if word == "meets" else "It is slower."
    gap = {"gap": [1.0, 2.0]}
    return ClaimVerdict(claim, Verdict(word), gap, explanation, elsewhere=elsewhere)


def page(folder: Path, elsewhere: str, tested: bool, opens: list[LabLink]) -> str:
    words = ["meets", "fails", *(["not run"] if tested else [])]
    verdicts = [verdict(word, elsewhere) for word in words]
    points = pl.DataFrame({"flow": ["tcp"], "cc": ["reno"], "loss": ["1%"]}).with_columns(
        goodput_bps=1e6, goodput_bps_ci95=1e4
    )
    pair = {"flow": "tcp", "cc": "cubic", "minus": "reno", "loss": "1%", "mean": 1e5}
    pair |= {"half": 1e3, "ratio": 1.1, "ratio_ci95": 0.01, "effect": 2.0, "p": 0.01}
    section = report.Section(
        "s",
        "A section",
        report.Drawn(b"<svg/>"),
        [report.Table("path", 1, points, ["loss"], ["goodput_bps"])],
        verdicts[:2],
        "default",
        "the default",
        pairs=[report.pair_cells(pair, ["loss"], "goodput_bps")],
        text=["A paragraph."],
        grids=[report.Grid("A grid", ["one"], [["a cell"]])],
        opens=opens,
    )
    return report.write(Folder(folder), "A page", [section], "{}", verdicts).read_text()


@pytest.mark.parametrize("elsewhere", ["", "It holds in 3 of 4."])
@pytest.mark.parametrize("tested", [False, True])
@pytest.mark.parametrize(
    "opens",
    [
        [],
        [LabLink("path", "#a")],
        [LabLink("path", "#a"), LabLink("fading", "")],
        [LabLink("a.toml", "")],
    ],
)
def test_no_two_sentences_are_joined(elsewhere, tested, opens, tmp_path):
    lines = Text.lines(page(tmp_path, elsewhere, tested, opens))
    joined = [line for line in lines if JOINED.search(line.replace("a.toml", "file"))]
    assert len(lines) > 20 and not joined


@pytest.mark.parametrize("text", ["from its start.The verdict", "one,two", "one .", "95 %.Two"])
def test_joined_sentences_are_found(text):
    assert JOINED.search(text)


def test_a_pair_has_its_difference_and_ratio(tmp_path):
    lines = Text.lines(page(tmp_path, "", tested=False, opens=[]))
    assert "CUBIC minus Reno" in lines
    assert "0.1 ± 0.001 Mb/s" in lines and "+10.0 ± 1.0 %" in lines


def test_what_was_measured_has_labels_and_units_instead_of_keys():
    measured = {
        "smallest_lead": {"of": "westwood-ns3", "relative": 0.0063094, "at": "0.0001"},
        "gap_bps": {"0.01": {"mean": 1.23456e6, "half": 12345.6}},
        "largest_spread": {"reno": {"bps": 999_949.0}},
        "silence_s": [0.01, 0.5],
    }
    assert list(report.facts(measured)) == [
        ("smallest lead, of", "Westwood (ns-3, 2013)"),
        ("smallest lead, relative", "0.006309"),
        ("smallest lead, at", "0.0001"),
        ("gap, 0.01", "1.235 ± 0.012 Mb/s"),
        ("largest spread, Reno", "0.9999 Mb/s"),
        ("silence", "10 to 500 ms"),
    ]
