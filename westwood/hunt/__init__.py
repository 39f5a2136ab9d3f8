# SPDX-License-Identifier: BSD-3-Clause
"""Hunts the worst that can happen to a congestion control, or by it, and shrinks what it finds."""
