# SPDX-License-Identifier: BSD-3-Clause
"""TCP Westwood and its family, and the laboratory that shows what it does.

    from westwood import Scenario, simulate
    result = simulate(Scenario.preset("table1"), seed=1, trace=True)
    result.rows    # polars frame: a row a flow
    result.trace   # polars frame: cwnd, ssthresh, estimate, rtt over time
    result.plot()  # a figure, which a notebook shows

    Scenario          what is run: from TOML, a preset or keywords; with_settings(), points()
    presets           the names of the scenarios that come with the package
    simulate          runs a scenario once: a Result
    simulate_many     runs every point of its sweep with every seed: a polars frame
    Result            one run: rows, trace, events, queues, drops, links, transfers, plot()
    Results           a folder of `westwood run --out` or `sweep`: summary, pairs(), plot()
    WestwoodError     what goes wrong on purpose, in one line: InputError (what was written),
                      RunError (a run), UnavailableError (what is not installed)

Everything is imported when it is first used: the command line's `--help` must not wait for polars.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from westwood.engines.api import simulate, simulate_many
    from westwood.engines.result import Result
    from westwood.errors import InputError, RunError, UnavailableError, WestwoodError
    from westwood.experiments.readback import Results
    from westwood.scenario import Scenario, presets

__version__ = "0.1.0"
__all__ = [
    "InputError",
    "Result",
    "Results",
    "RunError",
    "Scenario",
    "UnavailableError",
    "WestwoodError",
    "__version__",
    "presets",
    "simulate",
    "simulate_many",
]

_HOMES = {
    "InputError": "errors",
    "UnavailableError": "errors",
    "RunError": "errors",
    "WestwoodError": "errors",
    "Scenario": "scenario",
    "presets": "scenario",
    "Results": "experiments.readback",
    "Result": "engines.result",
    "simulate": "engines.api",
    "simulate_many": "engines.api",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'westwood' has no attribute {name!r}")
    return getattr(import_module(f"westwood.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
