# SPDX-License-Identifier: BSD-3-Clause
"""Loads our congestion controls into this machine's kernel, and reads its TCP connections."""
