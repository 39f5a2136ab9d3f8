# SPDX-License-Identifier: BSD-3-Clause
"""A path comparison ends with the command to type next, which depends on its verdicts."""

import math
from collections.abc import Sequence
from pathlib import Path

import pytest

from westwood.campaign import next_step, trying
from westwood.campaign.plan import Server

HOST = Server("192.0.2.1", 5201)


def trial_of(**gains: Sequence[float]) -> trying.Trial:
    """Makes a trial of a minute in which the controls have these gains over cubic, pair by pair."""
    plan = trying.plan(HOST, ("cubic", *gains), 60, 1, "5%", 1)
    rates = {"cubic": [0.0] * len(next(iter(gains.values()))), **gains}
    rows = [
        {"pair": pair, "cc": cc, "goodput_bps": 1e6 * (1 + gain)}
        for cc, several in rates.items()
        for pair, gain in enumerate(several, 1)
    ]
    return trying.Trial(plan, rows, rounds=len(rates["cubic"]), round_s=3)


PAYS, LITTLE, DOES_NOT = [0.2, 0.25, 0.3, 0.2] * 3, [0.3, 0.3, 0.31, 0.3] * 3, [-0.01, 0.01] * 6
UNSURE = [0.9, -0.4] * 6


@pytest.mark.parametrize(
    ("gains", "server", "chosen", "command"),
    [
        ({"ww_plus": PAYS}, "h", (), "westwood kernel load"),
        (
            {"ww_plus": PAYS, "ww_cubic": LITTLE},
            "h",
            (),
            "westwood kernel load",
        ),
        ({"bbr": PAYS, "ww_plus": UNSURE}, "h", (), "westwood kernel default bbr"),
        (
            {"ww_mine": PAYS},
            "h",
            ("cubic", "a b/mine.c"),
            "westwood kernel load 'a b/mine.c'",
        ),
        ({"ww_plus": PAYS}, None, (), "westwood path compare HOST"),
        ({"ww_plus": DOES_NOT}, "h", (), "westwood path fit 'a b' --out path.toml"),
        ({"ww_plus": DOES_NOT}, None, (), "westwood path fit 'a b' --out path.toml"),
    ],
)
def test_the_verdict_names_the_next_command(gains, server, chosen, command):
    assert next_step.after(trial_of(**gains), server, Path("a b"), chosen) == command


def test_a_control_that_pays_is_judged_by_what_others_lose():
    pays = trial_of(bbr=PAYS, ww_plus=PAYS, ww_mine=PAYS, reno=PAYS, ww_cubic=DOES_NOT, dctcp=PAYS)
    command = next_step.of_harm(pays, ("bbr", "ww_plus", "./mine.c", "reno"))
    names = "bbr westwood+ ./mine.c sack"
    assert command == f"westwood evaluate {names} --quick --only harm-cubic,harm-lossy"
    assert not next_step.of_harm(trial_of(ww_plus=UNSURE))


def test_an_undecided_comparison_proposes_a_longer_one():
    trial = trial_of(ww_plus=UNSURE, ww_cubic=DOES_NOT)
    more_s = trial.verdicts()[0].more_s
    minutes = math.ceil((60 + more_s) / 60)
    assert minutes > 2
    longer = next_step.after(trial, "h:1", Path("p"), ("cubic", "bbr"))
    assert longer == f"westwood path compare h:1 --cc cubic,bbr --for {minutes}m"
    first = trial_of(ww_plus=[0.3])
    assert next_step.after(first, None, Path("p")).endswith(" --emulated --for 2m")
    path = {"scenario": "a b.toml", "loss": "2%"}
    same_path = next_step.after(first, None, Path("p"), path=path)
    assert same_path.endswith(" --emulated --scenario 'a b.toml' --loss 2% --for 2m")
