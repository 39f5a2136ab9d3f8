# SPDX-License-Identifier: BSD-3-Clause
"""Measures where docs/westwood-cubic.md says that it fails: python -m tools.pages cases.

It writes the page's table, in a minute. Each case has a bound of the benchmark, and runs with 16
seeds beside the same runs with CUBIC. tests/tools/test_hard_cases.py compares some with new runs.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tools.benchmark_page import CONTROL
from tools.benchmark_page import PAGE as BENCHMARK
from tools.pages import Page
from tools.pages import table as table_of
from westwood.evaluation import measures, text
from westwood.evaluation.answer import Answer
from westwood.evaluation.basics import alone, harm_to, path, scenario
from westwood.evaluation.benchmark.cases import CUBIC
from westwood.evaluation.benchmark.targets import fairness, of_role, ratio
from westwood.evaluation.criterion import Criterion, Effort, Making, Point, Runs, Threshold
from westwood.evaluation.measures import ALONE, BESIDE, SOLO
from westwood.evaluation.request import Request
from westwood.evaluation.running import Evaluation
from westwood.experiments.control import Control
from westwood.results.folder import Folder
from westwood.scenario.paths.environment import Environment
from westwood.search import bounds

EFFORT = Effort("hard cases", 16, 16, 0)
_BBR = "bbr"
_OURS = "the benchmark's"
Settings = Mapping[str, Any]


def _lossy(mbps: float, rtt_ms: float, queue_bdp: float, loss_rate: float) -> Environment:
    return path(mbps, rtt_ms, queue_bdp, 40, loss="uniform", loss_rate=loss_rate)


def _with_bbr(environment: Environment) -> Making:
    return lambda control: {
        _BBR: scenario(environment, Control("bbr")),
        **alone(environment)(control),
    }


def _beside(environment: Environment, flows: int) -> Making:
    """Returns the runs of CUBIC's flows by themselves, and beside as many flows of the control."""
    together = replace(environment, beside="cubic", beside_flows=flows, flows=flows)
    solo = replace(together, flows=0)
    return lambda control: {SOLO: scenario(solo, control), BESIDE: scenario(together, control)}


def _with(settings: Settings, runs: Making) -> Making:
    """Returns the same runs with other settings of the link."""
    return lambda control: {
        name: run.with_settings(settings) for name, run in runs(control).items()
    }


def _policer(rate: str, burst: str) -> Settings:
    return {"path.policer": {"rate": rate, "burst": burst}}


def _tolerance() -> Criterion:
    places = {
        "3 % of 400 packets": _lossy(50, 96, 1, 0.03),
        "4 % of 400 packets": _lossy(50, 96, 1, 0.04),
        "2 % of 2000 packets": _lossy(200, 120, 1, 0.02),
        "1 %, queue of 3 ms, 50 Mb/s, 100 ms": _lossy(50, 100, 0.03, 0.01),
        "0.5 %, queue of 2 ms, 20 Mb/s, 40 ms": _lossy(20, 40, 0.05, 0.005),
    }

    def of_bbr(runs: Runs) -> float:
        return ratio(measures.own_goodput(runs[ALONE]), measures.own_goodput(runs[_BBR]))

    return Criterion(
        "tolerance",
        "goodput over BBRv1's",
        _OURS,
        [
            Point(f"The link loses {name}", _with_bbr(environment))
            for name, environment in places.items()
        ],
        of_bbr,
        Threshold(bounds.LOSS_BINDS, _OURS),
    )


