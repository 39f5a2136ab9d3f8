# SPDX-License-Identifier: BSD-3-Clause
"""Judges a congestion control on paths that no tuning has seen: docs/control-reference.md."""
