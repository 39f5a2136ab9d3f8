# SPDX-License-Identifier: BSD-3-Clause
"""Simulates TCP Westwood, its family and other congestion controls, and compares them.

One run of a scenario that comes with the package, with what happened over time:

>>> from westwood import Scenario, paired, plot_means, simulate, simulate_many, summarise
>>> result = simulate("sawtooth", trace=True)
>>> result.rows.select("flow", "cc", "goodput_bps", "timeouts")
shape: (1, 4)
┌──────┬───────────┬─────────────┬──────────┐
│ flow ┆ cc        ┆ goodput_bps ┆ timeouts │
│ ---  ┆ ---       ┆ ---         ┆ ---      │
│ str  ┆ str       ┆ f64         ┆ i64      │
╞══════╪═══════════╪═════════════╪══════════╡
│ tcp  ┆ westwood+ ┆ 7986009.6   ┆ 0        │
└──────┴───────────┴─────────────┴──────────┘
>>> result.trace["cwnd"].max()
95.0
>>> figure = result.plot()

A network of your own. Settings have addresses, and each one can be swept:

>>> mine = Scenario(
...     name="mine",
...     duration="20s",
...     link=[{"name": "path", "between": ["a", "b"], "rate": "2Mbps", "delay": "45ms"}],
...     flow=[{"name": "tcp", "from": "a", "to": "b", "cc": "westwood+"}],
... )
>>> lossy = mine.with_settings({"path.loss": {"kind": "uniform", "rate": "1%"}})
>>> swept = lossy.with_sweep({"tcp.cc": ["newreno", "westwood+"]})

Every point of a sweep with several seeds, on all cores, as one frame of polars; then means with
95 % intervals, a difference seed by seed, and a figure:

>>> rows = simulate_many(swept, seeds=5)
>>> summarise(rows, "cc", "goodput_bps")
shape: (2, 5)
┌───────────┬──────┬─────────────┬────────────────┬──────────────────┐
│ cc        ┆ runs ┆ goodput_bps ┆ goodput_bps_sd ┆ goodput_bps_ci95 │
│ ---       ┆ ---  ┆ ---         ┆ ---            ┆ ---              │
│ str       ┆ u32  ┆ f64         ┆ f64            ┆ f64              │
╞═══════════╪══════╪═════════════╪════════════════╪══════════════════╡
│ newreno   ┆ 5    ┆ 1303955.2   ┆ 63609.638163   ┆ 78981.797646     │
│ westwood+ ┆ 5    ┆ 1.7615e6    ┆ 21329.978771   ┆ 26484.666722     │
└───────────┴──────┴─────────────┴────────────────┴──────────────────┘
>>> gain = paired(rows.filter(cc="westwood+"), rows.filter(cc="newreno"), "seed", "goodput_bps")
>>> f"{gain.mean / 1e6:.2f} ± {gain.half / 1e6:.2f} Mb/s"
'0.46 ± 0.07 Mb/s'
>>> figure = plot_means(rows)

The same scenario elsewhere, where it is installed: `simulate(scenario, engine="ns3")`, "ns2" or
"linux", which is real sockets of this machine's kernel. A folder of `westwood sweep --out` or
`compare --out` is read by `Results.read`.

What there is:

- `simulate`: runs a scenario once and returns a `Result`.
- `simulate_many`: runs the points of a sweep with several seeds and returns a frame.
- `Scenario`: a network, its flows and what to vary; from keywords, a preset or a TOML file.
- `summarise` and `paired`: means of rows with 95 % intervals, and a difference seed by seed, a
  `Paired`.
- `plot_means`: a figure of the rows of a sweep.
- `Control`: a congestion control of one's own, in a C file; `PythonControl`: one in Python.
- `presets`: the names of the scenarios that come with the package.
- `Result`: one run: rows, trace, events, queues, drops, links, transfers, messages,
  figures, captures.
- `Results`: a results folder: rows, means with intervals, paired differences, figures.
- `lab.show`, after `from westwood import lab`: the laboratory with a scenario, in a notebook.
- `WestwoodError`: base of `InputError` (an argument or a setting is wrong), `RunError` (a run
  failed) and `UnavailableError` (something is not installed). Each message is one line.

Scenarios take values with units ("2Mbps", "45ms"). Names of columns end in their units: `_s` is
seconds, `_bps` is bit/s; windows are in segments.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from westwood.control.python import PythonControl
    from westwood.control.table import Control
    from westwood.engines.api import simulate, simulate_many
    from westwood.engines.result import Result
    from westwood.errors import InputError, RunError, UnavailableError, WestwoodError
    from westwood.experiments.readback import Results
    from westwood.experiments.summary_plots import plot_means
    from westwood.results.metrics import Paired, paired, summarise
    from westwood.scenario import Scenario, presets

__version__ = "0.1.0"
__all__ = [
    "Control",
    "InputError",
    "Paired",
    "PythonControl",
    "Result",
    "Results",
    "RunError",
    "Scenario",
    "UnavailableError",
    "WestwoodError",
    "__version__",
    "paired",
    "plot_means",
    "presets",
    "simulate",
    "simulate_many",
    "summarise",
]

_HOMES = {
    "Control": "control.table",
    "PythonControl": "control.python",
    "InputError": "errors",
    "UnavailableError": "errors",
    "RunError": "errors",
    "WestwoodError": "errors",
    "Paired": "results.metrics",
    "paired": "results.metrics",
    "plot_means": "experiments.summary_plots",
    "summarise": "results.metrics",
    "Scenario": "scenario",
    "presets": "scenario",
    "Results": "experiments.readback",
    "Result": "engines.result",
    "simulate": "engines.api",
    "simulate_many": "engines.api",
}


# Everything is imported when it is first used: `westwood --help` must not wait for polars.
def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'westwood' has no attribute {name!r}")
    return getattr(import_module(f"westwood.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
