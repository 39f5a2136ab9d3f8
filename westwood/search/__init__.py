# SPDX-License-Identifier: BSD-3-Clause
"""Searches settings of a congestion control on random paths."""
