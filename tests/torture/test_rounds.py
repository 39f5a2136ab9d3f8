# SPDX-License-Identifier: BSD-3-Clause
"""A seed repeats its round; every attack relies on this."""

import random


def test_the_seed_that_a_failure_names_repeats_its_round(attack):
    for choices in attack.rounds():
        assert choices.random() == random.Random(attack.seed).random()
        break
