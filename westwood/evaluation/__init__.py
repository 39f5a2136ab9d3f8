# SPDX-License-Identifier: BSD-3-Clause
"""Evaluates congestion controls by published criteria: docs/evaluation.md."""
