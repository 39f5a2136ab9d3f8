# SPDX-License-Identifier: BSD-3-Clause
"""Random paths always run; a search with a damaged journal gives the same result."""

import functools
import shutil
from pathlib import Path

from westwood.control.catalogue import PROTOCOLS, settings_of_protocol
from westwood.engines.contract import Job
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.experiments.optimiser import Values
from westwood.results.folder import Folder
from westwood.scenario.paths import population
from westwood.scenario.paths.environment import role
from westwood.scenario.paths.environment import scenario as scenario_of
from westwood.scenario.paths.families import FAMILIES, PACKETS_LEAST
from westwood.search import space, study
from westwood.search.outcome import Outcome
from westwood.search.result import Search

_SPREAD = 0.06  # flows start within the first twentieth of a run; rates count from their start
_LATE = 0.6  # or one flow starts after a third of the run


def test_every_environment_runs_and_carries_no_more_than_its_link(attack):
    protocols = list(PROTOCOLS)
    for choices in attack.rounds():
        family = choices.choice(list(FAMILIES))
        most = choices.choice((PACKETS_LEAST, 2_000, 20_000))
        environment = population.draw(choices, family, most)
        protocol = choices.choice(protocols)
        drawn = scenario_of(environment, protocol)
        rows = prepare(Job(drawn, [environment.seed]))(environment.seed)

        outcome = Outcome.of(rows)
        assert Outcome.read(outcome.entry()).entry() == outcome.entry()
        assert Outcome.of(prepare(Job(drawn, [1]))(environment.seed)).entry() == outcome.entry()
        bulk = [row for row in rows if role(row["flow"]) in ("tcp", "beside")]
        assert sum(row["goodput_bps"] for row in bulk) <= 1.001 * environment.rate_bps * (
            1 + (_LATE if environment.late_us else _SPREAD)
            if environment.flows + environment.beside_flows > 1
            else 1
        )
        assert 0 <= rows[0]["utilisation"] <= 1.001
        assert not 0 < outcome.jain <= 1 or environment.flows > 1


def test_any_settings_that_a_search_may_propose_are_a_scenario(attack):
    controls = [name for name in PROTOCOLS if settings_of_protocol(name)]
    environment = population.path("search", 1, "clean", 1, PACKETS_LEAST)
    for choices in attack.rounds():
        protocol = choices.choice(controls)
        parameters, fallback = space.parameters(protocol, (), {}), space.defaults(protocol, {})
        drawn: Values = {
            parameter.key: choices.choice(parameter.choices)
            if parameter.choices
            else choices.randint(parameter.low, parameter.high)
            for parameter in parameters
        }
        values = space.in_order(drawn, parameters, fallback)
        back, _ = space.without(values, choices.sample(sorted(values), 1), fallback)
        for chosen in (values, back):
            settings = space.settings(chosen, parameters, {})
            scenario_of(environment, protocol, settings)


def test_a_journal_that_is_cut_or_damaged_anywhere_costs_no_more_than_its_lines(attack, tmp_path):
    parameters = space.parameters("westwood+", ("filter", "set_cwnd_on_loss"), {})
    asked = Search("westwood+", parameters, {}, 30, 1, PACKETS_LEAST)
    pool = functools.partial(run_jobs, prepare=prepare, workers=1)

    def search(place: Path, *, resume: bool) -> int:
        folder = Folder(place, tell=lambda line: None)
        search_result = study.run(
            asked, folder, 3, resume=resume, run_jobs=pool, track=lambda steps, total: steps
        )
        return search_result.runs

    runs = search(tmp_path / "whole", resume=False)
    journal = tmp_path / "whole" / "journal.jsonl"
    whole = journal.read_bytes()
    for choices in attack.rounds():
        damaged = bytearray(whole)
        if choices.random() < 0.5:
            del damaged[choices.randrange(len(whole)) :]
        else:
            damaged[choices.randrange(len(whole))] ^= 1 << choices.randrange(8)
        place = tmp_path / "damaged"
        shutil.copytree(tmp_path / "whole", place)
        (place / journal.name).write_bytes(damaged)
        if choices.random() < 0.5:
            (place / "trials.parquet").unlink()

        assert search(place, resume=True) <= runs
        for file in ("trials.parquet", "ablation.parquet", "best.json"):
            assert (place / file).read_bytes() == (tmp_path / "whole" / file).read_bytes(), file
        shutil.rmtree(place)
