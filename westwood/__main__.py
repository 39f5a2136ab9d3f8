# SPDX-License-Identifier: BSD-3-Clause
"""Runs the command line for `python -m westwood`."""

from westwood.cli import main

main()
