# SPDX-License-Identifier: BSD-3-Clause
"""Quantities are read exactly, read back after writing, and refused with a reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from westwood import units
from westwood.errors import InputError


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        ("2Mbps", 2_000_000),
        ("2.5 Mbps", 2_500_000),
        ("1e3kbps", 1_000_000),
        ("500kb/s", 500_000),
        ("10Gbit/s", 10**10),
        ("0.1Mbps", 100_000),  # 0.1 has no exact binary float
    ],
)
def test_rates(text, bps):
    assert units.parse_rate(text) == bps


@pytest.mark.parametrize(
    ("text", "ps"),
    [("45ms", 45 * 10**9), ("0.01ms", 10**7), ("10µs", 10**7), ("1.5min", 90 * 10**12), ("0s", 0)],
)
def test_times(text, ps):
    assert units.parse_time(text) == ps


@pytest.mark.parametrize(
    ("value", "fraction"),
    [(0.005, 0.005), ("0.5%", 0.005), (0, 0.0), (1.0, 1.0), ("100%", 1.0), (-0.0, 0.0)],
)
def test_fractions(value, fraction):
    assert units.parse_fraction(value) == fraction


def test_amounts_in_packets_bytes_and_without_limit():
    assert units.parse_amount("100p") == units.Amount(100, "p")
    assert units.parse_amount("64KiB") == units.Amount(65536, "B")
    assert units.parse_amount("unlimited").count is None
    assert units.parse_amount("65535B").packets(360) == 182  # whole packets only


@settings(deadline=None)  # a busy machine makes an example slow
@given(st.integers(0, 10**15))
def test_written_quantities_read_back(value):
    assert units.parse_rate(units.format_rate(value)) == value
    assert units.parse_time(units.format_time(value)) == value
    assert units.parse_size(units.format_size(value)) == value


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("2", '"2": a unit is missing, expected a rate such as "2Mbps"'),
        (True, 'true: expected a rate such as "2Mbps"'),
        ("", '"": expected a rate such as "2Mbps"'),
        ("0.5bps", '"0.5bps": is not a whole number of bps, expected a rate such as "2Mbps"'),
        ("nanMbps", '"nanMbps": expected a rate such as "2Mbps"'),
        ("1e999Mbps", '"1e999Mbps": unknown unit "9Mbps", expected a rate such as "2Mbps"'),
        ("٢Mbps", '"٢Mbps": expected a rate such as "2Mbps"'),
        ("1e30Mbps", '"1e30Mbps": is too large, expected a rate such as "2Mbps"'),
        ("2M\nbps", r'"2M\nbps": expected a rate such as "2Mbps"'),
    ],
)
def test_invalid_rates_are_refused(text, problem):
    with pytest.raises(InputError) as error:
        units.parse_rate(text)
    assert str(error.value) == problem


@pytest.mark.parametrize(
    "value", [-0.1, 1.1, float("nan"), float("inf"), "5", "101%", "-1%", None, True, [0.1], 10**400]
)
def test_invalid_fractions_are_refused(value):
    with pytest.raises(InputError, match="expected a fraction from 0 to 1"):
        units.parse_fraction(value)


@settings(deadline=None)  # a busy machine makes an example slow
@given(st.text(max_size=60) | st.integers() | st.floats() | st.none())
def test_any_text_gives_a_value_or_an_input_error(value):
    for parse in (
        units.parse_rate,
        units.parse_time,
        units.parse_size,
        units.parse_amount,
        units.parse_fraction,
    ):
        try:
            parse(value)
        except InputError as error:
            assert "\n" not in str(error)
