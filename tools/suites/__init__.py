# SPDX-License-Identifier: BSD-3-Clause
"""Runs test suites: limits their CPU time, skips unchanged ones, tries failed tests again."""
