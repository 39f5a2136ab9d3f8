# SPDX-License-Identifier: BSD-3-Clause
"""Draws figures and writes pages from frames of numbers, without scenarios or engines."""
