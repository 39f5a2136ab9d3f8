# SPDX-License-Identifier: BSD-3-Clause
"""A paper's open settings are searched without bias and reproducibly, and reported as found."""

import functools
import html
import json
import random
import re
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tracked import everything

from westwood import Scenario
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.experiments import experiment
from westwood.papers import claims, reproduce
from westwood.papers.checks.common import Measured
from westwood.papers.infer import parts, propose, published, space, tree
from westwood.papers.infer.apply import applied
from westwood.papers.infer.evaluate import ClaimTestSet, outcomes
from westwood.papers.infer.report import InferenceReport, packaged
from westwood.papers.infer.result import seeds_of
from westwood.papers.infer.space import Setting, Value
from westwood.papers.studies import STUDIES
from westwood.results.folder import Folder

PAPERS = space.papers()
SMALL = "linux-2003"  # its runs are short
DOCS = Path(__file__).parents[3] / "docs"


def made_up(key: str, *words: str) -> Setting:
    return Setting(key, f"the {key}", tuple(Value(word, {}, "made up") for word in words))


SETTINGS = (
    made_up("queue", "20", "50", "100"),
    made_up("filter", "none", "ewma"),
    made_up("rto", "1s", "200ms"),
)


def cases(holds: Any, count: int = 600) -> list[tree.Case]:
    draw = random.Random(1)
    chosen = [
        {setting.key: draw.choice(setting.choices) for setting in SETTINGS} for _ in range(count)
    ]
    return [(choice, bool(holds(choice, draw))) for choice in chosen]


# The tree


def test_a_tree_finds_the_two_settings_that_decide_a_claim():
    grown = tree.grow(
        SETTINGS, cases(lambda pick, draw: pick["queue"] != "50" and pick["filter"] == "ewma")
    )

    leaf, branch = grown.best()

    assert leaf.share == 1
    assert branch == {"filter": ("ewma",), "queue": ("20", "100")}
    assert tree.Tree.read(json.loads(json.dumps(grown.entry()))) == grown


def test_a_setting_that_divides_twice_is_one_condition():
    shares = {"20": 0.95, "50": 0.65, "100": 0.0}
    grown = tree.grow(SETTINGS, cases(lambda pick, draw: draw.random() < shares[pick["queue"]]))

    assert grown.more and grown.setting == grown.more.setting == "queue"
    assert grown.best()[1] == {"queue": ("20",)}


def test_a_tree_tolerates_noise_and_ignores_pure_noise():
    noisy = tree.grow(
        SETTINGS, cases(lambda pick, draw: (pick["rto"] == "1s") ^ (draw.random() < 0.2))
    )
    chance = tree.grow(SETTINGS, cases(lambda pick, draw: draw.random() < 0.5))

    assert (noisy.setting, noisy.values) == ("rto", ("1s",))
    assert noisy.more and 0.7 < noisy.more.share < 0.9
    assert chance.setting == ""


def test_few_cases_of_chance_are_not_divided():
    divided = [
        tree.grow(
            SETTINGS, cases(lambda pick, draw, share=share: draw.random() < share, 60)
        ).setting
        for share in (0.1, 0.3, 0.5, 0.7, 0.9)
    ]

    assert divided == [""] * 5


@pytest.mark.parametrize("always", [True, False])
def test_a_claim_that_always_or_never_holds_depends_on_nothing(always):
    grown = tree.grow(SETTINGS, cases(lambda pick, draw: always))

    assert grown == tree.Tree(600, 600 * always)
    assert list(tree.drawn(grown, str)) == [f"holds in {'100' if always else '0'}% of 600"]


def test_a_tree_is_drawn_with_both_sides_of_each_division():
    grown = tree.grow(SETTINGS, cases(lambda pick, draw: pick["queue"] == "20"))

    lines = list(tree.drawn(grown, lambda key: f"the {key}"))

    assert lines[1].startswith("├─ the queue: 20: 100% of ")
    assert lines[2].startswith("└─ otherwise: 0% of ")
    assert len(lines) == 3


# What is open


