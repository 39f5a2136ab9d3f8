# SPDX-License-Identifier: BSD-3-Clause
"""Checks each claim against the measurements, without changing a setting.

A check reads `Measured`: rows (one for each flow and run) and points (their means with intervals).
It returns what it measured and each place where the claim fails.
"""

from __future__ import annotations

from westwood.papers.checks import linux_2003, mobicom_2001, ns3_2013, plateau
from westwood.papers.checks.bounds import Decided
from westwood.papers.checks.common import Check

CHECKS: dict[str, Check] = {
    **ns3_2013.CHECKS,
    **mobicom_2001.CHECKS,
    **plateau.CHECKS,
    **linux_2003.CHECKS,
}

# The bounds that decide these claims at one setting; undecidable ones have none.
SETTING_BOUNDS: Decided = {
    **ns3_2013.SETTING_BOUNDS,
    **mobicom_2001.SETTING_BOUNDS,
    **plateau.SETTING_BOUNDS,
    **linux_2003.SETTING_BOUNDS,
}
