# SPDX-License-Identifier: BSD-3-Clause
"""Benchmarks and comparisons, run from the root of the tree: `python -m bench.run`."""
