# SPDX-License-Identifier: BSD-3-Clause
"""Settings out of bounds or in contradiction are refused with key, value and expectation."""

import json
import re
from typing import Any

import pytest

from westwood.control import catalogue
from westwood.control.catalogue import PROTOCOLS, Setting, settings_of_protocol
from westwood.errors import InputError
from westwood.scenario import Scenario, plain

LINK = {"name": "l", "between": ["a", "b"], "rate": "1Mbps", "delay": "10ms"}
FLOW: dict[str, Any] = {"name": "f", "from": "a", "to": "b", "cc": "newreno"}


def beyond(setting: Setting) -> object:
    """Returns a value just outside the declared bounds, as a scenario writes it."""
    match setting.kind:
        case "SWITCH" | "CHOICE":
            return "neither"
        case "SPAN":
            return f"{setting.most + 1}us"
        case "SHARE" | "FACTOR_OR_NONE":
            return (setting.most + 1) / 1000
    return setting.most + 1


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_setting_beyond_its_bounds_is_refused_with_what_was_expected(protocol):
    """For every control: a gain above 1, a count above 255, an unknown word."""
    for key, setting in settings_of_protocol(protocol).items():
        value = beyond(setting)
        flow = {**FLOW, "cc": {"name": protocol, key: value}}
        shown = re.escape(json.dumps(value))
        with pytest.raises(InputError, match=rf"^f\.cc\.{key} = {shown}: .*(expected|unknown)"):
            Scenario(name="s", duration="3s", link=[LINK], flow=[flow])


@pytest.mark.parametrize("least", [{"packet": "41B"}, {"receive_window": "1460B"}])
def test_a_packet_of_a_byte_and_a_window_of_a_segment_are_accepted(least):
    Scenario(name="s", duration="3s", link=[LINK], flow=[{**FLOW, **least}])


def test_pairs_of_any_kind_can_be_declared_in_order(monkeypatch):
    """Messages show values as a scenario writes them, not in the core's units."""
    pairs = [("min_interval_us", "tau_us")]
    declared = {"cc": pairs, "flow": []}
    monkeypatch.setattr(catalogue._engine, "settings_in_order", declared.__getitem__)
    monkeypatch.setattr(plain, "parts_of", lambda settings: None)  # the engine has other pairs
    catalogue.settings_in_order.cache_clear()
    flow = {**FLOW, "cc": {"name": "westwood+", "min_interval": "70ms"}}
    wrong = {**FLOW, "cc": {**flow["cc"], "tau": "60ms"}}
    words = r'^f\.cc\.tau = "60ms": expected at least min_interval, 70ms$'
    try:
        with pytest.raises(InputError, match=words):
            Scenario(name="s", duration="3s", link=[LINK], flow=[wrong])
        assert Scenario(name="s", duration="3s", link=[LINK], flow=[flow])
    finally:
        catalogue.settings_in_order.cache_clear()


def test_a_setting_of_every_flow_passes_datagrams_over(small):
    udp = {"name": "udp", "from": "source", "to": "sink", "app": {"kind": "udp", "rate": "1Mbps"}}
    data = small.resolved()
    both = Scenario(**{**data, "flow": [*data["flow"], udp]})
    window = {"*.receive_window": "1MB"}
    resolved = both.with_settings(window).resolved()
    assert "receive_window" not in resolved["flow"][1]
    assert Scenario(**resolved) == both.with_settings(window)
    alone = Scenario(**{**data, "flow": [udp]})
    with pytest.raises(InputError, match="has no effect on datagrams, and there is no other flow"):
        alone.with_settings(window)
    assert alone.with_settings({"*.packet": "100B"}).flow[0].packet == 100