@pytest.mark.parametrize("paper", PAPERS)
def test_every_value_has_a_reason_and_an_effect(paper):
    open_ = space.of(paper)
    test_set = ClaimTestSet(open_, tuple(claim.id for claim in open_.claims), (1,), thin=True)
    places = [place for points in test_set.points.values() for place in (points[0], points[-1])]
    for setting in open_.settings:
        first, *others = setting.values
        assert not first.set and first.why and len(set(setting.choices)) == len(setting.choices)
        for value in others:
            hashes = [applied(place.scenario, place.fixed, [value]).hash for place in places]
            changed = hashes != [place.scenario.hash for place in places]
            assert value.why and (changed or value.measures), f"{setting.key}: {value.name}"


@pytest.mark.parametrize("paper", PAPERS)
def test_all_values_go_together(paper):
    open_, draw = space.of(paper), random.Random(paper)
    test_set = ClaimTestSet(open_, tuple(claim.id for claim in open_.claims), (1,), thin=True)
    places = [point for points in test_set.points.values() for point in (points[0], points[-1])]
    for chosen in propose.propose(open_, draw.randrange(1000), 0, {})[:8]:
        values = open_.values(chosen)
        assert all(applied(place.scenario, place.fixed, values) for place in places)


def test_all_claims_that_simulations_decide_belong_to_a_paper_whose_settings_are_listed():
    decided = {claim for study in STUDIES.values() for claim in study.claims}
    decided -= {claim.id for claim in claims.claims().values() if claim.undecidable}

    assert {claim.id for paper in PAPERS for claim in space.of(paper).claims} == decided


def test_keys_that_a_scenario_sweeps_or_owns_stay():
    acks = Value("", {"flow.delayed_ack": 1, "duration": "100s"}, "")
    point = Scenario.preset("fig8").with_settings({"tcp.delayed_ack": 4})

    free = applied(point, (), [acks])
    fixed = applied(point, ("tcp.delayed_ack", "duration"), [acks])

    assert free.flow[0].delayed_ack == 1 and free.duration < point.duration
    assert fixed.hash == point.hash


def test_parts_of_a_queue_combine_and_reds_apply_only_to_red():
    values = [
        Value("", {"bottleneck.queue": {"kind": "red", "min": 5, "max": 15}}, ""),
        Value("", {"bottleneck.queue.limit": "30p", "bottleneck.red.max": 20}, ""),
    ]
    point = Scenario.preset("table1")

    red, droptail = applied(point, (), values), applied(point, (), values[1:])

    queue = red.link[1].queue.model_dump()
    assert {**queue, "kind": "red", "limit": "30p", "min": 5, "max": 20} == queue
    assert droptail.link[1].queue.model_dump() == {"kind": "droptail", "limit": "30p"}
    assert droptail.link[0].queue == point.link[0].queue


# What is proposed


def test_a_filling_batch_has_every_value_equally_often():
    open_ = space.of("mobicom-2001")
    batches = [propose.propose(open_, 1, batch, {}) for batch in (0, 1)]

    for batch in batches:
        for setting in open_.settings:
            counts = Counter(chosen[setting.key] for chosen in batch)
            assert set(counts) == set(setting.choices)
            assert max(counts.values()) - min(counts.values()) <= 1
    assert batches[0] != batches[1]
    assert batches[0] == propose.propose(open_, 1, 0, {}) != propose.propose(open_, 2, 0, {})


def test_a_refining_batch_tries_nothing_twice():
    open_, before = space.of("linux-2003"), {0: (space.of("linux-2003").profile, 0.0)}
    for batch in (0, 1):
        picks = propose.propose(open_, 1, batch, before)
        before |= {n: (pick, 1.0) for n, pick in zip(propose.numbers(batch), picks, strict=True)}

    refined = propose.propose(open_, 1, 2, before)

    old = [tuple(chosen.values()) for chosen, _ in before.values()]
    assert len({tuple(pick.values()) for pick in refined} - set(old)) == len(refined)
    assert refined == propose.propose(open_, 1, 2, before)


def test_a_small_space_is_exhausted_without_repetition():
    small = replace(space.of(SMALL), settings=SETTINGS)
    before: dict[int, tuple[space.Chosen, float]] = {0: (small.profile, 0.0)}
    picks = propose.propose(small, 1, 0, before)
    before |= {n: (pick, 1.0) for n, pick in zip(propose.numbers(0), picks, strict=False)}

    assert len({tuple(pick.values()) for pick in picks}) == len(picks) == small.count == 12
    assert propose.propose(small, 1, 1, before) == propose.propose(small, 1, 2, before) == []