def _kept() -> Criterion:
    red = {"path.queue": {"kind": "red", "min": 5, "max": 15, "limit": "100p"}}
    links: dict[str, tuple[Environment, int, Settings]] = {}
    for flows in (1, 4):
        each = f"{flows} + {flows} flows"
        links[f"{each}, RED of 5 to 15 packets, 300 Mb/s, 40 ms"] = path(300, 40, 1, 30), flows, red
        links[f"{each}, RED of 5 to 15 packets, 50 Mb/s, 80 ms"] = path(50, 80, 1, 40), flows, red
        short = _lossy(20, 40, 0.05, 0.01), _lossy(50, 100, 0.03, 0.01)
        links[f"{each}, queue of 2 ms, 1 % lost, 20 Mb/s, 40 ms"] = short[0], flows, {}
        links[f"{each}, queue of 3 ms, 1 % lost, 50 Mb/s, 100 ms"] = short[1], flows, {}
    for burst in ("20kB", "100kB", "1MB"):
        policed = path(100, 40, 1), 1, _policer("20Mbps", burst)
        links[f"1 + 1 flows, policer of 20 Mb/s and {burst}, 100 Mb/s, 40 ms"] = policed
    beside = {
        name: _with(settings, _beside(environment, flows))
        for name, (environment, flows, settings) in links.items()
    }
    return replace(
        harm_to("cubic"), says="CUBIC keeps", points=[Point(*case) for case in beside.items()]
    )


def _crowd() -> Criterion:
    def point(flows: int, mbps: float, rtt_ms: float) -> Point:
        environment = replace(path(mbps, rtt_ms, 1, 60, flows=flows), queue_packets=2)
        name = f"{flows} of its flows, queue of two packets, {mbps:g} Mb/s, {rtt_ms:g} ms"
        return Point(name, alone(environment))

    return Criterion(
        "crowd",
        "Jain's index less CUBIC's",
        _OURS,
        [point(10, 20, 40), point(30, 50, 40)],
        lambda runs: fairness(runs[ALONE]),
        Threshold(bounds.CROWD, _OURS),
        compare="difference",
    )


def _resent() -> Criterion:
    def share(runs: Runs) -> float:
        (flow,) = of_role(runs[ALONE], "tcp")
        return bounds.RESENT_LEAST + float(flow["retransmitted"]) / float(flow["sent"])

    return Criterion(
        "resent",
        "share resent, over CUBIC's",
        _OURS,
        [
            Point(
                f"Policer of 10 Mb/s and {burst}, alone, 100 Mb/s, 40 ms",
                _with(_policer("10Mbps", burst), alone(path(100, 40, 1, 30))),
            )
            for burst in ("10kB", "50kB", "500kB")
        ],
        share,
        Threshold(bounds.RESENT, _OURS, at_most=True),
        compare="ratio",
    )


CASES: Sequence[Criterion] = (_tolerance(), _kept(), _crowd(), _resent())


def measured(cases: Sequence[Criterion] = CASES) -> list[Answer]:
    """Runs the cases, and returns an answer for each criterion."""
    control = Control(CONTROL)
    request = Request([control], CUBIC, {"basics": cases}, [], EFFORT, 1)
    with tempfile.TemporaryDirectory() as folder:
        evaluation = Evaluation(request, Folder(Path(folder) / "cases"))
        with evaluation.opened(resume=False):
            evaluation.run_all(None, lambda runs, total: runs)
            return evaluation.answers(control)


def rows(answers: Sequence[Answer]) -> Iterator[Sequence[str]]:
    """Yields the cells of each case; a value beyond the bound is bold."""
    for answer in answers:
        bound = Threshold(answer.bound or 0, "", answer.at_most)
        for point in answer.points:
            value = text.number(point.judged)
            shown = value if bound.holds(point.judged) else f"**{value}**"
            yield point.name, answer.says, shown, text.interval(point), text.bound(answer)


def table(answers: Sequence[Answer]) -> str:
    """Returns how many cases are beyond their bound, and the rows."""
    cases = list(rows(answers))
    beyond = sum(shown.startswith("**") for _, _, shown, *_ in cases)
    heads = "case | what | value: | 95 % interval | asked for"
    counted = f"{beyond} of {len(cases)} cases are beyond their bound, in bold."
    return f"{counted}\n\n{table_of(heads, cases)}"


PAGE = Page(
    BENCHMARK.page,
    tables=lambda stored: stored,
    measure=lambda stored, words: [{"cases": table(measured())}],
)
