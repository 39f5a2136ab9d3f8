# SPDX-License-Identifier: BSD-3-Clause
"""Mutation tests: `python -m tools.mutants`."""
