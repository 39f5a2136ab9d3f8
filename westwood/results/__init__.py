# SPDX-License-Identifier: BSD-3-Clause
"""Results of runs: rows, traces, statistics, packet captures, and the folders that store them."""
