# SPDX-License-Identifier: BSD-3-Clause
"""Draws random numbers that people can read."""

from __future__ import annotations

import math
import random


def log_uniform(choices: random.Random, least: float, most: float) -> float:
    """Draws a log-uniform number with four digits."""
    return float(f"{math.exp(choices.uniform(math.log(least), math.log(most))):.4g}")


def log_count(choices: random.Random, least: int, most: int) -> int:
    """Draws a log-uniform whole number."""
    return round(log_uniform(choices, least, most))
