# SPDX-License-Identifier: BSD-3-Clause
"""Runs and draws published experiments, and checks the papers' claims."""