def test_a_refining_batch_is_not_a_filling_one():
    batches = [all(map(propose.fills, propose.numbers(batch))) for batch in range(6)]

    assert batches == [True, True, False, True, True, False]
    assert [n for batch in range(3) for n in propose.numbers(batch)] == list(range(1, 73))


# What is run


def test_seeds_that_search_choose_decide_and_witness_are_disjoint_in_every_search():
    purposes = ("search", "choosing", "fresh", "witness")
    for paper in PAPERS:
        seeds = [
            seeds_of(space.of(paper), search, purpose) for search in (1, 2) for purpose in purposes
        ]
        assert len({seed for some in seeds for seed in some}) == sum(map(len, seeds))


def test_a_run_shared_by_several_figures_happens_once():
    open_ = space.of("ns3-2013")
    test_set = ClaimTestSet(
        open_, ("ns3.fig5.order", "ns3.fig6.delay", "ns3.fig10.cwnd"), (1, 2), thin=True
    )

    plan = test_set.plan(open_.profile)

    hashes = {key for wanted in plan.wanted.values() for _, key in wanted}
    asked = sum(len(wanted) for wanted in plan.wanted.values())
    assert plan.runs == 2 * len(hashes) < 2 * asked
    traced = {key for _, key in plan.wanted["fig10"]}
    assert all((plan.jobs[key].more_columns is not None) == (key in traced) for key in plan.jobs)


def test_the_profile_has_the_verdicts_that_reproduce_gives():
    open_ = space.of("plateau")
    ids = ("plateau.wired", "plateau.friendly_newreno", "plateau.friendly_westwood")
    test_set = ClaimTestSet(open_, ids, (1, 2, 3), thin=False)
    pool = functools.partial(run_jobs, prepare=prepare, workers=2)
    ((_, outcome),) = outcomes([test_set.plan(open_.profile)], pool)
    measured = {}
    for name in test_set.bases:
        base = Scenario.preset(name)
        planned = experiment.plan(base, seeds=3 if base.seeds > 1 else 1)
        rows = experiment.collect(planned, workers=2, track=everything).rows
        measured[name] = Measured(rows, experiment.points(planned, rows), "")

    expected = {verdict.claim.id: verdict.explanation for verdict in claims.check(ids, measured)}

    assert outcome.explanations == expected


def test_a_number_deviates_both_ways_and_a_bound_only_above():
    about = published.Number("a", "b", ("c",), 2.0)
    bound = published.Number("a", "b", ("c",), 2.0, "at most")

    assert [about.off(value) for value in (2.0, 1.5, 2.5, 9.0, None)] == [0, 0.25, 0.25, 1, 1]
    assert [bound.off(value) for value in (1.0, 2.0, 2.5, None)] == [0, 0, 0.25, 1]


# Reports


def report_of(**claim: Any) -> InferenceReport:
    grown = tree.grow(
        space.of(SMALL).settings[:2],
        [({"path": "x", "queue": "y"}, False)],
    )
    first = {"claim": "linux.rate_halving", "held": 0, "profile": False, "inferred": False}
    first |= {"witness": None, "tree": grown.entry(), **claim}
    data = {"paper": SMALL, "settings": 49, "possible": 1536, "claims": [first], "numbers": []}
    return InferenceReport(data)


def test_never_means_that_no_setting_confirmed_it_on_new_seeds():
    assert report_of().elsewhere("linux.rate_halving") == (
        "It holds under none of 49 settings that the paper leaves open."
    )
    held = report_of(held=3, unconfirmed=["a silence", "another"])
    assert held.elsewhere("linux.rate_halving") == (
        "It held in 3 of 49 settings in the search. New seeds judged 2 of them and confirmed none."
    )
    assert held.never == ["linux.rate_halving"]


def test_all_means_that_no_setting_is_left():
    report = InferenceReport({**report_of().data, "possible": 49})

    assert report.elsewhere("linux.rate_halving").startswith("It holds under none of all 49 ")


