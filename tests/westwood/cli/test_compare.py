# SPDX-License-Identifier: BSD-3-Clause
"""`westwood compare` sweeps several values, and its figure has a name of its own."""

import json
import re
import statistics
from collections.abc import Callable
from typing import Any

import pytest

Westwood = Callable[..., Any]
QUICK = ("--duration", "20s", "--seeds", "4", "--cc", "reno")


def test_values_between_commas_are_swept(westwood, tmp_path):
    called = westwood("compare", "--loss", "0.1%, 3%", "--queue", "1bdp,2bdp", *QUICK, "--json")
    means = json.loads(called.out)["summary"]
    points = [(row["path.loss.rate"], row["path.queue.limit"]) for row in means]
    assert points == [(loss, queue) for loss in ("0.1%", "3%") for queue in ("1bdp", "2bdp")]
    lossy = [row["goodput_bps"] for row in means]
    assert min(lossy[:2]) > max(lossy[2:]), "a lossier path carries less"
    assert list(tmp_path.iterdir()) == []


def test_links_by_name_replace_the_path(westwood):
    links = ("--link", "dsl,lte", "--delay", "30ms")
    means = json.loads(westwood("compare", *links, *QUICK, "--json").out)["summary"]
    assert [row["path.kind"] for row in means] == ["dsl", "lte"]
    dsl, lte = (row["goodput_bps"] for row in means)
    assert 1e6 < dsl < 1.5e6 and 8e6 < lte < 12e6


TWO = ("--cc", "reno", "--cc", "westwood+", "--duration", "20s", "--seeds", "4")


def test_protocols_are_compared_in_pairs_of_the_same_seed(westwood):
    told = json.loads(westwood("compare", "--loss", "0.1%,3%", *TWO, "--json").out)
    assert [pair["path.loss.rate"] for pair in told["pairs"]] == ["0.1%", "3%"]
    for pair in told["pairs"]:
        here = [r for r in told["runs"] if r["path.loss.rate"] == pair["path.loss.rate"]]
        means = [
            statistics.mean(r["goodput_bps"] for r in here if r["cc"] == cc)
            for cc in ("reno", "westwood+")
        ]
        assert (pair["minus"], pair["cc"], pair["runs"]) == ("reno", "westwood+", 4)
        assert pair["mean"] == pytest.approx(means[1] - means[0])
        assert pair["ratio"] == pytest.approx(means[1] / means[0])


def test_a_row_compares_the_protocols_at_a_point(westwood):
    shown = westwood("compare", "--loss", "0.1%,3%", *TWO, "--cc", "bbr").out
    title = "Goodput against Reno, paired by seed (4 seeds, 95 % intervals)\n"
    table = shown.partition(title)[2].splitlines()
    names, heads, _, *rows = table[1:6]
    assert [row.split()[0] for row in rows] == ["0.1%", "3%"]
    assert names.split() == ["Reno", "Westwood+", "BBRv1"]
    assert heads.split() == ["path.loss.rate", "Mb/s", "Δ", "%", "Δ", "%"]


def test_one_point_is_compared_in_a_line_for_each_protocol(westwood):
    lines = westwood("compare", *TWO).out.splitlines()
    position = lines.index("Goodput against Reno, paired by seed (4 seeds, 95 % intervals):")
    assert re.fullmatch(
        r"  Westwood\+: [+-]\d\.\d{3} ± \d\.\d{3} Mb/s, [+-]\d+\.\d ± \d+\.\d %",
        lines[position + 1],
    )
    single = westwood("compare", *TWO[:-1], "1").out
    assert "Goodput against Reno, one seed:" in single and "±" not in single


def test_a_comparison_of_one_of_several_flows_names_it(westwood):
    shown = westwood("run", "plateau-friendly", "--set", "duration=9s", "--seeds", "1").out
    assert "Goodput of S2-tcp against NewReno, one seed:" in shown


def test_one_protocol_is_compared_with_none(westwood):
    assert "against" not in westwood("compare", *QUICK).out


def test_a_curve_over_what_is_swept(westwood, tmp_path):
    assert westwood("compare", "--loss", "0.1%,1%,3%", *QUICK, "--plot").code == 0
    drawn = (tmp_path / "path-compare.svg").read_text()
    assert "Share of packets lost" in drawn, "the axis across"


def test_pictures_of_two_commands_lie_side_by_side(westwood, tmp_path):
    short = ("--set", "duration=2s", "--plot")
    assert westwood("compare", *QUICK, "--plot").code == 0
    assert westwood("trace", "path", *short).code == 0
    assert westwood("run", "path", *short, "--seeds", "1").code == 0
    assert len(list(tmp_path.glob("*.png"))) == 3


@pytest.mark.parametrize(
    ("words", "protocols"),
    [
        (("--cc", "reno,cubic"), ["reno", "cubic"]),
        (("--cc", "reno,cubic", "--cc", "bbr"), ["reno", "cubic", "bbr"]),
        (("--cc", "reno, cubic"), ["reno", "cubic"]),
    ],
)
def test_protocols_between_commas(words, protocols, westwood):
    called = westwood("compare", *words, "--duration", "1s", "--seeds", "1", "--json")
    assert [row["cc"] for row in json.loads(called.out)["runs"]] == protocols
