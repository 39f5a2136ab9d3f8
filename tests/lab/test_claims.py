# SPDX-License-Identifier: BSD-3-Clause
"""The page decides a claim at the present setting, with the same result as `reproduce`."""

from dataclasses import replace
from typing import Any

import pytest

from westwood.experiments import experiment
from westwood.papers import claims
from westwood.papers.checks import CHECKS, SETTING_BOUNDS
from westwood.papers.checks.bounds import SettingBounds
from westwood.papers.checks.common import Measured
from westwood.papers.studies import STUDIES
from westwood.scenario import Scenario
from westwood.scenario.preset_files import presets_folder

SEEDS = 5
SHORT = "120s"
# By preset: the settings to test.
ASKED: dict[str, dict[str, Any]] = {
    "fig5": {"bottleneck.loss.rate": 0.002},
    "fading": {"bottleneck.loss.bad_rate": 0.05},
    "ack-compression": {},
    "plateau-friendly": {},
}
LONGER: dict[str, dict[str, Any]] = {
    "fig6": {"bottleneck.delay": "50ms"},
    "fig10": {},
    "friendliness": {},
    "blackout": {"bottleneck.loss.bad": "0.2s"},
    "plateau-wired": {},
}
CASES = [*ASKED.items(), *(pytest.param(*case, marks=pytest.mark.slow) for case in LONGER.items())]
GO = """(settings) => {
    const next = lab.state, { link, flow } = next.scenario;
    delete next.view;
    for (const [key, value] of Object.entries(settings)) {
        const path = key.split(".");
        const part = [...link, ...flow].find((one) => one.name === path[0]);
        let table = path.length > 1 ? part : next.scenario;
        for (const step of path.slice(1, -1)) table = table[step];
        table[path.at(-1)] = value;
    }
    return lab.open(next);
}"""
WATCH = """() => {
    window.outcomes = [];
    const note = () => window.outcomes.push(document.querySelector("#paper").textContent);
    const options = { childList: true, subtree: true };
    new MutationObserver(note).observe(document.querySelector("#paper"), options);
}"""
VERDICTS = """[...document.querySelectorAll("#paper .claim")].map((one) =>
    one.querySelector(".outcome .verdict")?.textContent ?? "")"""


def wait_for_verdicts(page: Any, seeds: int = SEEDS) -> list[str]:
    """Returns the page's words about the claims, once it has run all seeds."""
    page.wait_for_selector(f'body[data-judged="{seeds}"]')
    return [str(verdict) for verdict in page.evaluate(VERDICTS)]


def measured(name: str, coordinates: dict[str, Any]) -> Measured:
    """Returns the rows of `reproduce` at this setting."""
    study = next(candidate for candidate in STUDIES.values() if name in candidate.scenarios)
    base = Scenario.from_toml(presets_folder() / f"{name}.toml")
    sweep = {
        key: [coordinates[key]] if key in coordinates else list(values)
        for key, values in base.sweep.items()
    }
    scenario = base.with_settings({"duration": SHORT}).with_sweep(sweep)
    planned = experiment.plan(scenario, seeds=SEEDS)
    if study.observer:
        jobs = [replace(job, **study.observer.job_settings) for job in planned.jobs]
        planned = replace(planned, jobs=jobs)
    rows = experiment.collect(planned, workers=1, track=lambda work, total: work).rows
    return Measured(rows, experiment.points(planned, rows), study.scenarios[name])


@pytest.mark.parametrize(("name", "coordinates"), CASES)
def test_a_claim_has_the_same_verdict_as_in_reproduce(tab, name, coordinates):
    tab.evaluate("(name) => lab.openPreset(name)", name)
    tab.evaluate(GO, {"duration": SHORT, **coordinates})
    ours = wait_for_verdicts(tab)
    study = next(candidate for candidate in STUDIES.values() if name in candidate.scenarios)
    ids = [
        claim
        for claim in study.claims
        if not isinstance(bound := SETTING_BOUNDS.get(claim, ""), str)
        and not isinstance(bound[name], str)
    ]
    theirs = claims.check(ids, {name: measured(name, coordinates)})
    assert [verdict for verdict in ours if verdict] == [check.verdict.claim for check in theirs]


