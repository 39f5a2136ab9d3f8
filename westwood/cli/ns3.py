# SPDX-License-Identifier: BSD-3-Clause
"""`westwood ns3`: our module for ns-3. Reads options, prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from westwood.cli.options import group

app = group("The family as a module of ns-3.")


@app.command(epilog="Example: westwood ns3 build --source ~/ns-3-dev")
def build(
    source: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="An installed ns-3, or a tree that is built; else PyPI's 3.44."
        ),
    ] = None,
) -> None:
    """Build our module for ns-3, and the runner of --engine ns3.

    From sources that this package has. Needs a C++ compiler and CMake; takes a minute.
    """
    from westwood.engines import ns3_build

    print(ns3_build.build(source, print))
