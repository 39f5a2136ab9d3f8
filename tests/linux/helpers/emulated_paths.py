# SPDX-License-Identifier: BSD-3-Clause
"""Says whether this machine can emulate paths, and marks the tests that need it."""

import shutil

import pytest

from westwood.engines import linux
from westwood.errors import WestwoodError


def missing_reason(*tools: str) -> str:
    """Returns what this machine lacks for an emulated path and these tools; "" if nothing."""
    try:
        linux.check_machine()
    except WestwoodError as error:
        return str(error)
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return f"no {missing[0]}: apt-get install {missing[0]}" if missing else ""


LACKING = missing_reason()
needs_path = pytest.mark.skipif(bool(LACKING), reason=LACKING)
LACKING_IPERF3 = missing_reason("iperf3")
needs_path_and_iperf3 = pytest.mark.skipif(bool(LACKING_IPERF3), reason=LACKING_IPERF3)
