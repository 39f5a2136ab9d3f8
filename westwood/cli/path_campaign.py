# SPDX-License-Identifier: BSD-3-Clause
"""The command `path campaign`: uploads in turn, as a plan says."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from westwood import extras
from westwood.cli.options import JsonOption, ResumeOption, option, several


def campaign(
    plan: Annotated[
        str, typer.Argument(metavar="FILE|PRESET", help="A plan: a TOML file, or bari.")
    ],
    uploads: Annotated[
        int | None, option(None, "N", "Uploads per protocol and session (overrides the plan).")
    ] = None,
    target: Annotated[
        list[str] | None, several(None, "NAME,...", "Only these targets of the plan.")
    ] = None,
    resume: ResumeOption = False,
    out: Annotated[Path, option(None, "DIR", "Results folder.")] = Path("campaign"),
    json: JsonOption = False,
) -> None:
    """Measure what several protocols gain, in uploads that a plan lists."""
    extras.need("numpy", "path campaign")
    from westwood.campaign import measure
    from westwood.campaign.plan import CampaignPlan
    from westwood.cli import campaign, console, streams
    from westwood.results.folder import Folder

    chosen = CampaignPlan.load(plan)
    todo = measure.turns(chosen, target, uploads)
    folder = Folder(out, tell=streams.say)
    measurement = measure.run(chosen, todo, folder, resume=resume, track=console.track)
    campaign.check_interrupted(measurement, folder)
    page = campaign.deliver(chosen, measurement, folder, json=json)
    print(page, file=sys.stderr if json else sys.stdout)
    campaign.check_complete(measurement, out)
