# SPDX-License-Identifier: BSD-3-Clause
"""Uploads over real and emulated paths, measured in turn under several congestion controls."""
