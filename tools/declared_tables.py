# SPDX-License-Identifier: BSD-3-Clause
"""Makes the tables of the guide that show what the code declares.

A page has them between `<!-- declared: NAME -->` and `<!-- end of declared: NAME -->`. NAME is a
list of `westwood list`, `options of COMMAND`, `exit codes`, or `warning PROTOCOL`, the catalogue's
warning about an experimental control. `python -m tools.pages declared` writes all of them.
"""

from __future__ import annotations

import re
from pathlib import Path

from tools import manual
from westwood.cli.commands import EXIT_CODES
from westwood.control.catalogue import PROTOCOLS
from westwood.reference import Listing, listing

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md"))]
_MARK = re.compile(r"^<!-- (declared: (.+?)) -->$", re.M)


def names(text: str) -> list[str]:
    """Lists the tables of declarations that a page has."""
    return [name for _, name in _MARK.findall(text)]


def tables(text: str) -> dict[str, str]:
    """Returns a page's tables as the code declares them now, by the names of their marks."""
    return {mark: _table(name) for mark, name in _MARK.findall(text)}


def _table(name: str) -> str:
    if name.startswith("warning "):
        warning = PROTOCOLS[name.removeprefix("warning ")].warning
        return f"> **{warning}**\n" if warning else ""
    return _listing(name).markdown() + "\n"


def _listing(name: str) -> Listing:
    if name.startswith("options of "):
        options = manual.options(manual.commands()[name.removeprefix("options of ")])
        return Listing(
            ("option", "what it does"), tuple((f"`{option}`", what) for option, what in options)
        )
    if name == "exit codes":
        return Listing(("code", "what it says"), tuple(EXIT_CODES.items()))
    return listing(name)
