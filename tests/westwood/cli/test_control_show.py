# SPDX-License-Identifier: BSD-3-Clause
"""`control show` prints what a congestion control is, from the declarations."""

import json

import pytest

from westwood import Scenario
from westwood.control.catalogue import PROTOCOLS, settings_of_protocol


@pytest.mark.parametrize("name", PROTOCOLS)
def test_its_values_are_what_a_scenario_may_write(name, westwood):
    shown = json.loads(westwood("control", "show", name, "--json").out)
    assert (shown["source"], shown["name"]) == (PROTOCOLS[name].source, name)
    values = {entry["setting"]: entry["value"] for entry in shown["settings"]}
    assert list(values) == list(settings_of_protocol(name))
    cc = Scenario.preset("path").with_settings({"tcp.cc": {"name": name, **values}}).flows[0].cc
    assert cc.name == name, "all are accepted"


def test_the_value_is_the_controls_own(westwood):
    called = westwood("control", "show", "westwood+")
    assert called.code == 0 and "in Linux: ww_plus" in called.out
    assert "value: ewma; default: none" in called.out, "the filter of Dell'Aera 2003"
