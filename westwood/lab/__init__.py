# SPDX-License-Identifier: BSD-3-Clause
"""The laboratory in the browser: the data of its page, the server, and `show` for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from westwood import extras
from westwood.control import arguments
from westwood.scenario import Scenario

if TYPE_CHECKING:
    from westwood.lab.notebook import Laboratory


@arguments.checked(scenario=arguments.instance(Scenario))
def show(scenario: Scenario) -> Laboratory:
    """Shows the laboratory with a scenario, inline in a notebook.

    Parameters
    ----------
    scenario : Scenario
        What the laboratory opens.

    Returns
    -------
    anywidget.AnyWidget
        The laboratory; a notebook shows it as the result of a cell.

    Raises
    ------
    UnavailableError
        If the extra `lab` is not installed.
    InputError
        If the argument is no scenario, or if the laboratory cannot show such a scenario.

    Examples
    --------
    >>> from westwood import Scenario, lab
    >>> lab.show(Scenario.preset("path"))  # doctest: +SKIP
    """
    extras.need("anywidget", "lab.show()")
    from westwood.lab.notebook import Laboratory

    return Laboratory(scenario)
