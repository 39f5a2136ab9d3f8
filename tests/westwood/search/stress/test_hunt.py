# SPDX-License-Identifier: BSD-3-Clause
"""A hunt finds known problems, shrinks them, and writes them as scenarios."""

import json
import random
import signal
from dataclasses import replace
from pathlib import Path

import pytest
from started_tool import Tool

from westwood.cli import control_stress
from westwood.engines.simulator import simulate
from westwood.scenario import Scenario
from westwood.search.stress import attack as attacks
from westwood.search.stress import degradation, hunter, replay, report, shrink
from westwood.search.stress.attack import Attack
from westwood.search.stress.evaluate import Runner
from westwood.search.stress.scenarios import scenario as scenario_of
from westwood.search.stress.search_run import Finding

SEED = 2026  # fresh: no test was tuned with it


def hunted(cc: str, harm: str, environments: int) -> hunter.Hunt:
    hunt = hunter.Hunt(hunter.plan(cc, (harm,), SEED, environments, None), None)
    with hunt.opened(resume=False):
        hunt.run_all(workers=2)
    return hunt


@pytest.fixture(scope="module")
def over() -> hunter.Hunt:
    return hunted("westwood+", "below-cubic", 100)


def starves_cubic(finding: Finding) -> bool:
    """BBRv1 starves CUBIC in a queue of less than one bandwidth-delay product."""
    attack = finding.attack
    return finding.harm == "starves" and attack.queue_bdp < 1.1 and finding.value > 0.5


def is_shrew(finding: Finding) -> bool:
    """Low-rate bursts nearly stop a flow whose minimum RTO is a second."""
    attack = finding.attack
    return (
        finding.harm == "stalled"
        and attack.burst_bps > 0
        and attack.load < 0.35
        and attack.min_rto_us == 1_000_000
        and finding.without["RTO"] < finding.value / 2
    )


def starts_slowly(finding: Finding) -> bool:
    """The goodput is below three quarters of CUBIC's on an undisturbed path."""
    return finding.harm == "below-cubic" and not attacks.features(finding.attack)


def test_westwood_plus_starts_slowly_on_a_clean_path(over):
    assert any(map(starts_slowly, over.findings()))


def test_a_path_is_described_by_its_round_trip_not_its_one_way_delay():
    attack = Attack(10_000_000, 7_000, 6, 20_000_000, 1)
    assert report.path(attack).startswith("10 Mb/s, RTT 7 ms, a queue of 7.2 ms")


def test_it_draws_queues_too_short_to_detect_and_competitors_at_other_round_trips():
    """A fifth of the attacks have a queue below RTTmin/16, too short to detect easily."""
    choices, names = random.Random(4), ["beside", "elsewhere", "several"]
    drawn = [
        attacks.drawn(names, [choices.random() for _ in range(attacks.genes(names))], 1)
        for _ in range(400)
    ]
    assert sum(attack.queue_bdp < 1 / 16 for attack in drawn) > 60
    assert min(attack.queue_packets for attack in drawn) == 2
    ratios = sorted(attack.beside_delay_us / attack.delay_us for attack in drawn)
    assert ratios[40] < 0.15 and ratios[-40] > 7
    assert max(attack.flows for attack in drawn) > 40 < max(attack.beside_flows for attack in drawn)
    assert not attacks.fit_together(["elsewhere"]), "it needs others beside it"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cc", "side", "environments", "is_known"),
    [
        ("bbr", "by-it", 5_000, starves_cubic),
        ("sack", "to-it", 40_000, is_shrew),
        ("westwood+", "to-it", 5_000, starts_slowly),
    ],
)
def test_it_finds_known_problems_without_hints(cc, side, environments, is_known):
    assert any(map(is_known, hunted(cc, side, environments).findings()))


def test_a_finding_is_a_scenario_that_shows_it(over, tmp_path):
    """The file shows the same advantage of CUBIC as the hunt did."""
    finding = over.findings()[0]
    for name, content in report.files(finding, "found").items():
        (tmp_path / name).write_text(content)
    scenario, cc = replay.load(str(tmp_path / "found.toml"))
    assert cc == "westwood+"
    rows = list(replay.replay(scenario, cc, replay.engines_of([]), finding.attack.seed))
    judged_bps, other = (row.figures.goodput_bps for row in rows if row.figures)
    assert 1 - judged_bps / other == pytest.approx(finding.value, abs=1e-6)


