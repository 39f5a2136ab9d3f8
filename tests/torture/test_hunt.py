# SPDX-License-Identifier: BSD-3-Clause
"""Any attack reaches the simulator with the same scenario, directly and through its file."""

import random
from dataclasses import replace

from westwood.engines.simulator import simulate
from westwood.search.stress import attack as attacks
from westwood.search.stress import replay, report, shrink
from westwood.search.stress.evaluate import Runner
from westwood.search.stress.scenarios import scenario as scenario_of
from westwood.search.stress.search_run import Finding

PACKETS = 2_000  # per run; short runs are enough here
PROTOCOLS = ("bbr", "cubic", "westwood+", "reno", "vegas")


def any_attack(choices: random.Random) -> attacks.Attack:
    """Draws an attack as the hunt does, or one that was shrunk at random."""
    while True:
        names = [name for name in attacks.FEATURES if choices.random() < 0.25]
        if attacks.fit_together(names):
            break
    places = [choices.choice((0.0, 1.0, choices.random())) for _ in range(attacks.genes(names))]
    attack = attacks.drawn(names, places, choices.getrandbits(50), PACKETS)
    if choices.random() < 0.3:
        attack = shrink.shrink(attack, lambda candidate: choices.random() < 0.3)
    return attack


def test_an_attack_is_its_scenario_and_its_file(attack, tmp_path):
    runner = Runner()
    for choices in attack.rounds():
        hunted, protocol = any_attack(choices), choices.choice(PROTOCOLS)
        scenario = scenario_of(hunted, protocol)
        finding = Finding(hunted, "idle", protocol, 0.5, 0.5, 0.5, "it is idle", {})
        for name, content in report.files(finding, "found").items():
            (tmp_path / name).write_text(content)
        loaded, cc = replay.load(str(tmp_path / "found.toml"))
        assert (loaded.hash, cc) == (scenario.hash, protocol), hunted
        if hunted.packets < 10 * PACKETS:
            short = replace(hunted, duration_us=min(hunted.duration_us, 3_000_000))
            slowly = replay.figures(simulate(scenario_of(short, protocol), short.seed))
            assert repr(runner.run(short, protocol)) == repr(slowly), short
