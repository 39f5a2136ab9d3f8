# SPDX-License-Identifier: BSD-3-Clause
"""Writes a page: one self-contained HTML file for phones, screens and paper.

The template escapes every text. Figures are embedded SVG images, and interactive plots if scripts
run (alive.py).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jinja2
import polars as pl

from westwood import __version__, extras
from westwood.control.catalogue import PROTOCOLS, label
from westwood.draw import laboratory
from westwood.draw.laboratory import LabLink
from westwood.results.columns import LOST_ON, columns
from westwood.results.folder import Folder, about
from westwood.results.tables import change
from westwood.results.verdicts import Verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.papers.claims import ClaimVerdict

_TEMPLATES = Path(__file__).parent
_UNITS = {"_bps": (1e-6, "Mb/s"), "_s": (1e3, "ms")}  # factor from the column's unit
PAIR_HEADS = ("where", "which", "difference", "relative difference", "effect", "p")


@dataclass(frozen=True)
class Table:
    """The data behind a figure: a row for each point and protocol."""

    scenario: str
    seeds: int
    frame: pl.DataFrame
    keys: Sequence[str]  # columns that identify points, besides the protocol
    columns: Sequence[str]  # shown with their intervals

    @property
    def heads(self) -> list[str]:
        """Names of the columns with their units."""
        return [*self._keys, "protocol", *(_named(column) for column in self.columns)]

    @property
    def rows(self) -> Iterator[list[str]]:
        """Cells as text."""
        for row in self.frame.iter_rows(named=True):
            cells = [_text(row[key]) for key in self._keys] + [label(row["cc"])]
            yield cells + [_interval(row, column) for column in self.columns]

    @property
    def _keys(self) -> list[str]:
        several = self.frame["flow"].n_unique() > 1
        return [*self.keys, *(["flow"] if several else [])]


@dataclass(frozen=True)
class Cell:
    """A text with a link to a section, and with the mark of a verdict as its colour."""

    text: str
    section: str = ""
    mark: str = ""


@dataclass(frozen=True)
class Grid:
    """A table of texts."""

    title: str
    heads: Sequence[str]
    rows: Sequence[Sequence[str | Cell]]


@dataclass(frozen=True)
class Drawn:
    """A figure as a picture, and as numbers if it has only curves."""

    svg: bytes
    plots: str = ""  # JSON for the page

    @property
    def image(self) -> str:
        """Data URL of the picture."""
        return "data:image/svg+xml;base64," + base64.b64encode(self.svg).decode("ascii")


@dataclass(frozen=True)
class Section:
    """An experiment on the page."""

    name: str
    title: str
    drawn: Drawn | None  # None without matplotlib
    tables: Sequence[Table] = ()
    verdicts: Sequence[ClaimVerdict] = ()
    profile: str = ""
    profile_title: str = ""
    pairs: Sequence[Sequence[str]] = ()  # cells of paired comparisons
    text: Sequence[str] = ()  # paragraphs
    grids: Sequence[Grid] = ()
    opens: Sequence[LabLink] = ()  # links to the laboratory with its scenarios


def figure(folder: Folder, name: str, draw: Callable[[], Figure]) -> Drawn | None:
    """Writes the figure that `draw` draws for the page, as NAME.png and NAME.svg.

    Without matplotlib it tells the user and returns None, since a page is useful without figures.
    """
    if not extras.has("matplotlib"):
        folder.tell(
            f"the page is without figures: figures need matplotlib: {extras.remedy('matplotlib')}"
        )
        return None
    from westwood.draw import alive
    from westwood.draw.style import save

    drawn = draw()
    svg = save(drawn, folder.file, name).with_suffix(".svg").read_bytes()
    return Drawn(svg, alive.read(drawn))


def write(
    folder: Folder,
    title: str,
    sections: Sequence[Section],
    manifest: str,
    verdicts: Sequence[ClaimVerdict] = (),
) -> Path:
    """Writes index.html and returns its path."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["facts"] = facts
    counts = [(word, sum(verdict.verdict == word for verdict in verdicts)) for word in Verdict]
    page = environment.get_template("report.html.j2").render(
        title=title,
        pair_heads=PAIR_HEADS,
        sections=sections,
        script=_script(sections),
        counts=counts,
        manifest=manifest,
        version=__version__,
        verdicts=sorted(verdicts, key=lambda verdict: list(Verdict).index(verdict.verdict)),
    )
    if any(section.opens for section in sections):
        laboratory.write(folder)
    return folder.text("index.html", page)


