# SPDX-License-Identifier: BSD-3-Clause
"""`westwood compare` over several values, and what it calls its figure."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Westwood = Callable[..., Any]
QUICK = ("--duration", "20s", "--seeds", "4", "--cc", "reno")


def test_values_between_commas_are_swept(westwood: Westwood, tmp_path: Path) -> None:
    called = westwood("compare", "--loss", "0.1%, 3%", "--queue", "1bdp,2bdp", *QUICK, "--json")
    means = json.loads(called.out)["summary"]
    found = [(row["path.loss.rate"], row["path.queue.limit"]) for row in means]
    assert found == [(loss, queue) for loss in ("0.1%", "3%") for queue in ("1bdp", "2bdp")]
    lossy = [row["goodput_bps"] for row in means]
    assert min(lossy[:2]) > max(lossy[2:]), "a lossier path carries less"
    assert list(tmp_path.iterdir()) == []


def test_a_curve_over_what_is_swept(westwood: Westwood, tmp_path: Path) -> None:
    assert westwood("compare", "--loss", "0.1%,1%,3%", *QUICK, "--plot").code == 0
    drawn = (tmp_path / "path-compare.svg").read_text()
    assert "Share of packets lost" in drawn, "the axis across"


def test_pictures_of_two_commands_lie_side_by_side(westwood: Westwood, tmp_path: Path) -> None:
    short = ("--set", "duration=2s", "--plot")
    assert westwood("compare", *QUICK, "--plot").code == 0
    assert westwood("trace", "path", *short).code == 0
    assert westwood("run", "path", *short, "--seeds", "1").code == 0
    assert len(list(tmp_path.glob("*.png"))) == 3


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (("--loss", "1"), 'path.loss.rate = 1: may be meant as "1%" or as "100%", expected one'),
        (("--loss", "0.1%,1"), 'path.loss.rate = 1: may be meant as "1%" or as "100%", expected'),
        (("--loss", "0.1%,"), 'path.loss.rate = "": expected a fraction from 0 to 1'),
        (("--rate", "2Mbps,fast"), 'path.rate = "fast": expected a rate'),
        (("--queue", "0bdp"), 'path.queue.limit = "0bdp": expected up to 1000 bandwidth-delay'),
        (("--cc", "westwoodplus"), '"westwoodplus": unknown protocol, did you mean "westwood+"?'),
    ],
)
def test_a_wrong_value_is_named(words: tuple[str, ...], problem: str, westwood: Westwood) -> None:
    called = westwood("compare", *words, "--seeds", "1", "--duration", "1s")
    assert (called.code, called.out, called.err.count("\n")) == (2, "", 1)
    assert problem in called.err
