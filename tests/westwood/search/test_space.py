# SPDX-License-Identifier: BSD-3-Clause
"""Every setting that a control obeys can be varied, as core/settings.h declares it."""

import pytest

from westwood import InputError, _engine
from westwood.control.catalogue import PROTOCOLS, settings_of_protocol
from westwood.scenario.paths.environment import Environment, scenario
from westwood.search import space

PATH = Environment(1_000_000, 10_000, 10, 1_000_000, 0)


@pytest.mark.parametrize("protocol", [name for name in PROTOCOLS if settings_of_protocol(name)])
def test_by_default_all_settings_of_a_control_vary(protocol):
    parameters = space.parameters(protocol, (), {})

    assert [parameter.key for parameter in parameters] == list(settings_of_protocol(protocol))
    for candidate in parameters:  # a scenario accepts both ends of every range
        assert candidate.has(candidate.default)
        for end in candidate.choices or (candidate.low, candidate.high):
            values, _ = space.without({candidate.key: end}, (), space.defaults(protocol, {}))
            values = space.in_order(values, [candidate], space.defaults(protocol, {}))
            needed = {
                other: word
                for key, other, word in _engine.SETTINGS_THAT_NEED
                if key == candidate.key
            }
            chosen = space.settings(values, [candidate], needed)
            assert list(chosen) == [*needed, *([candidate.key] if candidate.key in values else [])]
            scenario(PATH, protocol, chosen)
            assert not needed or space.settings(values, [candidate], {}) == {}


def test_ranges_are_in_the_units_of_a_scenario():
    parameters = space.parameters(
        "westwood", ("tau=10ms:2s", "alpha=0.5:0.95", "filter=none,tustin", "m"), {}
    )
    tau, alpha, words, m = parameters

    assert (tau.low, tau.high, tau.is_logarithmic) == (10_000, 2_000_000, True)
    assert (alpha.low, alpha.high) == (500, 950)
    assert words.choices == ("none", "tustin")
    assert (m.low, m.high, m.written(1), m.written(2)) == (0, 16, 0, 2)  # 0 is none; there is no 1
    assert tau.written(10_000) == "10ms" and alpha.written(950) == 0.95


def test_the_default_is_the_controls_own_in_the_profile():
    (rules,) = space.parameters("cubic", ("cubic_rules",), {})
    (least,) = space.parameters("westwood+", ("filter",), {})

    assert rules.default == "linux"
    assert least.default == "ewma"


def test_fixed_settings_do_not_vary():
    parameters = space.parameters("vegas", (), {"vegas_alpha": 3})

    assert "vegas_alpha" not in {parameter.key for parameter in parameters}
    with pytest.raises(InputError, match="twice"):
        space.parameters("vegas", ("vegas_alpha",), {"vegas_alpha": 3})


def test_ordered_settings_are_put_in_order():
    both = space.parameters("vegas", ("vegas_alpha", "vegas_beta"), {})
    fallback = space.defaults("vegas", {})

    assert space.in_order({"vegas_alpha": 9, "vegas_beta": 5}, both, fallback) == {
        "vegas_alpha": 5,
        "vegas_beta": 9,
    }
    assert space.in_order({"vegas_alpha": 9}, both[:1], fallback) == {"vegas_alpha": 4}
    assert space.in_order({"vegas_beta": 1}, both[1:], fallback) == {"vegas_beta": 2}


def test_resetting_one_setting_resets_conflicting_ones():
    fallback = space.defaults("vegas", {})
    values = {"vegas_alpha": 9, "vegas_beta": 20, "vegas_gamma": 7}

    assert space.without(values, ["vegas_gamma"], fallback)[1] == ("vegas_gamma",)
    back, keys = space.without(values, ["vegas_beta"], fallback)
    assert keys == ("vegas_beta", "vegas_alpha")
    assert back == {"vegas_alpha": 2, "vegas_beta": 4, "vegas_gamma": 7}