def _script(sections: Sequence[Section]) -> str:
    if not any(section.drawn and section.drawn.plots for section in sections):
        return ""
    from westwood.draw import alive

    return alive.script()


def write_last(
    folder: Folder,
    title: str,
    sections: Sequence[Section],
    settings: Mapping[str, Any],
    *,
    verdicts: Sequence[ClaimVerdict] = (),
    complete: bool = True,
) -> Path:
    """Writes the page of a folder, and then the manifest that marks it as complete."""
    manifest = about(settings, complete=complete)
    page = write(folder, title, sections, manifest, verdicts)
    folder.write_manifest(manifest)
    return page


def megabytes(size: int) -> str:
    """Writes a file's size in megabytes."""
    return f"{size / 1e6:g} MB"


def facts(
    measured: Mapping[str, Any], before: str = "", ending: str = ""
) -> Iterator[tuple[str, str]]:
    """Flattens measurements into (name, value) pairs, joining nested names.

    A name's ending says the unit of its value, and of what is nested in it.
    """
    for key, value in measured.items():
        unit_ending = next((known for known in _UNITS if f"_{key}".endswith(known)), "")
        word = f"_{key}".removesuffix(unit_ending).removeprefix("_")
        word = label(word) if word in PROTOCOLS else word.replace("_", " ")
        name = ", ".join(filter(None, (before, word)))
        factor, unit = _UNITS.get(unit_ending or ending, (1.0, ""))
        if isinstance(value, Mapping) and value.keys() == {"mean", "half"}:
            mean, half = (value[part] * factor for part in ("mean", "half"))
            yield name, f"{_text(mean)} ± {half:.2g} {unit}".rstrip()
        elif isinstance(value, Mapping):
            yield from facts(value, name, unit_ending or ending)
        else:
            values = value if isinstance(value, (list, tuple)) else [value]
            if key in ("of", "over") and value in PROTOCOLS:
                values = [label(value)]
            texts = (_text(part * factor if isinstance(part, float) else part) for part in values)
            yield name, f"{' to '.join(texts)} {unit}".rstrip()


def pair_cells(row: Mapping[str, Any], keys: Sequence[str], metric: str) -> list[str]:
    """Writes a paired comparison in cells, one for each of PAIR_HEADS."""
    settings = [f"{key} {_text(row[key])}" for key in keys if row[key] is not None]
    where = ", ".join(settings) or row["flow"]
    difference = _interval({metric: row["mean"], f"{metric}_ci95": row["half"] or math.nan}, metric)
    unit = next((unit for ending, (_, unit) in _UNITS.items() if metric.endswith(ending)), "")
    names = f"{label(row['cc'])} minus {label(row['minus'])}"
    relative = f"{change(row['ratio'], row['ratio_ci95'])} %"
    cells = [where, names, f"{difference} {unit}".strip(), relative.replace("- %", "-")]
    return [*cells, _text(row["effect"]), _text(row["p"])]


def title_of(column: str) -> str:
    """Returns a column's title; that of an observed column follows from its name."""
    titles = {known_column.name: known_column.title for known_column in columns()}
    if column.startswith(LOST_ON):
        return f"packets lost on {column.removeprefix(LOST_ON)}"
    ending = next((ending for ending in _UNITS if column.endswith(ending)), "")
    return titles.get(column, column.removesuffix(ending).replace("_", " "))


def _named(column: str) -> str:
    unit = next((unit for ending, (_, unit) in _UNITS.items() if column.endswith(ending)), "")
    return f"{title_of(column)} ({unit})" if unit else title_of(column)


def _interval(row: Mapping[str, Any], column: str) -> str:
    factor = next((f for ending, (f, _) in _UNITS.items() if column.endswith(ending)), 1.0)
    mean, half = row[column], row[f"{column}_ci95"]
    if mean is None or math.isnan(mean):
        return "-"
    shown = f"{mean * factor:.4g}"
    return shown if math.isnan(half) else f"{shown} ± {half * factor:.2g}"


def _text(value: object) -> str:
    if isinstance(value, bool) or value is None:
        return "-" if value is None else str(value).lower()
    return f"{value:.4g}" if isinstance(value, float) else str(value)