def test_leaving_a_preset_changes_its_verdict_and_returning_restores_it(opened):
    page = opened("#preset=fig5")
    assert wait_for_verdicts(page) == ["HOLDS", "HOLDS", "", "", "", ""]
    assert "Westwood's throughput is far above" in page.locator("#paper").inner_text()
    loss = page.locator('[data-field="loss-rate"] input:visible')
    loss.last.focus()
    page.keyboard.press("End")  # three packets in ten
    assert wait_for_verdicts(page) == ["DIFFERS", "HOLDS", "", "", "", ""]
    assert (
        "is about bottleneck.loss.rate from 0.0001 to 0.05" in page.locator("#paper").inner_text()
    )
    assert page.locator("#verdicts").inner_text() == "claims at this setting: 1 HOLDS, 1 DIFFERS"
    assert page.locator(".claim > summary > .verdict").all_inner_texts() == [
        *["HOLDS"] * 4,
        *["NOT DECIDABLE"] * 2,
    ]
    page.get_by_role("button", name="Zoom in").click()  # not another setting
    assert page.get_attribute("body", "data-judged") == str(SEEDS)
    loss.first.fill("0.005")
    loss.first.press("Enter")
    assert wait_for_verdicts(page) == ["HOLDS", "HOLDS", "", "", "", ""]


@pytest.mark.parametrize(("name", "runs"), [("fig5", "30 runs"), ("fig8", "10 runs")])
def test_a_papers_claims_say_how_many_runs_decided_them(tab, name, runs):
    tab.evaluate("(name) => lab.openPreset(name)", name)
    assert f"westwood reproduce: {runs} at each point" in tab.locator("#paper").inner_text()


def test_a_verdict_of_the_first_seeds_is_called_provisional(tab):
    tab.evaluate(WATCH)
    tab.evaluate("lab.openPreset('fig5')")
    wait_for_verdicts(tab)
    texts = tab.evaluate("window.outcomes")
    assert any("seeds 1 to 2 so far: " in text for text in texts)
    last = tab.locator("#paper .outcome").first.inner_text()
    assert "seeds 1 to 5: " in last and "so far" not in tab.locator("#verdicts").inner_text()
    assert any("expected 0.909 to 1.1" in text for text in texts)


def test_an_undecided_claim_gives_the_reason(opened):
    page = opened("#preset=fig9")
    assert "no single setting shows" in page.locator("#paper .outcome").inner_text()
    page = opened("#preset=fading")
    page.get_by_label("All in one network").check()
    page.locator("#paper .outcome", has_text="separate networks").wait_for()
    page.evaluate("lab.openPreset('path')")
    assert page.locator("#verdicts").inner_text() == ""


def test_every_claim_has_a_verdict_or_a_reason():
    decidable = {key for key in CHECKS if not claims.claims()[key].undecidable}
    assert SETTING_BOUNDS.keys() == decidable
    for name, study in STUDIES.items():
        for claim in study.claims:
            if claims.claims()[claim].undecidable:
                continue
            bound = SETTING_BOUNDS[claim]
            if isinstance(bound, str):
                assert bound.endswith(".") and bound.count(". ") == 0, name
            else:
                assert bound.keys() == study.scenarios.keys()
                for entry in bound.values():
                    if isinstance(entry, str):
                        assert entry.endswith(".") and entry.count(". ") == 0, name
                    else:
                        assert isinstance(entry, SettingBounds) and entry.conditions, name


def test_a_presets_fifth_control_can_be_shown(opened):
    page = opened("#preset=fig5")
    assert page.evaluate("lab.rows")[0]["cc"] == "reno"
    page.get_by_role("button", name="Show Tahoe").click()
    page.get_by_role("button", name="Show Reno").wait_for()
    shown = ["newreno", "westwood-ns3", "westwood+-ns3", "tahoe"]
    assert [line["tcp.cc"] for line in page.evaluate("lab.state.lines")] == shown
    assert page.evaluate("lab.state.others") == [{"tcp.cc": "reno"}]
    page.get_by_role("button", name="Remove NewReno").click()
    assert page.evaluate("lab.state.others.length") == 2
    page.get_by_role("button", name="Show NewReno").click()
    assert [line["tcp.cc"] for line in page.evaluate("lab.state.lines")] == [*shown[1:], "newreno"]


def test_controls_share_the_network_of_their_flow(opened):
    page = opened("#preset=plateau-friendly")
    page.get_by_label("All in one network").check()
    page.wait_for_selector('body[data-shown="2"]')
    flows = [(row["flow"], row["cc"]) for row in page.evaluate("lab.rows")]
    competing = [("S2-tcp-a", "newreno"), ("S2-tcp-b", "westwoodnr")]
    assert flows == [("S1-tcp", "westwoodnr+"), *competing]
    page.evaluate("lab.openPreset('friendliness')")  # its lines set two flows
    assert page.get_by_label("All in one network").is_hidden()
