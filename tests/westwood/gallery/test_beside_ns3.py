# SPDX-License-Identifier: BSD-3-Clause
"""The gallery's controls set the windows that ns-3's own set for the same ACKs and losses.

ns3_windows.txt is what ns3_windows.cc printed, linked with ns-3 3.44: docs/gallery.md.
"""

import pytest

from . import comparisons
from .comparisons import EVERY, recorded
from .scripts import FLIGHT, of_control


def test_hyblas_windows_are_those_of_ns3():
    assert comparisons.hybla() <= 1


def test_scalables_windows_are_those_of_ns3_which_counts_50_acks():
    assert comparisons.scalable() <= 1


@pytest.mark.parametrize("name", ["highspeed.c", "illinois.c"])
def test_ns3s_windows_are_those_of_the_equations_rounded_as_there(name):
    assert comparisons.rounded_as_ns3(name) <= 1


def test_dctcps_windows_and_alpha_are_those_of_ns3():
    """RFC 8257 updates alpha at the first ACK, ns-3 a window later: 1/16 apart, and ever less."""
    seen = of_control("dctcp.c", 20, reduce="mark")[EVERY - 1 :: EVERY]
    for place, (ours, (cwnd, alpha)) in enumerate(zip(seen, recorded("TcpDctcp"), strict=True), 1):
        assert abs(ours.cwnd - cwnd) <= 1
        updates = (EVERY * place - 1) // FLIGHT
        if updates:
            assert abs(ours.quantities[0] / 1000 - alpha) <= (15 / 16) ** updates / 16 + 0.002
