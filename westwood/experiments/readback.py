# SPDX-License-Identifier: BSD-3-Clause
"""Reads a results folder back: for its page, for other programs, for the command behind a row."""

from __future__ import annotations

import shlex
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from westwood import arguments, extras
from westwood.arguments import checked
from westwood.draw import report
from westwood.draw.laboratory import Opens
from westwood.errors import InputError
from westwood.experiments import experiment, summary_plots
from westwood.experiments.arrays import to_xarray
from westwood.experiments.experiment import Experiment
from westwood.experiments.pairs import COLUMN, pairs_of_frame
from westwood.experiments.row_checks import problem_with
from westwood.results.columns import check_metric
from westwood.results.folder import Damaged, Folder
from westwood.results.kinds import ResultKind, kind_in
from westwood.results.shown import html_table
from westwood.scenario import fragments
from westwood.scenario.scenario import Scenario
from westwood.scenario.summary import summarise
from westwood.scenario.swept import column_values
from westwood.scenario.toml_format import toml_value

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure


_RUNS, _SCENARIO = "runs.parquet", "scenario.toml"


@dataclass(frozen=True, repr=False)
class Results:
    """Holds what `run --out`, `compare --out` or `sweep` left in a folder."""

    path: Path
    planned: Experiment
    rows: pl.DataFrame
    tell: Callable[[str], object] = warnings.warn

    def __post_init__(self) -> None:
        arguments.check_fields(
            self,
            path=arguments.path,
            planned=arguments.instance(Experiment),
            rows=arguments.instance(pl.DataFrame),
        )

    @classmethod
    @checked(path=arguments.path)
    def read(cls, path: Path, *, tell: Callable[[str], object] = warnings.warn) -> Results:
        """Reads the folder's runs and scenario, if they are as they were written."""
        kind = kind_in(path)
        if kind not in (ResultKind.RUN, ResultKind.SWEEP, None):
            problem = f"holds {kind}, expected a folder that run --out or sweep wrote"
            raise InputError(problem, value=str(path))
        for name in (_RUNS, _SCENARIO):
            if not (path / name).exists():
                raise InputError(_lacking(path, name), value=str(path))
        folder = Folder(path, "")
        folder.check_format()
        planned = experiment.plan(Scenario.from_toml(folder.verified(_SCENARIO)))
        for name in planned.scenario.to_files(Path(_SCENARIO).stem):
            folder.verified(name)
        rows = folder.read_frame(_RUNS)
        beside = experiment.protocol_key(planned.scenario)
        if beside in rows.columns and beside not in planned.varied:  # from several --cc
            planned = replace(planned, varied=[beside, *planned.varied])
        if problem := problem_with(planned, rows):
            raise Damaged(problem, source=str(path / _RUNS))
        return cls(path, planned, rows, tell)

    def __repr__(self) -> str:
        seeds = self.rows["seed"].n_unique()
        points = self.summary.height
        name = self.planned.scenario.name
        return f"<Results of {name} in {self.path}: {points} means of {seeds} seeds>"

    def _repr_html_(self) -> str:
        title = f"{self.planned.scenario.name}: means, 95 % intervals"
        return html_table(self.summary.to_dicts(), title, self.keys)

    @checked(metric=arguments.text)
    def plot(self, metric: str = "goodput_bps") -> Figure:
        """Draws a column over what was swept, with intervals. It needs the extra `plot`."""
        check_metric(metric)
        extras.need("matplotlib", "Results.plot()")
        return summary_plots.draw(self.summary, self.keys, metric, self._title())

    def _title(self) -> str:
        scenario = self.planned.scenario
        return f"{scenario.name}: {summarise(scenario, self.planned.varied)}"

    @property
    def summary(self) -> pl.DataFrame:
        """The means over the seeds, with intervals."""
        return experiment.summary(self.planned, self.rows)

    @property
    def keys(self) -> list[str]:
        """The swept keys, beside the protocol."""
        return experiment.varied_keys(self.planned, self.rows)

    @checked(metric=arguments.text)
    def pairs(self, metric: str) -> pl.DataFrame:
        """Compares each protocol with the first at the same point, seed by seed.

        A row has the swept keys, flow, cc, minus (the first protocol), column, and the mean
        difference, ratio, effect and p with half of their 95 % intervals.
        """
        check_metric(metric)
        found = pairs_of_frame(self.planned, self.rows, metric)
        return pl.DataFrame(found, infer_schema_length=None)

    @checked(metric=arguments.text)
    def write_page(self, metric: str) -> Path:
        """Writes index.html and its figure into the folder."""
        check_metric(metric)
        folder, summary, title = self._folder(), self.summary, self.planned.scenario.name
        manifest = self._manifest(folder)
        if '"complete": false' in manifest:
            title += ", interrupted"
            self.tell(f"{self.path}: its command was interrupted, and some runs are not there")
        drawn = self._title() + (", interrupted" if title.endswith("interrupted") else "")
        picture = report.figure(
            folder, "figure", lambda: summary_plots.draw(summary, self.keys, metric, drawn)
        )
        seeds = int(self.rows["seed"].n_unique())
        columns = list(dict.fromkeys([metric, "goodput_bps", "retransmission_ratio", "jain"]))
        table = report.Table(title, seeds, summary, self.keys, columns)
        pairs = [
            report.pair_cells(row, self.keys, metric)
            for row in self.pairs(metric).iter_rows(named=True)
        ]
        section = report.Section(
            "results",
            f"{metric} of {title}",
            picture,
            [table],
            [],
            pairs=pairs,
            opens=[_opens(self.planned.scenario)],
        )
        return report.write(folder, f"Results: {title}", [section], [], manifest)

    def _manifest(self, folder: Folder) -> str:
        try:
            return folder.verified("manifest.json").read_text("utf-8", "replace")
        except Damaged as error:
            self.tell(f"{error}; the page is without it")
            return str(error)

    def export(self) -> list[Path]:
        """Writes summary.csv, pairs.csv, and for gnuplot and pgfplots data/PROTOCOL.csv."""
        folder = self._folder()
        written = [folder.frame("summary.csv", self.summary)]
        pairs = self.pairs(COLUMN)
        if not pairs.is_empty():
            written.append(folder.frame("pairs.csv", pairs))
        for (cc,), mine in self.summary.group_by("cc", maintain_order=True):
            written.append(folder.frame(f"data/{cc}.csv", mine.drop("cc")))
        return written

    def _folder(self) -> Folder:
        return Folder(self.path, "", tell=self.tell)

    @checked(number=arguments.whole(0, 2**62))
    def command(self, number: int) -> str:
        """Returns the command line that runs row `number` (from 1) again, with its trace."""
        if not 1 <= number <= self.rows.height:
            problem = f"expected from 1 to {self.rows.height}"
            raise InputError(problem, key="--row", value=number)
        row = self.rows.row(number - 1, named=True)
        scenario = self.planned.scenario
        words = ["westwood", "trace", str(self.path / "scenario.toml")]
        for key, values in scenario.sweep.items():
            value = values[column_values(values).index(row[key])]
            words += ["--set", f"{key}={toml_value(value)}"]
        own = {flow.name: flow.cc.name for flow in scenario.flows}
        run = self.rows.filter(scenario=row["scenario"], seed=row["seed"]).select("flow", "cc")
        chosen = [cc for flow, cc in run.iter_rows() if cc != own[flow]]
        if chosen and not any(key.endswith(".cc") for key in scenario.sweep):
            words += ["--cc", chosen[0]]
        words += ["--seed", str(row["seed"]), "--plot"]
        return shlex.join(words)

    def to_xarray(self) -> xr.Dataset:
        """Puts every number over (swept keys, flow, protocol, seed) into an xarray Dataset."""
        return to_xarray(self.rows, self.keys)


def _opens(scenario: Scenario) -> Opens:
    """Returns how the laboratory opens a scenario; without a link if it is too long for one."""
    try:
        return Opens(_SCENARIO, fragments.of_scenario(scenario))
    except InputError:
        return Opens(_SCENARIO, "")


def _lacking(path: Path, name: str) -> str:
    """Says why a folder lacks this file."""
    if kind_in(path) is ResultKind.SWEEP and (path / _SCENARIO).exists():
        scenario, out = str(path / _SCENARIO), str(path)
        again = shlex.join(["westwood", "sweep", scenario, "--resume", "--out", out])
        return f"holds a sweep that was not finished: {again} goes on"
    return f"has no {name}, expected a folder that run --out or sweep wrote"
