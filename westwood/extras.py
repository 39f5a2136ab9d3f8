# SPDX-License-Identifier: BSD-3-Clause
"""Checks for optional dependencies, which pip installs as extras.

pyproject.toml lists the packages of each extra; each has the name of its module.
"""

from __future__ import annotations

import re
from importlib import import_module

from westwood.errors import UnavailableError


def need(module: str, asked: str) -> None:
    """Raises UnavailableError unless the module is installed; `asked` names what needs it.

    Call it before any run, so that nobody waits for a figure that can't be drawn.
    """
    if not has(module):
        raise UnavailableError(f"{asked} needs {module}: {remedy(module)}")


def has(module: str) -> bool:
    """Returns whether the module is installed; a broken module raises its own error."""
    try:
        import_module(module)
    except ModuleNotFoundError as error:
        if error.name != module:
            raise
        return False
    return True


def remedy(module: str) -> str:
    """Returns the command that installs the module."""
    return f"pip install 'westwood[{extra_of(module)}]'"


def extra_of(package: str) -> str:
    """Returns the first extra that brings the package."""
    from importlib import metadata  # a tenth of the start of a command

    wanted = re.compile(rf"{package}\b.*\bextra == ['\"]([\w-]+)")
    matches = map(wanted.match, metadata.requires("westwood") or ())
    return next(match[1] for match in matches if match)
