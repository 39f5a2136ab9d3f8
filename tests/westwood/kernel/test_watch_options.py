# SPDX-License-Identifier: BSD-3-Clause
"""The options of `kernel watch`; tests/linux/loader watches real connections."""

import pytest

from westwood.cli import watch


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [("49ms", None), ("50ms", 0.05), ("1s", 1.0), ("1h", 3600.0), ("3601s", None)],
)
def test_an_update_comes_every_50_ms_to_an_hour(interval, seconds, westwood, monkeypatch):
    asked: list[float] = []
    monkeypatch.setattr(
        watch, "run", lambda match, netns, sort, every_s, **more: asked.append(every_s)
    )
    called = westwood("kernel", "watch", "--interval", interval)
    if seconds is None:
        expected = f'westwood: --interval = "{interval}": expected a time from 50ms to 1h\n'
        assert (called.code, called.err, asked) == (2, expected, [])
    else:
        assert (called.code, asked) == (0, [seconds])
