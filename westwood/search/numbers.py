# SPDX-License-Identifier: BSD-3-Clause
"""Numbers drawn at random, as people read them."""

from __future__ import annotations

import math
import random


def log_uniform(choices: random.Random, least: float, most: float) -> float:
    """Draws a number of four digits, uniform in its logarithm."""
    return float(f"{math.exp(choices.uniform(math.log(least), math.log(most))):.4g}")


def log_count(choices: random.Random, least: int, most: int) -> int:
    """Draws a whole number, uniform in its logarithm."""
    return round(log_uniform(choices, least, most))
