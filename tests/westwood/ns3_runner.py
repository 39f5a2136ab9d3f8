# SPDX-License-Identifier: BSD-3-Clause
"""Says which tests need the program that runs scenarios in ns-3."""

from pathlib import Path

import pytest

BUILT = Path(__file__).parents[2] / "build" / "ns3" / "wheel" / "ww-ns3-runner"
needs_runner = pytest.mark.skipif(not BUILT.exists(), reason="no ns-3 runner: westwood ns3 build")
