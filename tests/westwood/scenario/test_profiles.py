# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of papers keep the TCP of their time when the default profile changes."""

import pytest

from westwood.scenario import Scenario


@pytest.mark.parametrize("profile", ["ns2-2001", "ns2-2005", "ns3-2013"])
def test_profiles_of_papers_have_no_later_tcp(profile):
    settings = {"profile": profile, "tcp.cc": "cubic"}
    (flow,) = Scenario.preset("path").with_settings(settings).flow
    assert (flow.recovery, flow.header, flow.cc.slow_start) == ("sack", 40, "standard")
    assert not any((flow.rack, flow.frto, flow.undo, flow.timestamps, flow.syn_ack_timer))
