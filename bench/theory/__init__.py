# SPDX-License-Identifier: BSD-3-Clause
"""Holds the simulator against theory: docs/theory.md."""
