# SPDX-License-Identifier: BSD-3-Clause
"""The verdicts and figures in docs/ agree with today's simulator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tools import tries, verdicts
from westwood.papers.claims import claims
from westwood.papers.studies import STUDIES

CURE = "run: make verdicts"
STORED = verdicts.read()
CLAIMS = STORED["claims"]


@pytest.mark.parametrize("page", verdicts.PAGES, ids=lambda page: page.name)
def test_a_page_agrees_with_the_file(page: Path) -> None:
    assert verdicts.is_written(STORED, page), CURE


def test_the_file_has_every_claim_and_its_condition() -> None:
    assert {name: one["measure"] for name, one in CLAIMS.items()} == {
        one.id: one.measure for one in claims().values()
    }, CURE


def test_the_figures_are_of_todays_simulator_profiles_and_scenarios() -> None:
    names = sorted({name for study in STUDIES.values() for name in study.scenarios})
    now = verdicts.fingerprints(names)
    stale = [name for name in names if now[name] != STORED["fingerprints"].get(name)]
    assert not stale, f"{stale}: {CURE}"


PAGE = """<!-- verdicts -->
old
<!-- end of verdicts -->
It is <!-- a.b: ratio/of one .2f -->9<!-- / -->,
<!-- a.b with x.y=2p: ratio .1f -->9<!-- / --> and <!-- a.b: parts/1 1e-6*.1f -->8<!-- / -->.
"""
SAID = {
    "a.b": {
        "verdict": "DIFFERS",
        "measure": "Above 1.",
        "explanation": "it is 0.81",
        "measured": {"ratio": {"of one": 0.8149}, "parts": [1, 2.25e6]},
    }
}
TRIED = {"a.b with x.y=2p": {"verdict": "HOLDS", "measured": {"ratio": 1.25}}}
WHOLE = {"claims": SAID, "tried": TRIED}


def test_a_stale_page_is_detected_and_rewritten(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE)
    assert not verdicts.is_written(WHOLE, page)
    verdicts.write(WHOLE, page)
    assert verdicts.is_written(WHOLE, page)
    text = page.read_text()
    assert (
        "-->0.81<!-- / -->," in text
        and "-->1.2<!-- / --> and" in text
        and "-->2.2<!-- / -->." in text
    )
    assert "1 claims: 0 HOLD, 1 DIFFER" in text and "| `a.b` | DIFFERS | it is 0.81 |" in text
    page.write_text(text.replace("-->0.81<", "-->0.82<"))
    assert not verdicts.is_written(WHOLE, page)


def test_the_file_has_exactly_the_tries_that_pages_quote() -> None:
    named = tries.named(page.read_text() for page in verdicts.PAGES)

    assert named == sorted(STORED["tried"]), CURE


def test_a_try_is_run_under_the_setting_that_it_names() -> None:
    (name,) = tries.named(
        ["It is <!-- linux.rate_halving with flow.rack=false: x .1f -->1<!-- / -->"]
    )

    found = tries.measured(name)

    assert name == "linux.rate_halving with flow.rack=false"
    assert found["verdict"] == "HOLDS" and found["measured"]


def test_stored_measurements_have_few_digits() -> None:
    assert verdicts.rounded({"a": [1.23456789, 3, "x"]}) == {"a": [1.23457, 3, "x"]}
    assert json.dumps(verdicts.rounded(1e9 / 3)) == "333333000.0"


@pytest.mark.slow
def test_the_command_still_gives_this_result(tmp_path: Path) -> None:
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
    assert verdicts.kept(claims)["claims"] == CLAIMS, CURE
