# SPDX-License-Identifier: BSD-3-Clause
"""Reads a results folder back: for its page, for other programs, for the command behind a row."""

from __future__ import annotations

import itertools
import shlex
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood import arguments, extras, units
from westwood.arguments import checked
from westwood.catalogue import PROTOCOLS, UDP
from westwood.draw import report
from westwood.draw.laboratory import Opens
from westwood.errors import InputError, show
from westwood.experiments import experiment
from westwood.experiments.experiment import Experiment
from westwood.results.columns import COST, axis, check_metric, columns
from westwood.results.folder import Damaged, Folder
from westwood.results.kinds import ResultKind, kind_in
from westwood.results.metrics import paired
from westwood.results.rows import LARGEST
from westwood.results.shown import html_table
from westwood.scenario import fragments
from westwood.scenario.scenario import Scenario
from westwood.scenario.summary import summarise
from westwood.scenario.swept import column_values
from westwood.scenario.toml_format import toml_value

if TYPE_CHECKING:
    import xarray as xr
    from matplotlib.figure import Figure

    from westwood.draw.curves import Axis

_TOLD = {"point", "scenario", "engine"}  # other columns of rows than what was measured
_RUNS, _SCENARIO = "runs.parquet", "scenario.toml"
_QUANTITIES: Sequence[tuple[Callable[[Any], float], str, float]] = (
    (units.parse_rate, "Mb/s", 1e6),
    (units.parse_time, "ms", 1e9),
    (units.parse_size, "B", 1.0),
    (units.parse_fraction, "", 1.0),
    (lambda text: float(units.parse_products(text)), "bandwidth-delay products", 1.0),
    (lambda text: units.parse_amount(text).packets(1) or 0, "packets", 1.0),
)


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
        beside = experiment.key_beside(planned.scenario)
        if beside in rows.columns and beside not in planned.varied:  # several of --cc
            planned = replace(planned, varied=[beside, *planned.varied])
        if problem := _problem(planned, rows):
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
        return draw(self.summary, self.keys, metric, self._title())

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
        """Compares each protocol with the first, seed by seed: mean, half, effect, p."""
        check_metric(metric)
        found = []
        for (flow,), mine in self.rows.group_by("flow", maintain_order=True):
            keys = experiment.varied_keys(self.planned, mine)  # also without those of its own
            for place, here in mine.group_by(keys, maintain_order=True) if keys else [((), mine)]:
                protocols = here["cc"].unique(maintain_order=True).to_list()
                first, at = here.filter(cc=protocols[0]), dict(zip(keys, place, strict=True))
                at = {**dict.fromkeys(self.keys), **at, "flow": flow}
                for other in protocols[1:]:
                    pair = paired(here.filter(cc=other), first, ["seed"], metric)
                    found.append({**at, "cc": other, "minus": protocols[0], **pair.entry()})
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
        picture = report.figure(folder, "figure", lambda: draw(summary, self.keys, metric, drawn))
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
        """Writes summary.csv, and for gnuplot and pgfplots a file a protocol: data/PROTOCOL.csv."""
        folder = self._folder()
        written = [folder.frame("summary.csv", self.summary)]
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
    """The laboratory with the scenario of a folder; only its file says one that no link can."""
    try:
        return Opens(_SCENARIO, fragments.of_scenario(scenario))
    except InputError:
        return Opens(_SCENARIO, "")


def _lacking(path: Path, name: str) -> str:
    """Says why a folder has no such file."""
    if kind_in(path) is ResultKind.SWEEP and (path / _SCENARIO).exists():
        scenario, out = str(path / _SCENARIO), str(path)
        again = shlex.join(["westwood", "sweep", scenario, "--resume", "--out", out])
        return f"holds a sweep that was not finished: {again} goes on"
    return f"has no {name}, expected a folder that run --out or sweep wrote"


def to_xarray(rows: pl.DataFrame, keys: Sequence[str] = ()) -> xr.Dataset:
    """Turns rows into a labelled array; `pip install westwood[xarray]` brings what it needs."""
    extras.need("xarray", "to_xarray()")
    import xarray as xr

    places = [*keys, "flow", "cc", "seed"]
    others = [name for name in rows.columns if name not in (*places, "point")]
    numbers = [name for name in others if rows[name].dtype.is_numeric()]
    labels = {name: rows[name].unique(maintain_order=True).to_list() for name in places}
    schema = {name: rows.schema[name] for name in places}
    grid = pl.DataFrame(list(itertools.product(*labels.values())), schema=schema, orient="row")
    joined = grid.join(rows, on=places, how="left", maintain_order="left")
    shape = [len(labels[name]) for name in places]
    data = {
        name: (places, joined[name].cast(pl.Float64).to_numpy().reshape(shape)) for name in numbers
    }
    return xr.Dataset(data, coords=labels)


