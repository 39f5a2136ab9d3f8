# SPDX-License-Identifier: BSD-3-Clause
"""What a paper may have run: all settings that it leaves open, searched together.

This is no tuning: no model parameter is chosen for a claim. A paper's profile stays as it is and
its verdicts come first. What stands here beside them is under which of all plausible settings each
of its claims holds, and whether one setting has them all.
"""
