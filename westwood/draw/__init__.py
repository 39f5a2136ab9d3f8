# SPDX-License-Identifier: BSD-3-Clause
"""Figures and pages. They read frames of numbers and know no scenario and no engine."""
