# SPDX-License-Identifier: BSD-3-Clause
"""Replays a finding in several engines, with its own control and with CUBIC.

The flows under test are those that the scenario names `tcp` and `short`. ns-3 and Linux differ from
the simulator in their host settings. Each engine therefore gets the scenario with its own profile;
what the scenario sets explicitly stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from westwood.control.arguments import check_seed
from westwood.control.catalogue import UDP
from westwood.engines import find, ns3_limits, resources
from westwood.engines.contract import Engine
from westwood.engines.result import Result
from westwood.errors import InputError, RunError, UnavailableError, WestwoodError
from westwood.scenario import Scenario
from westwood.scenario.paths.environment import role
from westwood.search.stress.degradation import INCUMBENT
from westwood.search.stress.figures import Figures, of_run
from westwood.units import PS_PER_S

_IN_QUESTION = ("tcp", "short")
_KEPT_IN_NS3 = ("receive_window", "min_rto", "initial_cwnd", "delayed_ack")
_NS3_CLOCK = "1ms"  # the only granularity that ns-3 has


@dataclass(frozen=True)
class Replayed:
    """A replayed run: its engine and control, with its figures or the reason for none."""

    engine: str
    cc: str
    figures: Figures | None
    refused: WestwoodError | None = None


def load(file: str) -> tuple[Scenario, str]:
    """Reads a finding's scenario and the control under test."""
    scenario = Scenario.from_toml(file)
    controls = {flow.cc.name for flow in scenario.flow if _is_in_question(flow.name, flow.cc.name)}
    if len(controls) != 1 or scenario.sweep:
        problem = "expected a scenario of `control stress`: flows named tcp or short, and no sweep"
        raise InputError(problem, key="--replay", value=file)
    return scenario, controls.pop()


def _is_in_question(flow: str, cc: str) -> bool:
    return role(flow) in _IN_QUESTION and cc != UDP


def engines_of(engines: Sequence[str]) -> list[Engine]:
    """Returns the engines for the replay, the simulator first, or raises if one is missing."""
    return [find(name) for name in dict.fromkeys(["sim", *engines])]


def replay(scenario: Scenario, cc: str, engines: Sequence[Engine], seed: int) -> Iterator[Replayed]:
    """Runs the scenario in each engine with each control; an engine may refuse it."""
    check_seed(seed)
    for engine in engines:
        for control in dict.fromkeys((cc, INCUMBENT)):
            try:
                result = _run(scenario, cc, control, engine, seed)
            except (InputError, RunError, UnavailableError) as error:
                yield Replayed(engine.name, control, None, error)
            else:
                yield Replayed(engine.name, control, figures(result))


def _run(scenario: Scenario, cc: str, control: str, engine: Engine, seed: int) -> Result:
    """Runs one control: the finding's own keeps its settings, another one has the defaults."""
    settings: dict[str, Any] = {
        f"{flow.name}.cc": control
        for flow in scenario.flow
        if _is_in_question(flow.name, flow.cc.name) and control != cc
    }
    if engine.name == "ns3":
        settings |= {"profile": ns3_limits.PROFILE, **_kept_in_ns3(scenario)}
    chosen = scenario.with_settings(settings)
    resources.check_run(chosen, engine=engine.name)
    return engine.simulate(chosen, seed)


def _kept_in_ns3(scenario: Scenario) -> dict[str, Any]:
    """Returns the settings of the scenario's profile that ns-3 obeys and that limit its flows."""
    kept: dict[str, Any] = {}
    for flow in scenario.resolved()["flow"]:
        if flow["cc"]["name"] != UDP:
            settings = {key: flow[key] for key in _KEPT_IN_NS3 if key in flow}
            kept |= {f"{flow['name']}.{key}": value for key, value in settings.items()}
            kept[f"{flow['name']}.clock_granularity"] = _NS3_CLOCK
    return kept


def figures(result: Result) -> Figures:
    """Computes the figures of a run in any engine."""
    scenario, raw = result.scenario, result.raw
    bottleneck = scenario.link[0]
    rate_bps = float(bottleneck.rate or bottleneck.mean_rate_bps("forward"))
    names = [flow.name for flow in scenario.flows]
    duration_s = scenario.duration / PS_PER_S
    return of_run(names, raw.connections, raw.forward[0], duration_s, rate_bps)
