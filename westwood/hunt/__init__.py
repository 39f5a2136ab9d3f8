# SPDX-License-Identifier: BSD-3-Clause
"""Searches for the worst that can happen to a congestion control, or that it does to others."""
