# SPDX-License-Identifier: BSD-3-Clause
"""Tells sitecustomize.py which test is running, and records its CPU time."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest

called = sys.modules["sitecustomize"].called


def used_s() -> float:
    return sum(os.times()[:4])


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    called.begin(item.nodeid)
    before = used_s()
    try:
        return (yield)
    finally:
        called.took[item.nodeid] = used_s() - before


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    if report.failed:
        called.took.pop(report.nodeid, None)
