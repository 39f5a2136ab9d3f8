# SPDX-License-Identifier: BSD-3-Clause
"""Judges a congestion control on paths that nothing was tuned on: docs/control-reference.md."""
