# SPDX-License-Identifier: BSD-3-Clause
"""Reads a results folder back: for its page, for other programs, for the command behind a row.

Length: the docstrings are the reference of the public class.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import extras, files
from westwood.control import arguments, loading
from westwood.control.arguments import checked
from westwood.draw import report
from westwood.draw.laboratory import LabLink
from westwood.errors import InputError
from westwood.experiments import experiment, summary_plots
from westwood.experiments.arrays import to_xarray
from westwood.experiments.experiment import Experiment
from westwood.experiments.pairs import COLUMN, pairs_of_frame
from westwood.experiments.row_checks import problem_with
from westwood.results.columns import check_metric
from westwood.results.folder import Damaged, Folder
from westwood.results.kinds import ResultKind, kind_in
from westwood.results.tables import html_table
from westwood.scenario import fragments
from westwood.scenario.scenario import Scenario
from westwood.scenario.stacks import split
from westwood.scenario.summary import summarise
from westwood.scenario.sweep_values import column_values
from westwood.scenario.toml_format import toml_value

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

_RUNS, _SCENARIO = "runs.parquet", "scenario.toml"
_WRITTEN = "a folder that run --out or sweep wrote"
_MOST_FACTS = 16 << 20  # bytes of what a folder says of its controls
_HASH = re.compile("[0-9a-f]{12}")  # of a scenario
_LIMITS = ("receiver_limited", "application_limited")  # shown if one is known


@dataclass(frozen=True, repr=False)
class Results:
    """Holds the results folder of `westwood run --out`, `compare --out` or `sweep`.

    `Results.read` makes one. The examples read the folder that this command wrote::

        westwood compare --cc newreno --cc westwood+ --loss 0.1%,1% \\
            --duration 20s --seeds 3 --out compared

    Parameters
    ----------
    path : path
        The folder.
    planned : Experiment
        The scenario that was run, and what was varied.
    rows : polars.DataFrame
        One row per point, seed and flow, as `simulate_many` returns them.
    tell : callable, default warnings.warn
        Called with each warning, a str.

    Attributes
    ----------
    path : pathlib.Path
        The folder.
    planned : Experiment
        The scenario that was run (`planned.scenario`), and what was varied.
    rows : polars.DataFrame
        One row per point, seed and flow, as `simulate_many` returns them.
    tell : callable
        Called with each warning, a str.

    Raises
    ------
    InputError
        If an argument has another type.

    Examples
    --------
    >>> from westwood import Results
    >>> results = Results.read("compared")
    >>> results
    <Results of path in compared: 4 means of 3 seeds>
    >>> results.rows.select("cc", "seed", "timeouts").head(3)
    shape: (3, 3)
    ┌─────────┬──────┬──────────┐
    │ cc      ┆ seed ┆ timeouts │
    │ ---     ┆ ---  ┆ ---      │
    │ str     ┆ i64  ┆ i64      │
    ╞═════════╪══════╪══════════╡
    │ newreno ┆ 1    ┆ 1        │
    │ newreno ┆ 2    ┆ 1        │
    │ newreno ┆ 3    ┆ 1        │
    └─────────┴──────┴──────────┘
    """

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
    def read(
        cls, path: str | os.PathLike[str], *, tell: Callable[[str], object] = warnings.warn
    ) -> Results:
        """Reads a results folder.

        Parameters
        ----------
        path : str or path
            The folder.
        tell : callable, default warnings.warn
            Called with each warning, a str.

        Returns
        -------
        Results
            Its runs and scenario.

        Raises
        ------
        InputError
            If it is no such folder, if its runs are not finished, or if a file is not as it was
            written.

        Examples
        --------
        >>> from westwood import Results
        >>> Results.read("compared").rows.height
        12
        """
        path = Path(path)
        if not path.is_dir():
            problem = f"{'is no' if path.exists() else 'no such'} folder, expected {_WRITTEN}"
            raise InputError(problem, value=str(path))
        kind = kind_in(path)
        if kind not in (ResultKind.RUN, ResultKind.SWEEP, None):
            problem = f"holds {kind}, expected {_WRITTEN}"
            raise InputError(problem, value=str(path))
        for name in (_RUNS, _SCENARIO):
            if not (path / name).exists():
                raise InputError(_why_missing(path, name), value=str(path))
        folder = Folder(path, "")
        folder.check_format()
        controls = _controls(folder)
        with loading.only_described():
            planned = experiment.plan(Scenario.from_toml(folder.verified(_SCENARIO)))
        for name in planned.scenario.to_files(Path(_SCENARIO).stem):
            folder.verified(name)
        rows = folder.read_frame(_RUNS)
        protocol_column = experiment.protocol_key(planned.scenario)
        # A run with several --cc has this column, though no sweep names it.
        if protocol_column in rows.columns and protocol_column not in planned.varied:
            planned = replace(planned, varied=[protocol_column, *planned.varied])
        if problem := problem_with(planned, rows, controls):
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

    @checked(metric=arguments.text, by=arguments.optional(arguments.text))
    def plot(self, metric: str = "goodput_bps", *, by: str | None = None) -> Figure:
        """Draws the mean of a column over what was swept, with 95 % intervals.

        Parameters
        ----------
        metric : str, default "goodput_bps"
            A column of numbers of `rows`.
        by : str, optional
            A swept key, "cc" or "flow": a curve for each of its values; see `plot_means`.

        Returns
        -------
        matplotlib.figure.Figure
            The figure: curves over a swept number, bars without one.

        Raises
        ------
        InputError
            If there is no such column or key.
        UnavailableError
            If the extra `plot` is not installed.

        Examples
        --------
        >>> from westwood import Results
        >>> figure = Results.read("compared").plot("mean_srtt_s")
        >>> figure.axes[0].get_ylabel()
        'Mean smoothed RTT (ms)'
        """
        check_metric(metric, "metric")
        extras.need("matplotlib", "Results.plot()")
        return summary_plots.draw(self.summary, self.keys, metric, self._title(), by)

    def _title(self) -> str:
        scenario, seeds = self.planned.scenario, self.rows["seed"].n_unique()
        sampling = f"; mean of {seeds} runs, 95 % intervals" if seeds > 1 else ""
        losses = "; listed losses" if (self.path / experiment.LISTED).is_dir() else ""
        return f"{scenario.name}: {summarise(scenario, self.planned.varied)}{losses}{sampling}"

    @property
    def summary(self) -> pl.DataFrame:
        """The means over the seeds, with 95 % confidence intervals.

        Returns
        -------
        polars.DataFrame
            One row per point and flow: the swept keys, `flow`, `cc` (String), `runs` (UInt32);
            and of each column of numbers its mean, `COLUMN_sd` (standard deviation) and
            `COLUMN_ci95` (half the interval), as Float64 in the unit of the column.

        Examples
        --------
        >>> from westwood import Results
        >>> Results.read("compared").summary.select("cc", "runs", "timeouts", "timeouts_ci95")
        shape: (4, 4)
        ┌───────────┬──────┬──────────┬───────────────┐
        │ cc        ┆ runs ┆ timeouts ┆ timeouts_ci95 │
        │ ---       ┆ ---  ┆ ---      ┆ ---           │
        │ str       ┆ u32  ┆ f64      ┆ f64           │
        ╞═══════════╪══════╪══════════╪═══════════════╡
        │ newreno   ┆ 3    ┆ 1.0      ┆ 0.0           │
        │ newreno   ┆ 3    ┆ 0.666667 ┆ 2.868435      │
        │ westwood+ ┆ 3    ┆ 0.0      ┆ 0.0           │
        │ westwood+ ┆ 3    ┆ 0.0      ┆ 0.0           │
        └───────────┴──────┴──────────┴───────────────┘
        """
        return experiment.summary(self.planned, self.rows)

    @property
    def keys(self) -> list[str]:
        """The swept keys; the protocol, in the column `cc`, is not one of them.

        Returns
        -------
        list of str
            Names of columns of `rows` and `summary`.

        Examples
        --------
        >>> from westwood import Results
        >>> Results.read("compared").keys
        ['path.loss.rate']
        """
        return experiment.varied_keys(self.planned, self.rows)

    @checked(metric=arguments.text)
    def pairs(self, metric: str) -> pl.DataFrame:
        """Compares each protocol with the first one, seed by seed.

        Parameters
        ----------
        metric : str
            A column of numbers of `rows`.

        Returns
        -------
        polars.DataFrame
            One row per point, flow and other protocol: the swept keys, `flow`, `cc`, `minus` (the
            first protocol) and `column` (`metric`), as String; `mean` of the differences, `half`
            of its 95 % interval and `minus_mean` (Float64, in the unit of the column); `effect`
            (mean over standard deviation), `p` (two-sided), `ratio` of the means and `ratio_ci95`
            (Float64); `runs` (Int64). What is unknown is null.

        Raises
        ------
        InputError
            If there is no such column.

        Examples
        --------
        >>> from westwood import Results
        >>> Results.read("compared").pairs("timeouts").select("cc", "minus", "mean", "p")
        shape: (2, 4)
        ┌───────────┬─────────┬───────────┬─────────┐
        │ cc        ┆ minus   ┆ mean      ┆ p       │
        │ ---       ┆ ---     ┆ ---       ┆ ---     │
        │ str       ┆ str     ┆ f64       ┆ f64     │
        ╞═══════════╪═════════╪═══════════╪═════════╡
        │ westwood+ ┆ newreno ┆ -1.0      ┆ null    │
        │ westwood+ ┆ newreno ┆ -0.666667 ┆ 0.42265 │
        └───────────┴─────────┴───────────┴─────────┘
        """
        check_metric(metric, "metric")
        pair_rows = pairs_of_frame(self.planned, self.rows, metric)
        return pl.DataFrame(pair_rows, infer_schema_length=None)

    @checked(metric=arguments.text)
    def write_page(self, metric: str, *, figure: Figure | None = None) -> Path:
        """Writes index.html and its figure into the folder.

        Parameters
        ----------
        metric : str
            The column that the page shows.
        figure : matplotlib.figure.Figure, optional
            The page's figure, such as `plot(metric, by="cc")`; `plot(metric)` if it is not given.

        Returns
        -------
        pathlib.Path
            The page.

        Raises
        ------
        InputError
            If there is no such column.
        UnavailableError
            If the extra `plot` is not installed.

        Examples
        --------
        >>> from westwood import Results
        >>> Results.read("compared").write_page("goodput_bps").name
        'index.html'
        """
        check_metric(metric, "metric")
        folder, summary, title = self._folder(), self.summary, self.planned.scenario.name
        manifest = self._manifest(folder)
        if '"complete": false' in manifest:
            title += ", interrupted"
            self.tell(f"{self.path}: its command was interrupted, and some runs are missing")
        drawn = self._title() + (", interrupted" if title.endswith("interrupted") else "")
        picture = report.figure(
            folder,
            "figure",
            lambda: figure or summary_plots.draw(summary, self.keys, metric, drawn),
        )
        seeds = int(self.rows["seed"].n_unique())
        limits = [limit for limit in _LIMITS if summary[limit].fill_nan(None).is_not_null().any()]
        shown = [metric, "goodput_bps", "retransmission_ratio", "jain", *limits]
        columns = list(dict.fromkeys(shown))
        table = report.Table(title, seeds, summary, self.keys, columns)
        pairs = [
            report.pair_cells(row, self.keys, metric)
            for row in self.pairs(metric).iter_rows(named=True)
        ]
        section = report.Section(
            "results",
            f"{report.title_of(metric)} of {title}",
            picture,
            [table],
            pairs=pairs,
            opens=[_opens(self.planned.scenario)],
        )
        return report.write(folder, f"Results: {title}", [section], manifest)

    def _manifest(self, folder: Folder) -> str:
        try:
            return folder.verified("manifest.json").read_text("utf-8", "replace")
        except Damaged as error:
            self.tell(f"{error}; the page is without it")
            return str(error)

    def export(self) -> list[Path]:
        """Writes CSV files into the folder, for gnuplot, pgfplots and others.

        Returns
        -------
        list of pathlib.Path
            The files: summary.csv (the means), pairs.csv (the paired differences), and
            data/PROTOCOL.csv for each protocol.

        Examples
        --------
        >>> from westwood import Results
        >>> [file.name for file in Results.read("compared").export()]
        ['summary.csv', 'pairs.csv', 'newreno.csv', 'westwood+.csv']
        """
        folder = self._folder()
        written = [folder.frame("summary.csv", self.summary)]
        pairs = self.pairs(COLUMN)
        if not pairs.is_empty():
            written.append(folder.frame("pairs.csv", pairs))
        controls = _controls(folder)
        for (cc,), mine in self.summary.group_by("cc", maintain_order=True):
            name = Path(controls[cc].file if cc in controls else str(cc)).name
            written.append(folder.frame(f"data/{name.removesuffix('.c')}.csv", mine.drop("cc")))
        return written

    def _folder(self) -> Folder:
        return Folder(self.path, "", tell=self.tell)

    @checked(number=arguments.whole(0, 2**62))
    def command(self, number: int) -> str:
        """Returns the command line that runs a row again and draws it over time.

        Parameters
        ----------
        number : int
            Number of the row in `rows`, from 1.

        Returns
        -------
        str
            The command.

        Raises
        ------
        InputError
            If there is no such row.

        Examples
        --------
        >>> from westwood import Results
        >>> print(Results.read("compared").command(2))
        westwood trace compared/scenario.toml --set 'path.loss.rate="0.1%"' --seed 2 --plot
        """
        if not 1 <= number <= self.rows.height:
            problem = f"expected from 1 to {self.rows.height}"
            raise InputError(problem, key="number", value=number)
        row = self.rows.row(number - 1, named=True)
        seeded = ["--seed", str(row["seed"]), "--plot"]
        listed = self.path / experiment.LISTED / f"{row['scenario']}.toml"
        if _HASH.fullmatch(str(row["scenario"])) and listed.exists():
            return shlex.join(["westwood", "trace", str(listed), *seeded])
        scenario = self.planned.scenario
        words = ["westwood", "trace", str(self.path / "scenario.toml")]
        run = self.rows.filter(scenario=row["scenario"], seed=row["seed"]).select("flow", "cc")
        kept = {cc: self._kept(cc) for _, cc in run.iter_rows()}
        for key, values in scenario.sweep.items():
            value = values[column_values(values).index(row[key])]
            words += ["--set", f"{key}={toml_value(self._written(value))}"]
        control_of = {flow.name: flow.cc.written for flow in scenario.flows}
        chosen = [cc for flow, cc in run.iter_rows() if cc != control_of[flow]]
        if chosen and not any(key.endswith((".cc", ".cc.name")) for key in scenario.sweep):
            words += ["--cc", kept[chosen[0]]]
        return shlex.join([*words, *seeded])

    def _kept(self, cc: str) -> str:
        """Returns a protocol's name, or that of a control's file here, if its code may run."""
        stack, name = split(cc)
        if not loading.is_file(name) or str(name).endswith(loading.PYTHON):
            return cc
        control = _controls(self._folder()).get(str(name))
        if control is None:
            problem = f"ran a control that {experiment.FACTS} does not describe, so it is not kept"
            raise InputError(problem, value=cc)
        path = self.path / control.file
        loading.check_runs(control, path)
        return f"{stack}:{path}" if stack else str(path)

    def _written(self, value: Any) -> Any:
        """Returns a swept value with the control's file here, which has the contents that ran."""
        if not isinstance(value, Mapping) or value.get("source") is None:
            return value
        table = {**value, "name": self._kept(value["name"])}
        del table["source"]
        return table if len(table) > 1 else table["name"]

    def to_xarray(self) -> xr.Dataset:
        """Returns the numbers of `rows` as a labelled array.

        Returns
        -------
        xarray.Dataset
            A variable (Float64) per column of numbers, over swept keys, `flow`, `cc` and `seed`.

        Raises
        ------
        UnavailableError
            If the extra `xarray` is not installed.

        Examples
        --------
        >>> from westwood import Results
        >>> dict(Results.read("compared").to_xarray()["goodput_bps"].sizes)
        {'path.loss.rate': 2, 'flow': 1, 'cc': 2, 'seed': 3}
        """
        return to_xarray(self.rows, self.keys)


