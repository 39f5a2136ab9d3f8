# SPDX-License-Identifier: BSD-3-Clause
"""Options that several commands have, with the same name and help everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

CcOption = Annotated[
    list[str] | None,
    typer.Option("--cc", metavar="NAME", help="Protocol of every flow; repeat it to run several."),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE",
                 help="Change a setting, such as bottleneck.loss.rate=0.01 or duration=200s."),
]  # fmt: skip
EngineOption = Annotated[str, typer.Option(metavar="sim|ns3|linux", help="What runs it.")]
SeedsOption = Annotated[
    int | None, typer.Option(metavar="N", help="Runs a point, instead of the scenario's.")
]
WorkersOption = Annotated[
    int | None, typer.Option(metavar="N", help="Threads, instead of one a core.")
]
OutOption = Annotated[
    Path | None, typer.Option(metavar="DIR", help="Write scenario, rows and figures into a folder.")
]
PlotOption = Annotated[bool, typer.Option("--plot", help="Draw a figure, PNG and SVG.")]
JsonOption = Annotated[
    bool, typer.Option("--json", help="Print one JSON object and nothing else on standard output.")
]
