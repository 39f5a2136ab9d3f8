# SPDX-License-Identifier: BSD-3-Clause
"""Controls compiled for BPF decide on recorded calls as elsewhere. This registers nothing."""

import pytest

from westwood.control.writing import like
from westwood.engines import replaying

pytestmark = pytest.mark.kernel
ON_LOSS = "    window->cwnd = window->ssthresh;\n"
OF_BPF = ON_LOSS + "#ifdef __bpf__\n    window->cwnd++;\n#endif\n"


def in_the_kernel(name: str) -> replaying.Replayed:
    """Returns what becomes of the calls of the default path."""
    asked = replaying.subject(name, {})
    (replayed,) = replaying.replay(asked, replaying.record(asked, None, 1), ["kernel"])
    assert replayed.not_run == ""
    return replayed


@pytest.mark.parametrize("name", ["westwood+", "westwood-cubic", "bbr3"])
def test_a_protocol_sets_the_same_windows_in_the_kernel(name):
    """With these calls bbr3 is compared exactly; pacing keeps it from test_acks.py."""
    replayed = in_the_kernel(name)
    assert replayed.difference is None and replayed.calls > 1000


@pytest.mark.parametrize(("loss", "differs"), [(ON_LOSS, False), (OF_BPF, True)])
def test_a_file_is_compared_with_the_kernel(loss, differs, tmp_path):
    file = tmp_path / "mine.c"
    file.write_text(like("reno", "mine").replace(ON_LOSS, loss), encoding="utf-8")
    replayed = in_the_kernel(str(file))
    assert (replayed.difference is not None) == differs
    if replayed.difference:
        assert (replayed.difference.quantity, replayed.difference.found) == (
            "cwnd",
            replayed.difference.recorded + 1,
        )
