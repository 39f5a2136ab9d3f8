# SPDX-License-Identifier: BSD-3-Clause
"""Numbers from runs: rows, traces, their statistics, packets, and the folder that keeps them."""
