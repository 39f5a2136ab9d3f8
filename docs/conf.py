# SPDX-License-Identifier: BSD-3-Clause
"""How Sphinx builds the guide."""

import tomllib
from pathlib import Path

_pyproject = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())

project = "Westwood"
author = "the Westwood authors"
copyright = f"2026, {author}"
release = version = _pyproject["project"]["version"]

extensions = ["myst_nb"]  # myst_parser, and pages that are notebooks
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nb_execution_mode = "auto"  # off in `make test`, on in `make docs` and `make test-slow`
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120

html_theme = "furo"
html_title = f"Westwood {version}"
