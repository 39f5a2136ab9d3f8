# SPDX-License-Identifier: BSD-3-Clause
"""Measures uploads over real and emulated paths, in turn under several congestion controls."""
