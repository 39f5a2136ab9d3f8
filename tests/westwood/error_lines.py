# SPDX-License-Identifier: BSD-3-Clause
"""Checks that error messages name the line on which their key is."""

import re
from pathlib import Path


def without_line(message: str, file: Path, shown: str = "") -> str:
    """Checks and removes the line number in `FILE:LINE: KEY = VALUE: PROBLEM`."""
    name = re.escape(shown or str(file))
    match = re.search(rf"{name}:(\d+): (\S+?)(?: =|:)", message)
    if not match:
        return message
    line = file.read_text(encoding="utf-8").splitlines()[int(match[1]) - 1]
    words = [re.sub(r"\[\d+\]", "", word) for word in match[2].split(".")]
    assert any(word in line for word in words) or line.startswith("["), (message, line)
    return message.replace(f":{match[1]}: ", ": ", 1)
