# SPDX-License-Identifier: BSD-3-Clause
"""`westwood conform`: what it prints and writes, and its exit code."""

import json
from collections.abc import Callable
from typing import Any

from westwood.conform.catalogue import CASES

Westwood = Callable[..., Any]


def test_a_case_shows_the_sentence_and_what_was_measured(westwood):
    done = westwood("conform", "bbr3", "--case", "drain-inflight")
    assert done.code == 0
    said = " ".join(done.out.split())
    assert CASES["drain-inflight"].sentence in said
    assert "pass pacing rate in Drain, over bandwidth: 0.495 (0.49 to 0.5)" in said
    assert max(map(len, done.out.splitlines())) <= 80


def test_a_case_that_fails_gives_exit_code_1_and_the_command(westwood):
    options = ("--set", "cc.bbr3_drain=0.347")
    done = westwood("conform", "bbr3", *options, "--case", "3", "--json")
    assert done.code == 1
    found = json.loads(done.out)["bbr3*"]
    assert [one["verdict"] for one in found] == ["fail"]
    assert found[0]["command"] == (
        "westwood conform bbr3 --set cc.bbr3_drain=0.347 --case drain-inflight"
    )


def test_a_page_has_a_picture_and_a_scenario_for_each_case(westwood, tmp_path):
    names = ("startup-plateau", "rate-up")
    westwood("conform", "bbr3", "cubic", "--case", ",".join(names), "--out", "found")
    page = (tmp_path / "found" / "index.html").read_text(encoding="utf-8")
    for name in names:
        assert (tmp_path / "found" / f"{name}.png").stat().st_size > 10_000
        assert CASES[name].title in page and f"westwood conform bbr3 --case {name}" in page
        assert westwood("run", f"found/{name}-bbr3.toml", "--seeds", "1").code == 0
    entries = json.loads((tmp_path / "found" / "cases.json").read_text(encoding="utf-8"))
    assert [entry["verdict"] for entry in entries["cubic"]] == ["does not apply", "fail"]


def test_json_has_no_number_for_what_is_unlimited(westwood):
    done = westwood("conform", "bbr3", "--set", "cc.bbr3_loss=0.5", "--case", "up-loss", "--json")
    found = json.loads(done.out, parse_constant=lambda word: f"no JSON: {word}")["bbr3*"]
    finding = found[0]["findings"][0]
    assert finding["measured"] is None and finding["reason"] == "inf"