def test_mutually_exclusive_parts_explain_why_a_claim_never_holds():
    exclusions = parts.excluding(
        [
            "Reno at 0.01: 2 is above 1; Reno at 0.05: 2 is above 1",
            "Reno's spread is 3 Mb/s, expected from 0 to 1 Mb/s",
            "Reno's spread is 2 Mb/s, expected from 0 to 1 Mb/s; Tahoe at 0.01: 2 is above 1",
        ]
    )

    assert exclusions["holding"] == {"Reno": 2, "Reno's spread": 1, "Tahoe": 2}
    assert exclusions["apart"] == [["Reno", "Reno's spread"]]
    assert "**Reno** and **Reno's spread** exclude each other" in parts.written(exclusions)


def test_independent_parts_are_reported_as_such():
    exclusions = parts.excluding(["a: 1", "b: 1", "a: 1; b: 1", ""])

    assert exclusions == {"of": 4, "all": 1, "holding": {"a": 2, "b": 2}, "apart": []}
    assert "in 1 of 4 settings; independent parts would hold in 1." in parts.written(exclusions)


def test_a_claim_is_said_to_hold_more_often_in_its_best_branch():
    branches = tree.Tree(50, 48), tree.Tree(50, 2)
    grown = tree.Tree(100, 50, "queue", ("10 packets", "50 packets"), *branches)
    report = report_of(witness={}, tree=grown.entry())

    assert report.elsewhere("linux.rate_halving") == (
        "It holds under 50% of the settings that the paper leaves open, and under 96% of those "
        "with the queue: 10 packets or 50 packets."
    )


def test_a_claim_that_hardly_any_setting_has_is_not_said_to_hold_under_none():
    report = report_of(witness={}, tree=tree.Tree(1000, 4).entry())
    assert " fewer than 1% " in report.elsewhere("linux.rate_halving")


def test_a_claim_that_nearly_every_setting_has_decides_nothing():
    report = report_of(witness={}, tree=tree.Tree(100, 97).entry())
    assert report.decides_nothing("linux.rate_halving")
    assert report.elsewhere("linux.rate_halving").endswith("so it decides nothing.")


# What the text excludes


def test_a_value_that_the_text_excludes_is_never_tried_and_has_an_effect():
    open_ = space.of("mobicom-2001")
    assert "none" in open_.excluded
    for name, (setting, value) in open_.excluded.items():
        assert name not in setting.choices and value.why
        assert open_.values(open_.profile, name) == [value]
        inferred = {other.key: other.choices[-1] for other in open_.settings}
        others = [other.values[-1] for other in open_.settings if other is not setting]
        assert open_.values(inferred, name) == [*others, value]


@pytest.mark.parametrize("paper", sorted(packaged()))
def test_packaged_reports_match_the_open_settings(paper):
    report, open_ = packaged()[paper], space.of(paper)

    assert list(report.claims) == [claim.id for claim in open_.claims]
    assert list(report.inferred) == [setting.key for setting in open_.settings]
    assert all(setting.has(report.inferred[setting.key]) for setting in open_.settings)
    assert report.data["possible"] == open_.count
    assert all(list(tree.drawn(report.tree(claim), report.what)) for claim in report.claims)


def test_make_searches_repeats_the_packaged_reports():
    declared = re.search(r"^SEARCHES \?= (.*)$", (DOCS.parent / "Makefile").read_text(), re.M)
    assert declared
    commands = [
        f"{report.paper}:{report.settings - 1}:{report.data['seed']}"
        for report in packaged().values()
    ]
    assert declared[1].split() == commands


def test_the_page_of_claims_has_one_verdict_and_says_below_where_it_changes(tmp_path):
    selection, claim = reproduce.select("plateau-wired"), "plateau.wired"

    reproduce.run(selection, Folder(tmp_path), workers=2, track=everything)

    (entry,) = json.loads((tmp_path / "claims.json").read_text())["claims"]
    elsewhere = packaged()["plateau"].elsewhere(claim)
    assert entry["verdict"] == "DIFFERS" and entry["elsewhere"] == elsewhere
    page_ = html.unescape((tmp_path / "index.html").read_text())
    assert page_.index('<td class="verdict DIFFERS">') < page_.index(elsewhere)
