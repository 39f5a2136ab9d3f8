# SPDX-License-Identifier: BSD-3-Clause
"""A seed repeats its round; every attack relies on this."""

from __future__ import annotations

import random
from typing import Any


def test_the_seed_that_a_failure_names_repeats_its_round(attack: Any) -> None:
    for choices in attack.rounds():
        assert choices.random() == random.Random(attack.seed).random()
        break
