# SPDX-License-Identifier: BSD-3-Clause
"""Prints the results of `make torture`: python -m tools.torture_table FOLDER [PAGE to update].

Each attack left a JSON file in FOLDER (tests/conftest.py).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tools.tables import replace


def table(rows: list[dict[str, object]]) -> str:
    """Lists the attacks with their outcome, rounds and time, below their first seed."""
    first = ", ".join(sorted({str(row["first_seed"]) for row in rows}))
    lines = [f"The first seed was {first}; each further round took the next one.", ""]
    lines += ["| attack | outcome | rounds | seconds |", "| --- | --- | ---: | ---: |"]
    for row in sorted(rows, key=lambda row: str(row["attack"])):
        file, test = str(row["attack"]).split("::", 1)
        name = f"`{Path(file).stem.removeprefix('test_')}`: {test.removeprefix('test_')}"
        cells = (name.replace("_", " "), row["outcome"], row["rounds"], row["seconds"])
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    found = [
        json.loads(file.read_text(encoding="utf-8")) for file in Path(sys.argv[1]).glob("*.json")
    ]
    print(table(found))
    if len(sys.argv) > 2:
        replace(Path(sys.argv[2]), {"torture": table(found)})