# What an axis is called, by the end of the key that is swept.
_AXES = {
    ".loss.rate": "Share of packets lost",
    ".queue.limit": "Limit of the queue",
    ".delay": "Delay, one way",
    ".rate": "Rate of the link",
}


def metric_axis(metric: str) -> Axis:
    """Says how a column of a summary is drawn."""
    from westwood.draw.curves import Axis

    name, unit = axis(metric)
    return Axis(metric, name, unit)


def draw(summary: pl.DataFrame, keys: Sequence[str], metric: str, title: str) -> Figure:
    """Draws curves over one swept number, panels over two keys, bars where none is a number."""
    from westwood.draw.bars import summary_bars
    from westwood.draw.curves import Axis, curves, panels

    y = metric_axis(metric)
    numbers = {key: _numbers(summary[key].to_list()) for key in keys}
    x = next((key for key in keys if numbers[key]), None)
    if x is None:
        flows = summary["flow"].n_unique()
        rows = summary.iter_rows(named=True)
        names = [(row["cc"], experiment.point_name(row, keys, flows)) for row in rows]
        return summary_bars(names, summary, metric, title, y.unit, y.name)
    values, unit = numbers[x] or ([], "")
    points = summary.with_columns(pl.Series(x, values, dtype=pl.Float64))
    positive = [value for value in values if value > 0]
    log = len(positive) == len(values) and max(values) > 30 * min(values)
    name = next((words for end, words in _AXES.items() if x.endswith(end)), x)
    across = Axis(x, f"{name} ({unit})" if unit else name, log=log)
    rest = [key for key in keys if key != x]
    if points["flow"].n_unique() > 1:
        rest.append("flow")
    if not rest:
        return curves(points, across, y, title)
    joined = pl.concat_str([pl.col(key).cast(pl.String) for key in rest], separator=", ")
    points = points.with_columns(joined.alias("curve"))
    return panels(points, across, y, title, "curve", ", ".join(rest))


def _problem(planned: Experiment, rows: pl.DataFrame) -> str:
    """Says why rows can't be of this scenario; empty: they can."""
    cost = {column.name for column in COST}
    numbers = {column.name for column in columns()} - {"scenario", "engine", "flow", "cc"} - cost
    names = {"cc": {*PROTOCOLS, UDP}, "flow": {flow.name for flow in planned.scenario.flows}}
    sweep = planned.scenario.sweep.items()
    varied: dict[str, set[Any]] = {key: set(PROTOCOLS) for key in planned.varied}
    values = {**names, **varied, **{key: set(column_values(swept)) for key, swept in sweep}}
    for column in (*numbers, *values):
        if column not in rows.columns:
            return f"has no column {column}, expected the rows of {_SCENARIO}"
        if column in numbers and not rows[column].dtype.is_numeric():
            return f"has no numbers in {column}, expected the rows of {_SCENARIO}"
        if rows[column].null_count():
            return f"has nothing in a row of {column}, expected the rows of {_SCENARIO}"
        if column in names and rows[column].dtype != pl.String:
            return f"has no words in {column}, expected the rows of {_SCENARIO}"
        if column in numbers - {"seed"} and (_absolute(rows[column]) >= LARGEST).any():
            return f"has a number in {column} that nothing measures"
    for column, known in values.items():
        if others := set(rows[column].unique().to_list()) - known:
            return f"has {show(min(others))} in {column}, expected what {_SCENARIO} has"
    if others := set(rows.columns) - numbers - cost - set(values) - _TOLD:
        return f"has a column {show(min(others))}, expected the rows of {_SCENARIO}"
    if (rows["seed"] < 0).any():
        return f"has a seed below 0, expected the rows of {_SCENARIO}"
    if (
        rows.select(*(key for key in ("point", "scenario", *values, "seed") if key in rows))
        .is_duplicated()
        .any()
    ):
        return "has a run twice"
    return "" if rows.height else "has no row"


def _absolute(values: pl.Series) -> pl.Series:
    return values.cast(pl.Float64).fill_nan(0).abs()


def _numbers(values: list[Any]) -> tuple[list[float], str] | None:
    """Turns a swept column into numbers with their unit; None where it has none."""
    if all(isinstance(value, (int, float)) for value in values):
        return [float(value) for value in values], ""
    for parse, unit, factor in _QUANTITIES:
        try:
            return [parse(value) / factor for value in values], unit
        except InputError:
            continue
    return None
