# SPDX-License-Identifier: BSD-3-Clause
"""Checks that error messages name the line on which their key is."""

import re
from pathlib import Path


def without_line(said: str, file: Path, shown: str = "") -> str:
    """Checks and removes the line number in `FILE:LINE: KEY = VALUE: PROBLEM`."""
    name = re.escape(shown or str(file))
    found = re.search(rf"{name}:(\d+): (\S+?)(?: =|:)", said)
    if not found:
        return said
    line = file.read_text(encoding="utf-8").splitlines()[int(found[1]) - 1]
    words = [re.sub(r"\[\d+\]", "", word) for word in found[2].split(".")]
    assert any(word in line for word in words) or line.startswith("["), (said, line)
    return said.replace(f":{found[1]}: ", ": ", 1)
