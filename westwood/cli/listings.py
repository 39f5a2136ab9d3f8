# SPDX-License-Identifier: BSD-3-Clause
"""The command `list`: prints the choices."""

from __future__ import annotations

from typing import Annotated

import typer

from westwood.errors import InputError


def list_(
    what: Annotated[
        str,
        typer.Argument(
            metavar="WHAT", help="One of the lists, or profile; without it, their names."
        ),
    ] = "",
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="After profile: the profile's name.")
    ] = "",
) -> None:
    from westwood.cli import console
    from westwood.reference import LISTINGS, listing
    from westwood.scenario import profiles

    if not what:
        print("\n".join(["profile NAME", *LISTINGS]))
        return
    if what == "profile" and not name:
        known = ", ".join(profiles.names())
        raise InputError(f"expected a name after it, one of: {known}", value=what)
    if name and what in LISTINGS:
        raise InputError(f"expected nothing after {what}", value=name)
    console.print_listing(listing(f"{what} {name}".strip()), what)
