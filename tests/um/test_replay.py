# SPDX-License-Identifier: BSD-3-Clause
"""The kernel of `--engine linux-um` repeats recorded calls: `westwood control replay`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from mine import MINE

from tests.um.test_machine import pytestmark  # noqa: F401  where the machine is built
from westwood import RunError
from westwood.engines import replaying

CALLS = Path(__file__).parents[1] / "golden" / "calls"


def replayed(asked: replaying.Subject, recording: replaying.Recording) -> replaying.Replayed:
    (ended,) = replaying.replay(asked, recording, ["linux-um"])
    assert ended.not_run == ""
    return ended


@pytest.mark.parametrize("name", sorted(path.stem for path in CALLS.glob("*.txt")))
def test_a_protocol_sets_the_same_windows(name):
    recording = replaying.read(CALLS / f"{name}.txt")
    ended = replayed(replaying.subject(name, {}), recording)
    assert ended.difference is None and ended.calls == len(recording.calls)


@pytest.mark.parametrize("settings", [{}, {"kept": 700}])
def test_a_file_sets_the_same_windows_and_a_difference_is_seen(settings, tmp_path):
    (tmp_path / "mine.c").write_text(MINE)
    asked = replaying.subject(str(tmp_path / "mine.c"), settings)
    recording = replaying.record(asked, None, 1)
    assert replayed(asked, recording).difference is None
    cwnd, rest = recording.windows[-1].split(" ", 1)
    changed = (*recording.windows[:-1], f"{int(cwnd) + 1} {rest}")
    other = dataclasses.replace(recording, windows=changed)
    difference = replayed(asked, other).difference
    assert difference and (difference.call, difference.found) == (len(changed), int(cwnd))


def test_other_parameters_set_other_windows(tmp_path):
    (tmp_path / "mine.c").write_text(MINE)
    recording = replaying.record(replaying.subject(str(tmp_path / "mine.c"), {}), None, 1)
    other = replaying.subject(str(tmp_path / "mine.c"), {"kept": 700})
    assert replayed(other, recording).difference


def test_a_control_that_fails_there_is_one_line(tmp_path):
    """The call is one that its recording does not have."""
    fault = "if (ack->mss == 77) *(volatile int *)8 = 1;\n    if (!ww_may_grow(ack)) return;"
    (tmp_path / "mine.c").write_text(MINE.replace("if (!ww_may_grow(ack)) return;", fault))
    asked = replaying.subject(str(tmp_path / "mine.c"), {})
    recording = replaying.record(asked, None, 1)
    call, now_us, _, *others = next(c for c in recording.calls if c.startswith("ack ")).split(" ")
    calls = f"{recording.calls[0]}\n{' '.join((call, now_us, '77', *others))}\n"
    with pytest.raises(RunError, match="ended with an access to memory that is not there"):
        replaying.HOSTS["linux-um"](asked, calls)
