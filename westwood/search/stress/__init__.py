# SPDX-License-Identifier: BSD-3-Clause
"""Searches for environments in which a control fares worst, or treats others worst."""