def _controls(folder: Folder) -> dict[str, loading.Control]:
    """Returns the controls in files that a folder describes, by name; loads no code."""
    if not os.path.lexists(folder.path / experiment.FACTS):
        return {}
    path = folder.verified(experiment.FACTS)
    try:
        given = json.loads(files.read(path, _MOST_FACTS))
        controls = loading.describe(given, folder.path)
    except InputError as error:
        raise Damaged(str(error), source=str(path)) from None
    except (ValueError, RecursionError):
        raise Damaged("is not JSON", source=str(path)) from None
    for control in controls.values():
        folder.verified(control.file)
    return controls


def _opens(scenario: Scenario) -> LabLink:
    """Returns how the laboratory opens a scenario; without a link if it is too long for one."""
    try:
        return LabLink(_SCENARIO, fragments.of_scenario(scenario))
    except InputError:
        return LabLink(_SCENARIO, "")


def _why_missing(path: Path, name: str) -> str:
    """Explains why a folder lacks this file."""
    if kind_in(path) is ResultKind.SWEEP and (path / _SCENARIO).exists():
        scenario, out = str(path / _SCENARIO), str(path)
        again = shlex.join(["westwood", "sweep", scenario, "--resume", "--out", out])
        return f"holds an unfinished sweep: continue with {again}"
    return f"has no {name}, expected {_WRITTEN}"
