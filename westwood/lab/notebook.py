# SPDX-License-Identifier: BSD-3-Clause
"""Shows the laboratory inline in a notebook, with a scenario as its state."""

from __future__ import annotations

from pathlib import Path

import anywidget
import traitlets

from westwood.control import loading
from westwood.draw import laboratory
from westwood.scenario import Scenario, controls, fragments


class Laboratory(anywidget.AnyWidget):
    """Shows the page of `westwood lab` in a frame when a notebook cell returns it."""

    _esm = Path(__file__).with_suffix(".js")
    page = traitlets.Unicode().tag(sync=True)
    fragment = traitlets.Unicode().tag(sync=True)  # of the page's URL
    height = traitlets.Int(900).tag(sync=True)  # px

    def __init__(self, scenario: Scenario) -> None:
        named = controls.files(scenario.given())
        own_controls = [loading.of_source(str(source), name) for name, source in named.items()]
        page = laboratory.page(own_controls).decode("utf-8")
        super().__init__(page=page, fragment=fragments.of_scenario(scenario))
