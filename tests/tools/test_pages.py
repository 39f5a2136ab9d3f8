# SPDX-License-Identifier: BSD-3-Clause
"""The measured numbers in docs/ agree with today's simulator."""

import json
import re
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from tools import bbr3_page, claims_page, conclusions, manual, ns2_page, pages
from tools.page_table import PAGES
from tools.pages import Page
from westwood.papers.studies import STUDIES

ALL = PAGES | claims_page.OTHERS
SAMPLES = [(name, sample) for name, page in ALL.items() for sample in page.samples]
LONGEST = 300  # lines of a page that a person reads
MOST_PAGES, MOST_LINES = 30, 7000
LONG = {"options.md", "settings.md", "profiles.md", "control-reference.md"}  # to look things up
STORED = claims_page.PAGE.read()


@pytest.mark.parametrize("name", [name for name, page in ALL.items() if page.file])
def test_a_page_agrees_with_its_file(name):
    assert ALL[name].is_written(ALL[name].read()), f"run: python -m tools.pages {name}"


@pytest.mark.parametrize(("name", "sample"), SAMPLES)
def test_a_page_is_not_older_than_what_decides_it(name, sample):
    now, kept = ALL[name].samples[sample](ALL[name].read())
    assert pages.rounded(now) == pages.rounded(kept), f"run: python -m tools.pages {name}"


def test_the_class_quotes_todays_runs():
    page = PAGES["lab"]
    assert page.measure
    (numbers,) = page.measure({}, ())
    assert page.is_written(numbers), "run: python -m tools.pages lab"
    assert page.page.read_text(encoding="utf-8").count("<!-- / -->") > 30


@pytest.mark.parametrize("name", conclusions.CONCLUSIONS)
def test_a_page_of_evidence_begins_with_five_sentences_from_its_tables(name):
    text = (pages.DOCS / name).read_text(encoding="utf-8")
    sentences = pages.table_of("result", text)
    assert sentences == conclusions.written(name, text), "run: python -m tools.pages conclusions"
    assert len(list(conclusions.CONCLUSIONS[name](text))) == 5
    assert text.index("<!-- result -->") < text.index("\n## ")


def test_a_conclusion_follows_its_table():
    text = (pages.DOCS / "theory.md").read_text(encoding="utf-8")
    other = text.replace(
        "| `westwood-ns3` | 0.990 ± 0.010 | 0.903 ± 0.061 | 0.398", "| `x` | 1 | 1 | 0.1"
    )
    assert "`x` with 0.10" in conclusions.written("theory.md", other)


def test_the_guide_is_short():
    counted = [page for page in pages.DOCS.rglob("*.md") if page.name not in LONG]
    assert len(counted) <= MOST_PAGES
    assert sum(page.read_text("utf-8").count("\n") for page in counted) <= MOST_LINES


@pytest.mark.parametrize("loss", [0.5, 1.0, 1.5])
def test_random_loss_costs_what_the_bbr_draft_predicts(loss):
    """5.3.3.8.3: each round trip of cruising multiplies the rate by (1 - loss rate)."""
    goodput = PAGES["bbr3"].read()["loss"]["bbr3"][bbr3_page.LOSSES.index(loss)]
    assert goodput == pytest.approx(bbr3_page.predicted(loss), abs=0.06)


@pytest.mark.parametrize(
    "page", sorted(pages.DOCS.glob("pages/*.html")), ids=lambda page: page.name
)
def test_a_published_page_names_commands_that_exist(page):
    called = set(re.findall(r"\bwestwood ([a-z]+)(?: ([a-z-]+))?", page.read_text("utf-8")))
    commands = manual.commands().keys()
    unknown = [words for words in called if not {words[0], " ".join(words)} & commands]
    assert called and not unknown


def test_a_page_is_short_enough_to_be_read():
    lines = {page.name: page.read_text("utf-8").count("\n") for page in pages.DOCS.rglob("*.md")}
    assert {name: count for name, count in lines.items() if count > LONGEST}.keys() <= LONG


