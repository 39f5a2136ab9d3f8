# SPDX-License-Identifier: BSD-3-Clause
"""docs/family.md shows the runs of docs/gallery-hosts.json; the simulator's part is of today."""

from __future__ import annotations

import pytest

from tools import gallery_hosts
from westwood.control import gallery
from westwood.engines.contract import Job
from westwood.engines.listed_losses import listing
from westwood.engines.simulator import SIMULATOR

STORED = gallery_hosts.PAGE.read()
CURE = "run: python -m tools.gallery_hosts"


def test_the_page_agrees_with_its_file() -> None:
    assert gallery_hosts.PAGE.is_written(STORED), CURE


@pytest.mark.parametrize("profile", ["linux", "ns3-3.44"])
@pytest.mark.parametrize("cc", gallery.names())
def test_the_simulators_clean_run_is_that_of_the_page(cc: str, profile: str) -> None:
    run = listing(SIMULATOR).prepare(Job(gallery_hosts.scenario(cc, "clean", profile), [1]))
    (row,) = run(1)
    stored = STORED[profile.partition("-")[0]]["simulator"][cc]["clean"][0]
    assert row["goodput_bps"] / 1e6 == pytest.approx(stored, abs=0.001), CURE
