# SPDX-License-Identifier: BSD-3-Clause
"""What not everybody needs is not installed with the rest: it belongs to an extra.

pyproject.toml says which extra brings which package; a package is called as its module is.
"""

from __future__ import annotations

import re
from importlib import import_module

from westwood.errors import UnavailableError


def need(module: str, asked: str) -> None:
    """UnavailableError unless the module is installed; it says what `asked` for it, and its extra.

    Call it before anything runs: nobody is to wait for a figure that can't be drawn.
    """
    if not has(module):
        raise UnavailableError(f"{asked} needs {module}: {remedy(module)}")


def has(module: str) -> bool:
    """Says whether the module is installed; an error if it is, and can't be imported."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return False
    return True


def remedy(module: str) -> str:
    """Says how to install it."""
    return f"pip install 'westwood[{extra_of(module)}]'"


def extra_of(package: str) -> str:
    """Names the first extra that brings the package."""
    from importlib import metadata  # half as long to import as all else here

    wanted = re.compile(rf"{package}\b.*\bextra == ['\"]([\w-]+)")
    found = map(wanted.match, metadata.requires("westwood") or ())
    return next(match[1] for match in found if match)