def test_the_list_of_figures_names_every_study_that_is_drawn():
    text = claims_page.OTHERS["figures"].page.read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w-]+)`", text))
    assert set(STUDIES) <= named


PAGE = """<!-- result -->
<!-- end of result -->
<!-- verdicts -->
old
<!-- end of verdicts -->
<!-- words -->
<!-- end of words -->
It is <!-- a.b: ratio/of one .2f -->9<!-- / -->,
<!-- a.b with x.y=2p: ratio .1f -->9<!-- / --> and <!-- a.b: parts/1 1e-6*.1f -->8<!-- / -->.
"""
WHOLE = {
    "claims": {
        "a.b": {
            "verdict": "DIFFERS",
            "measure": "Above 1.",
            "explanation": "it is 0.81",
            "measured": {"ratio": {"of one": 0.8149}, "parts": [1, 2.25e6]},
        }
    },
    "tried": {
        "a.b with x.y=2p": {"verdict": "HOLDS", "measured": {"ratio": 1.25}},
    },
    "noise": {"above": 0.025},
}


def rewritten(page: Page, text: str, stored: pages.Numbers, folder: Path) -> str:
    """Writes the numbers into a stale copy of the page; returns the text."""
    copy = replace(page, page=folder / "page.md", file=folder / "numbers.json")
    copy.page.write_text(text)
    assert not copy.is_written(stored)
    copy.write(stored)
    assert copy.is_written(copy.read())
    return copy.page.read_text()


def test_a_stale_page_of_claims_is_detected_and_rewritten(tmp_path):
    text = rewritten(claims_page.PAGE, PAGE, WHOLE, tmp_path)
    assert "-->0.81<!-- / -->," in text
    assert "-->1.2<!-- / --> and" in text
    assert "-->2.2<!-- / -->." in text
    assert "1 claims: 0 HOLD, 1 DIFFER" in text and "| `a.b` | DIFFERS | it is 0.81 |  |" in text
    rewritten(claims_page.PAGE, text.replace("-->0.81<", "-->0.82<"), WHOLE, tmp_path)


def test_a_try_is_run_under_the_setting_that_it_names():
    (name,) = claims_page.tries(
        "It is <!-- linux.rate_halving with flow.rack=false: x .1f -->1<!-- / -->"
    )
    trial = claims_page.tried(name)
    assert name == "linux.rate_halving with flow.rack=false"
    assert trial["verdict"] == "HOLDS" and trial["measured"]


def test_stored_measurements_have_few_digits():
    assert pages.rounded({"a": [1.23456789, 3, "x"]}) == {"a": [1.23457, 3, "x"]}
    assert json.dumps(pages.rounded(1e9 / 3)) == "333333000.0"


def test_a_stale_comparison_with_ns2_is_detected_and_rewritten(tmp_path):
    ratios = {"tahoe": [1.0, 1.2], "reno": [0.96, 1.04]}
    others = {name: [1.0] for name in ("newreno", "sack", "vegas", "westwood+-linux")}
    rows = [
        {"cc": name, "goodput_ratio": ratio, "timeouts": ratio < 1.1}
        for name, some in {**ratios, **others}.items()
        for ratio in some
    ]
    module = {"cc": ["westwood-ucla"] * 2, "goodput_ratio": [0.97, 1.06], "timeouts": [True, False]}
    both = {"2001": pl.DataFrame(rows), "2002": pl.DataFrame(module)}
    grids = {"grids": {name: ns2_page.kept_points(some) for name, some in both.items()}}
    text = rewritten(
        ns2_page.PAGE,
        "<!-- against ns-2 -->\n<!-- end of against ns-2 -->\n"
        "<!-- against the module -->\n<!-- end of against the module -->\n"
        "Up to <!-- ns2: 2001/tahoe/most .2f -->9<!-- / -->.\n",
        grids,
        tmp_path,
    )
    assert "| Tahoe | 1 of 2, 1.00 to 1.20 |" in text and "| together | 5 of 6, 83% |" in text
    assert "| `2002` | 1 of 2, 0.97 to 1.06 | 50% |" in text
    assert "-->1.20<!-- / -->." in text


@pytest.mark.slow
def test_the_command_still_gives_these_verdicts(tmp_path):
    from westwood.papers import reproduce
    from westwood.results.folder import Folder

    done = reproduce.run(
        reproduce.select("all"),
        Folder(tmp_path),
        workers=None,
        track=lambda runs, total: runs,
    )
    assert done is not None
    claims = json.loads((tmp_path / "claims.json").read_text())["claims"]
    assert claims_page.kept_claims(claims)["claims"] == STORED["claims"], "run: make verdicts"
