# SPDX-License-Identifier: BSD-3-Clause
"""A profile sets the parameters of a control that are settings of what the control is like."""

import pytest

from westwood import Control, Scenario, simulate
from westwood.control import writing
from westwood.control.catalogue import PROTOCOLS, SETTINGS
from westwood.control.writing import like
from westwood.scenario import profiles


@pytest.mark.parametrize(
    ("protocol", "profile"), [("cubic", "linux"), ("bbr3", "quiche"), ("westwood+", "ns2-2001")]
)
def test_a_profile_sets_what_it_sets_of_the_control_it_is_like(protocol, profile, tmp_path):
    file = tmp_path / "mine.c"
    file.write_text(like(protocol, "mine"), encoding="utf-8")
    settings = {"profile": profile, "duration": "10s", "tcp.recovery": "sack", "tcp.cc": protocol}
    theirs = Scenario.preset("path").with_settings(settings)
    ours = theirs.with_settings({"tcp.cc": Control(file)})
    assert simulate(ours, events=True).events.equals(simulate(theirs, events=True).events)


def test_a_scenario_sets_a_parameter_that_a_profile_sets_too(tmp_path):
    file = tmp_path / "mine.c"
    file.write_text(like("cubic", "mine"), encoding="utf-8")
    of_profile = {"profile": "linux", "tcp.cc": Control(file)}
    for given, expected in (({}, 1), ({"tcp.cc.slow_start": 3}, 3)):
        scenario = Scenario.preset("path").with_settings({**of_profile, **given})
        assert scenario.flow[0].cc.parameters["slow_start"] == expected


def test_a_new_control_has_the_settings_that_profiles_set_as_parameters():
    for algorithm in {protocol.algorithm for protocol in PROTOCOLS.values()}:
        of_profiles = {
            key
            for name in profiles.names()
            for section in ("cc", "cubic")[: 1 + (algorithm == "cubic")]
            for key in profiles.get(name).defaults(section)
        }
        names = {
            setting.name for setting in SETTINGS if algorithm in setting.algorithms
        } & of_profiles
        of_all = {setting.name for setting in SETTINGS if "loaded" in setting.algorithms}
        assert set(writing.SETTINGS.get(algorithm, ())) == names - of_all, algorithm
