# SPDX-License-Identifier: BSD-3-Clause
"""Loads our controls for the tests on this machine's kernel."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from machine import missing_reason, own_bpffs

from westwood.kernel import ww_kernel

HERE = Path(__file__).parent


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    mine = [item for item in items if item.path.is_relative_to(HERE)]
    mine = [item for item in mine if item.get_closest_marker("kernel")]
    reason = missing_reason() if mine else None
    for item in mine if reason else ():
        item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def bpffs(tmp_path_factory) -> Iterator[Path]:
    """Mounts a bpffs for a file of tests, and keeps other tests from loading controls meanwhile."""
    folder = tmp_path_factory.mktemp("bpffs")
    with own_bpffs(folder) as ours:
        if not ours:
            pytest.skip("this machine has our controls loaded: westwood kernel unload")
        yield folder


@pytest.fixture(scope="module")
def controls(bpffs) -> Path:
    ww_kernel.load()
    return bpffs


@pytest.fixture
def loaded(bpffs) -> Path:
    """Loads our controls unless an earlier test of the file has; a load takes 3 s of CPU time."""
    if not ww_kernel.status()["loaded"]:
        ww_kernel.load()
    return bpffs
