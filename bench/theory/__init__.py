# SPDX-License-Identifier: BSD-3-Clause
"""Compares the simulator with theory: docs/theory.md."""
