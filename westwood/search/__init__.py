# SPDX-License-Identifier: BSD-3-Clause
"""Paths drawn at random, what is wanted of a congestion control on them, and a search for it."""
