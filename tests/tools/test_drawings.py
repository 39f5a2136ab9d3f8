# SPDX-License-Identifier: BSD-3-Clause
"""docs/how-it-works.md quotes the runs that it draws, and the runs follow its equations."""

from __future__ import annotations

import math

import pytest

from tools import drawings
from westwood import Scenario
from westwood.control.catalogue import SETTINGS

PAGES = {
    name: (drawings.PICTURES.parent / f"{name}.md").read_text(encoding="utf-8")
    for name in ("how-it-works", "westwood-cubic")
}
PAGE = PAGES["how-it-works"]
MSS_BITS = 8 * (1500 - 52)  # with timestamps, as in the profile `rfc`


@pytest.mark.parametrize("name", list(drawings.facts()))
def test_the_page_quotes_the_run(name):
    assert drawings.facts()[name] in " ".join(PAGE.split()), name


@pytest.mark.parametrize("name", list(drawings.DRAWINGS))
def test_a_page_shows_every_drawing(name):
    assert any(f"](img/{name}.png)" in page for page in PAGES.values())
    assert (drawings.PICTURES / f"{name}.png").is_file()
    assert drawings.DRAWINGS[name]().axes


def test_westwood_sets_the_window_of_the_pages_equation():
    trace = drawings.run("westwood+").trace
    rtt_min_s = trace["rtt_s"].drop_nans().min()
    assert isinstance(rtt_min_s, float)
    for loss in drawings.losses("westwood+"):
        wanted = loss.estimate_bps * rtt_min_s / MSS_BITS
        assert 0 <= math.floor(wanted) - loss.ssthresh <= 1


def test_only_losses_of_a_full_queue_are_evidence_of_one():
    full, lossy = (
        drawings.round_trips(rate)[1]["score"].to_numpy() for rate in (0.0, drawings.LOSS_RATE)
    )
    assert lossy.mean() < drawings.THRESHOLD / 2 < drawings.THRESHOLD < full.mean()


def test_the_drawing_has_the_threshold_of_the_control():
    (setting,) = (candidate for candidate in SETTINGS if candidate.name == "wc_evidence")
    assert setting.fallback / 1000 == drawings.THRESHOLD


def test_reno_halves_its_window():
    for loss in drawings.losses("newreno"):
        assert abs(loss.ssthresh - loss.cwnd / 2) <= 1


def test_the_path_has_the_capacity_in_the_drawings():
    written = Scenario.preset("sawtooth").to_toml()
    assert 'rate = "10Mbps"' in written and 'delay = "50ms"' in written
    rtt_s = 2 * 50e-3
    assert int(10e6 * rtt_s / 8 / 1500) == drawings.PIPE