def test_a_replay_runs_each_flow_as_the_scenario_sets_it(tmp_path):
    """Only the CUBIC run replaces the control, with CUBIC's default settings."""
    attack = replace(any_attack(random.Random(11), "beside"), duration_us=2_000_000)
    settings = {"filter": "none", "tau": "2ms"}
    path = tmp_path / "found.toml"
    path.write_text(_with_cc(scenario_of(attack, "westwood+"), {"name": "westwood+", **settings}))
    scenario, cc = replay.load(str(path))
    mine, cubic = replay.replay(scenario, cc, replay.engines_of([]), 1)
    assert repr(mine.figures) == repr(replay.figures(simulate(scenario, 1)))
    bare = scenario_of(attack, "cubic")
    assert repr(cubic.figures) == repr(replay.figures(simulate(bare, 1)))


def _with_cc(scenario: Scenario, cc: dict[str, str]) -> str:
    changed = {f"{flow.name}.cc": cc for flow in scenario.flow if flow.name in ("tcp", "short")}
    return scenario.with_settings(changed).to_toml()


def test_a_recorded_rate_has_a_file_of_its_own(tmp_path):
    attack = attacks.drawn(["dips"], [0.5] * attacks.genes(["dips"]), 3)
    finding = Finding(attack, "idle", "cubic", 0.5, 0.4, 0.6, "idle", {})
    files = report.files(finding, "found")
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    scenario, _ = replay.load(str(tmp_path / "found.toml"))
    assert scenario.hash == scenario_of(attack, "cubic").hash
    assert len(files["found.toml"].splitlines()) < 30


def any_attack(choices: random.Random, *names: str) -> Attack:
    """Draws an attack with these features and perhaps more."""
    while True:
        more = [name for name in attacks.FEATURES if choices.random() < 0.2]
        chosen = list(dict.fromkeys([*names, *more]))
        if attacks.fit_together(chosen):
            fractions = [choices.random() for _ in range(attacks.genes(chosen))]
            return attacks.drawn(chosen, fractions, choices.getrandbits(30))


def test_irrelevant_features_are_shrunk_away():
    """If only the bursts matter, shrinking leaves the bursts on a common path."""
    choices = random.Random(5)
    for _ in range(20):
        attack = any_attack(choices, "bursts")
        smaller = shrink.shrink(
            attack, lambda candidate: candidate.burst_bps >= 1000 and candidate.load > 0
        )
        assert attacks.features(smaller) == ["bursts"]
        assert (smaller.rate_bps, smaller.delay_us) == (10_000_000, 100_000)
        assert smaller.duration_us % 1_000_000 == 0


def test_required_and_harmful_features_are_kept():
    choices = random.Random(6)
    for _ in range(20):
        attack = any_attack(choices, "beside", "loss")
        smaller = shrink.shrink(attack, lambda candidate: candidate.loss_rate > 1e-3, ["beside"])
        assert "beside" in attacks.features(smaller)
        assert smaller.loss_rate > 1e-3 or attack.loss_rate <= 1e-3


def test_the_load_of_bursts_counts_the_time_in_which_they_are_on():
    bursts = {"burst_bps": 5_000_000, "burst_on_us": 1_000_000, "burst_off_us": 3_000_000}
    attack = Attack(10_000_000, 20_000, 50, 8_000_000, 1, **bursts)
    assert attack.load == 0.5 / 4
    assert replace(attack, calm_us=4_000_000).load == 0.5 / 8
    assert replace(attack, burst_bps=0).load == 0


def test_a_rate_and_a_delay_that_matter_are_rounded_and_the_queue_keeps_its_proportion():
    """To two digits, then to one: as far as it stays bad."""
    attack = replace(any_attack(random.Random(7)), rate_bps=3_456_789, delay_us=123_456)
    attack = replace(attack, queue_packets=round(attack.bdp_packets))

    def is_bad(candidate: Attack) -> bool:
        is_path = (
            2_100_000 < candidate.rate_bps < 4_500_000 and 110_000 < candidate.delay_us < 140_000
        )
        return is_path and 0.9 < candidate.queue_bdp < 1.1

    smaller = shrink.shrink(attack, is_bad)
    assert (smaller.rate_bps, smaller.delay_us) == (4_000_000, 120_000)


@pytest.mark.parametrize(
    ("environments", "for_", "planned"),
    [(None, None, (20_000, None)), (7, None, (7, None)), (None, "1m", (None, 60.0))],
)
def test_a_hunt_ends_after_as_many_environments_or_as_long_as_asked(environments, for_, planned):
    plan = control_stress._plan("reno", [], 1, environments, for_)
    assert (plan.environments, plan.for_s) == planned


