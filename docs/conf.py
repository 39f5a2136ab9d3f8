# SPDX-License-Identifier: BSD-3-Clause
"""Tells Sphinx how to build the guide."""

from typing import Any

from docutils import nodes
from latex2mathml.converter import convert

import westwood

project = "Westwood"
author = "the Westwood authors"
copyright = f"2026, {author}"
release = version = westwood.__version__

# autodoc looks for what a module has, and westwood imports what it exports when it is first used.
vars(westwood).update({name: getattr(westwood, name) for name in westwood.__all__})

extensions = [
    "myst_nb",  # myst_parser, and pages that are notebooks
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",  # Parameters, Returns, Raises and Examples
]
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings say the types, with units and dtypes
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
default_role = "literal"  # `this` in a docstring is code
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
nb_execution_mode = "auto"  # off in `make test`, on in `make docs` and `make test-slow`
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 120

html_math_renderer = "mathml"  # drawn by the browser itself: no script, and nothing from elsewhere
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["guide.css"]
html_title = f"Westwood {version}"


def _formula(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _displayed_formula(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (_formula, None), (_displayed_formula, None))
