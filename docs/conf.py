# SPDX-License-Identifier: BSD-3-Clause
"""Tells Sphinx how to build the guide."""

from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from latex2mathml.converter import convert
from sphinx.util.docutils import SphinxDirective

import westwood
from westwood.catalogue import PROTOCOLS
from westwood.reference import listing

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


class Declared(SphinxDirective):
    """A table of what the code declares: ```{declared} protocols, as `westwood list` has it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Parses the table as if it stood on the page.

        The page is read anew by every build: its table changes with the code, its file does not.
        """
        self.env.note_reread()
        lines = listing(self.arguments[0]).markdown().splitlines()
        holder = nodes.container()
        self.state.nested_parse(StringList(lines, source="westwood list"), 0, holder)
        return holder.children


class Experimental(SphinxDirective):
    """Warns of a protocol that the catalogue calls experimental: ```{experimental} NAME."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Makes a note of the catalogue's first sentence; nothing once that says no such thing."""
        self.env.note_reread()
        warning = PROTOCOLS[self.arguments[0]].warning
        return [nodes.warning("", nodes.paragraph("", warning))] if warning else []


def _formula(translator: Any, node: nodes.math) -> None:
    translator.body.append(convert(node.astext()))
    raise nodes.SkipNode


def _displayed_formula(translator: Any, node: nodes.math_block) -> None:
    translator.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def setup(app: Any) -> None:
    app.add_html_math_renderer("mathml", (_formula, None), (_displayed_formula, None))
    app.add_directive("experimental", Experimental)
    app.add_directive("declared", Declared)
