# SPDX-License-Identifier: BSD-3-Clause
"""The group `ns3`: builds our module for ns-3 and exports scenarios."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from westwood.cli import options
from westwood.cli.layout import command, group
from westwood.cli.streams import next_step
from westwood.errors import InputError

app = group("westwood ns3 build")


@command(app, "westwood ns3 build --source ~/ns-3-dev")
def build(
    source: Annotated[
        Path | None,
        options.option(None, "DIR", "An installed ns-3 or a built tree; default: 3.44 from PyPI."),
    ] = None,
) -> None:
    """Build our module for ns-3, and the runner of --engine ns3."""
    from westwood.engines import ns3_build

    print(ns3_build.build(source, print))
    next_step("westwood run table1 --engine ns3 --cc westwood+ --set duration=60s")


@command(app, "westwood ns3 export table1 --cc westwood+ --out table1.cc")
def export(
    scenario: options.ScenarioArgument,
    cc: Annotated[
        list[str] | None,
        options.several(None, "NAME", "Protocol of every flow.", choices=options.protocols),
    ] = None,
    set_: options.SetOption = None,
    out: Annotated[
        Path | None, options.option(None, "FILE", "Write it into this file instead of printing it.")
    ] = None,
) -> None:
    """Write a scenario as a C++ program for ns-3 3.37 or later."""
    from westwood.engines.export.ns3 import program
    from westwood.experiments.experiment import plan
    from westwood.scenario import Scenario

    if len(cc or ()) > 1:
        raise InputError("expected one protocol, a program has one", key="--cc", value=cc)
    planned = plan(Scenario.load(scenario), cc=cc or (), settings=options.settings_of(set_))
    text = program(planned.scenario)
    if out is None:
        print(text, end="")
        return
    print(_write(text, out, scenario))


def _write(text: str, file: Path, scenario: str) -> Path:
    """Writes the program; raises InputError if that would replace the scenario."""
    from westwood.results.folder import Folder

    try:
        if not file.parent.is_dir():
            raise InputError("expected a file in an existing folder", value=str(file))
        folder = Folder.containing(file)
        if file.exists() and os.path.exists(scenario) and file.samefile(scenario):
            raise InputError("is the scenario, expected another file", value=str(file))
    except InputError as error:
        raise error.located(key="--out") from None
    except OSError as error:
        problem = f"can't be used: {error.strerror}"
        raise InputError(problem, key="--out", value=str(file)) from None
    return folder.file(file.name, lambda part: part.write_text(text, encoding="ascii"))
