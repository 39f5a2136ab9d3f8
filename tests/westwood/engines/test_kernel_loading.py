# SPDX-License-Identifier: BSD-3-Clause
"""The kernel gets no control that fails in the simulator, though its verifier would take it."""

import pytest

from westwood.control.writing import like
from westwood.engines import kernel_loading
from westwood.errors import InputError
from westwood.kernel import user_controls

NOTHING = "    uint32_t none = window->cwnd - window->cwnd;\n"


@pytest.mark.parametrize(
    ("action", "problem"),
    [
        ("    window->cwnd = 0;\n    return;\n", "on_ack sets cwnd to 0"),
        (f"{NOTHING}    window->cwnd = 10 / none;\n", "overflows, divides by zero"),
        ("    int most = INT32_MAX;\n    window->cwnd = (uint32_t)(most + 1);\n", "overflows"),
    ],
)
def test_a_control_that_fails_is_not_loaded(action, problem, tmp_path, monkeypatch):
    monkeypatch.setattr(user_controls, "load", lambda *_: pytest.fail("the kernel got it"))
    text = like("reno", "mine")
    begin = text.index("{\n", text.index("static void on_ack")) + 2
    file = tmp_path / "mine.c"
    file.write_text(text[:begin] + action + text[begin:])
    with pytest.raises(InputError, match=rf"mine\.c:\d+: .*{problem}"):
        kernel_loading.load(str(file), {})


def test_the_kernel_gets_what_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(user_controls, "load", lambda *given: [str(given)])
    file = tmp_path / "mine.c"
    file.write_text(like("reno", "mine"))
    assert kernel_loading.load(str(file), {"gain": 2}) == [str((str(file), {"gain": 2}))]
