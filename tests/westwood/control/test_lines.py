# SPDX-License-Identifier: BSD-3-Clause
"""The line of a loop is found from any line in it."""

import pytest

from westwood.control import lines

LOOPS = {
    "the body of a for": ("for (;;) {\n    x++; // here\n}", 1),
    "a header of two lines": ("for (i = 0;\n     i < n; // here\n     i++) x++;", 1),
    "the closing brace": ("while (x) {\n    if (y) {\n    }\n} // here", 1),
    "the inner of two": ("for (;;) {\n    do {\n        x++; // here\n    } while (x);\n}", 2),
    "after the inner one": ("for (;;) {\n    while (x) x--;\n    y++; // here\n}", 1),
    "a comment is no loop": ("while (x) {\n    /* for ( { */ y++; // here\n}", 1),
    "a string is no loop": ('while (x) {\n    z = "do {"; y++; // here\n}', 1),
    "the statement before it": ("x = 1; // here\n\nwhile (x) {}", 3),
    "not that of the next function": ("x = 1; // here\n}\nvoid f(void) {\n    for (;;) {}", 1),
}


@pytest.mark.parametrize("case", LOOPS)
def test_a_loop_is_named_by_its_first_line(case):
    text, expected = LOOPS[case]
    before = "static void on_ack(void) {\n"
    here = 1 + text[: text.index("// here")].count("\n")
    loop = lines.of_loop(before + text + "\n}\n", 1 + here)
    assert loop == 1 + expected
