# SPDX-License-Identifier: BSD-3-Clause
"""Lists all sections of the judge by name, those of the wide population first."""

from __future__ import annotations

from collections.abc import Mapping

from westwood.judge import earlier, wide
from westwood.judge.cases import Section

SECTIONS: Mapping[str, Section] = {one.name: one for one in (*wide.SECTIONS, *earlier.SECTIONS)}
