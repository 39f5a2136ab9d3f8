# SPDX-License-Identifier: BSD-3-Clause
"""Searches all settings that a paper leaves open, to find what it may have run.

This is no tuning: no model parameter is chosen for a claim. A paper's profile and its verdicts come
first. In addition, this package finds the plausible settings under which each claim holds, and
whether one setting makes all of them hold.
"""
