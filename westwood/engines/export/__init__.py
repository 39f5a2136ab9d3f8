# SPDX-License-Identifier: BSD-3-Clause
"""Exports scenarios to other simulators."""