def test_no_control_is_worse_than_itself():
    """CUBIC against CUBIC shows no relative degradation."""
    choices, runner = random.Random(8), Runner()
    alone = ("below-cubic", "timeouts", "unfair", "late", "starves", "losses", "queue", "stuck")
    for harm in map(degradation.DEGRADATIONS.__getitem__, alone):
        attack = any_attack(choices, *harm.needs)
        attack = replace(attack, duration_us=attack.duration_us // 8 * 2, calm_us=0)
        assert runner.degradation(harm, attack, "cubic") == 0


def test_a_degradation_is_from_0_to_1():
    choices, runner = random.Random(9), Runner()
    for harm in degradation.DEGRADATIONS.values():
        attack = any_attack(choices, *harm.needs)
        attack = replace(attack, duration_us=2_000_000)
        assert 0 <= runner.degradation(harm, attack, "westwood+") <= 1


def test_it_prints_what_it_found_and_writes_it(westwood, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a long path would make long lines
    folder = Path("hunt")
    options = ("--cc", "westwood+", "--harm", "losses", "--environments", 1, "--seed", SEED)
    called = westwood("control", "stress", *options, "--out", folder)
    assert called.code == 0 and "Westwood+: " in called.out
    assert all(len(line) <= 80 for line in called.out.splitlines())
    findings = json.loads((folder / "findings.json").read_text())
    files = list((folder / "findings").glob("*.toml"))
    assert findings and len(files) == len(findings)
    again = westwood("control", "stress", "--replay", files[0])
    assert again.code == 0 and "Westwood+" in again.out and "CUBIC" in again.out


@pytest.mark.clock
def test_ctrl_c_ends_it_soon_and_keeps_what_was_found(tmp_path):
    tool = Tool("control stress --cc westwood+ --for 1min --workers 1 --out out", tmp_path)
    journal = tmp_path / "out" / "journal.jsonl"
    while tool.process.poll() is None and not (journal.exists() and journal.stat().st_size):
        pass
    took_s, _, errors = tool.end(signal.SIGINT)
    assert tool.process.returncode == 130 and took_s < 2.0
    assert "continue with westwood control stress" in errors and errors.count("\n") == 1


def test_another_scenario_is_no_finding(small_file, westwood):
    small_file.write_text(small_file.read_text().replace('name = "tcp"', 'name = "upload"'))
    assert "--replay" in westwood("control", "stress", "--replay", small_file).refusal()


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        ("--seed -4", 2, "--seed = -4: expected a whole number from 0 to 2^64 - 1"),
        ("--seed 99999999999999999999999", 2, "--seed = 99999999999999999999999: expected"),
        ("--engine ns2", 77, "WESTWOOD_NS2 names no program"),
    ],
)
def test_a_replay_that_cannot_be_made_is_refused_before_any_run(
    small_file, westwood, monkeypatch, options, code, says
):
    monkeypatch.setenv("WESTWOOD_NS2", "/nowhere")
    called = westwood("control", "stress", "--replay", small_file, *options.split())
    assert (called.code, called.out) == (code, "")
    assert says in called.err and called.err.count("\n") == 1


def test_an_engines_refusal_decides_the_exit_code_of_a_replay(small_file, westwood, monkeypatch):
    """The table shows what could run; a reason common to both controls appears once."""
    monkeypatch.setenv("WESTWOOD_NS2", "/bin/true")
    called = westwood("control", "stress", "--replay", small_file, "--engine", "ns2")
    assert called.code == 2 and "sim" in called.out and "ns2" not in called.out
    lines = called.err.splitlines()
    assert lines and lines == list(dict.fromkeys(lines))
    assert all(line.startswith("westwood: ns2: ") for line in lines)


def test_the_figures_agree_with_those_of_the_scenario():
    attack = any_attack(random.Random(11), "beside")
    attack = replace(attack, duration_us=2_000_000)
    seen = replay.figures(simulate(scenario_of(attack, "bbr"), attack.seed))
    assert repr(seen) == repr(Runner().run(attack, "bbr"))


def test_the_guide_names_every_harm_and_feature():
    guide = (Path(__file__).parents[4] / "docs" / "control-reference.md").read_text()
    named = [
        f"| `{name}` | {harm.side.replace('-', ' ')} |"
        for name, harm in degradation.DEGRADATIONS.items()
    ]
    named += [f"`{name}`" for name in attacks.FEATURES]
    assert [name for name in named if name not in guide] == []
