# SPDX-License-Identifier: BSD-3-Clause
"""Tells sitecustomize.py which test is running, and records its CPU time.

A test also calls what the fixtures call that it shares with other tests. A test that takes long is
ended, because it is not used.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

called = sys.modules["sitecustomize"].called


LONGEST_S = 4.0  # of CPU time, with the recording


class TooSlow(BaseException):
    """Ends a test."""


def too_slow(number: int, frame: object) -> None:
    raise TooSlow


signal.signal(signal.SIGPROF, too_slow)


def used_s() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    called.begin(item.nodeid)
    before = used_s()
    try:
        return (yield)
    finally:
        if item.nodeid not in FAILED:
            called.took[item.nodeid] = used_s() - before
        for base, name in SHARED:
            if item.nodeid.startswith(base) and name in getattr(item, "fixturenames", ()):
                called.add(item.nodeid, f"{base}::{name}")


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> Iterator[None]:
    signal.setitimer(signal.ITIMER_PROF, LONGEST_S)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


FAILED: set[str] = set()
SHARED: set[tuple[str, str]] = set()  # fixtures that several tests use: their place and name


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup(fixturedef: Any, request: Any) -> Iterator[None]:
    base, name = fixturedef.baseid, fixturedef.argname
    if fixturedef.scope == "function" or not base:
        return (yield)
    test = called.test
    SHARED.add((base, name))
    called.begin(f"{base}::{name}")
    try:
        return (yield)
    finally:
        called.begin(test)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        FAILED.add(report.nodeid)
