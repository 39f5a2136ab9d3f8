# SPDX-License-Identifier: BSD-3-Clause
"""Writes scenarios for programs that are not ours."""
