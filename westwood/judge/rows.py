# SPDX-License-Identifier: BSD-3-Clause
"""Lists all rows of the table, those of the wide population first."""

from __future__ import annotations

from westwood.judge import earlier_rows, wide_rows

TARGETS = (*wide_rows.ROWS, *earlier_rows.ROWS)
