# SPDX-License-Identifier: BSD-3-Clause
"""The options of figures: --plot or --figure FILE, with --title and --size."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from westwood import extras
from westwood.cli.options import FIGURE, check_file, option
from westwood.errors import InputError
from westwood.results.folder import Folder

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FigureOption = Annotated[
    Path | None,
    option(FIGURE, "FILE", "Draw a figure into this PNG, SVG or PDF file instead.", "--figure"),
]
TitleOption = Annotated[str | None, option(FIGURE, "TEXT", "The figure's title.", "--title")]
SizeOption = Annotated[
    str | None,
    option(
        FIGURE,
        "18x12cm",
        "The figure's size in cm, mm or in, or only its width, such as 8.5cm.",
        "--size",
    ),
]

ByOption = Annotated[
    str | None,
    option(
        FIGURE,
        "KEY",
        "Draw a curve for each value of this swept key, of cc or of flow; bars are grouped.",
        "--by",
    ),
]

_KINDS = ("png", "svg", "pdf")
_SIDE = r"([0-9]{1,4}(?:\.[0-9]{1,2})?)"
_SIZE = re.compile(f"{_SIDE}(?:x{_SIDE})?(cm|mm|in)")
_INCHES = {"cm": 1 / 2.54, "mm": 1 / 25.4, "in": 1.0}
_LEAST, _MOST = 1.5, 60.0  # inches


@dataclass(frozen=True)
class Wanted:
    """Holds a figure's file, title and size."""

    file: Path | None = None  # None: PNG and SVG under the default name
    title: str | None = None
    size: tuple[float, float | None] | None = None  # inches; without a height the width decides
    by: str | None = None  # what curves differ in

    @property
    def option(self) -> str:
        """Returns the option that asked for the figure."""
        return "--figure" if self.file else "--plot"

    def adapt(self, figure: Figure) -> Figure:
        """Gives the figure the title and the size that were asked for."""
        from westwood.draw.style import adapt

        return adapt(figure, self.title, self.size)

    def save(self, figure: Figure, folder: Folder | None, name: str) -> Path:
        """Writes the figure into the command's folder, and returns the path of its first file."""
        from westwood.draw.style import save

        self.adapt(figure)
        if self.file is None:
            return save(figure, (folder or Folder.current()).file, name)
        kind = _kind(self.file)
        return save(figure, Folder.containing(self.file).file, self.file.stem, [kind])


def wanted(
    plot: bool,
    file: Path | None = None,
    title: str | None = None,
    size: str | None = None,
    by: str | None = None,
) -> Wanted | None:
    """Returns the checked options; None without a figure. Call it before anything runs."""
    if not plot and file is None:
        for option, value in (("--title", title), ("--size", size), ("--by", by)):
            if value is not None:
                raise InputError("has no effect without --plot or --figure", key=option)
        return None
    extras.need("matplotlib", "--figure" if file else "--plot")
    if file is not None:
        if _kind(file) not in _KINDS:
            problem = "expected a file's name in .png, .svg or .pdf"
            raise InputError(problem, key="--figure", value=file)
        check_file(file, "--figure")
    # matplotlib reads text between two dollar signs as a formula.
    plain = None if title is None else title.replace("$", r"\$")
    return Wanted(file, plain, None if size is None else _inches(size), by)


def _kind(file: Path) -> str:
    return file.suffix.removeprefix(".").lower()


def _inches(size: str) -> tuple[float, float | None]:
    match = _SIZE.fullmatch(size)
    sides = (
        [float(side) * _INCHES[match[3]] for side in match.groups()[:2] if side] if match else []
    )
    if not sides or not all(_LEAST <= side <= _MOST for side in sides):
        problem = "expected a width, or a width and a height, from 4cm to 150cm: 8.5cm or 18x12cm"
        raise InputError(problem, key="--size", value=size)
    return sides[0], sides[1] if len(sides) > 1 else None
