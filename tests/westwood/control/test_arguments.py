# SPDX-License-Identifier: BSD-3-Clause
"""A wrong argument is an error that says what was expected."""

import pytest

from westwood.control import arguments
from westwood.errors import InputError


@pytest.mark.parametrize(
    ("check", "value", "expected"),
    [
        (arguments.number(1), 0.5, "a number of at least 1"),
        (arguments.number(1, 2), 2.5, "a number of at least 1 and at most 2"),
        (arguments.number(0, 2, above=True), 0, "a number more than 0 and at most 2"),
        (arguments.number(0), "3", "a number of at least 0"),
        (arguments.number(0), True, "a number of at least 0"),
    ],
)
def test_a_number_out_of_bounds_is_refused_with_them(check, value, expected):
    with pytest.raises(InputError, match=rf"expected {expected}$"):
        check(value)


def test_a_number_at_its_bounds_is_taken():
    assert [arguments.number(1, 2)(value) for value in (1, 2, 1.5)] == [1.0, 2.0, 1.5]
