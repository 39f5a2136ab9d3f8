# SPDX-License-Identifier: BSD-3-Clause
"""The command `control new`."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli.options import option, starting


def _models() -> Iterable[str]:
    from westwood.control import writing

    return writing.models()


def new(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Of the control: NAME.c is written.")],
    like: Annotated[
        str,
        option(
            None,
            "PROTOCOL",
            "The control whose windows it sets at first.",
            autocompletion=starting(_models),
        ),
    ] = "reno",
) -> None:
    """Write a control in one C file, which you then change."""
    from westwood.control import writing

    path = Path(f"{name.removesuffix('.c')}.c")
    writing.check_name(Path(name.removesuffix(".c")).name)
    writing.write(path, like)
    print(f"wrote {path}, which sets its windows as {like} does")
    named = path if path.is_absolute() else f"./{path}"
    print(f"Next: westwood run path --cc {named},{like} --set tcp.recovery=sack")
