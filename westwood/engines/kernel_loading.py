# SPDX-License-Identifier: BSD-3-Clause
"""Loads users' controls into the kernel, after a run in the simulator that watches each call.

The verifier knows what is safe for the kernel. It does not refuse a window of 0, a division by zero
or an overflow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from westwood.control import loading
from westwood.engines import replaying
from westwood.kernel import user_controls


def load(file: str, settings: Mapping[str, Any]) -> list[str]:
    """Loads the control in a file; returns lines for the user.

    Raises InputError with the line at which the control fails in the simulator, or which the
    kernel refuses. Then nothing is loaded that was not loaded before.
    """
    user_controls.name_of(file)
    if not file.endswith(loading.PYTHON):
        replaying.record(replaying.subject(file, settings), None, 1)
    return user_controls.load(file, settings)
