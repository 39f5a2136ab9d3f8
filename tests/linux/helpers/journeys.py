# SPDX-License-Identifier: BSD-3-Clause
"""Finds the shell blocks of pages that a test runs unchanged: each follows <!-- journey -->."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
_MARKED = re.compile(r"^<!-- journey -->\n```sh\n(.*?)^```$", re.M | re.S)


def blocks(page: str) -> list[str]:
    """Returns the marked shell blocks of a page."""
    return _MARKED.findall((ROOT / page).read_text(encoding="utf-8"))
