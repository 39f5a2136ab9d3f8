# SPDX-License-Identifier: BSD-3-Clause
"""Finds the laboratory's page, and puts it into a results folder for the links of its figures.

`make lab` builds the page as one self-contained file, so the links work offline. Controls of users'
files become part of it.
"""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from westwood.control import lines, loading, wasm
from westwood.control.catalogue import label, style_of
from westwood.errors import UnavailableError
from westwood.results.folder import Folder

PAGE = Path(__file__).parent.parent / "lab" / "page.html"
NAME = "lab.html"
_OWN = b'<script type="application/json" id="own">%b</script>'


@dataclass(frozen=True)
class LabLink:
    """How the laboratory opens with a scenario."""

    argument: str  # the argument of `westwood lab`
    fragment: str  # URL fragment of the page; empty if it would be too long

    @property
    def link(self) -> str:
        """Address relative to the folder's page; empty if there is none."""
        return f"{NAME}{self.fragment}" if self.fragment and PAGE.exists() else ""


def page(controls: Iterable[loading.Control] = ()) -> bytes:
    """Returns the page with these controls in it.

    Raises UnavailableError if it was not built, or if nothing compiles the controls for it.
    """
    try:
        built = PAGE.read_bytes()
    except FileNotFoundError:
        raise UnavailableError("the laboratory's page is not built here: make lab") from None
    rows = [_row(control) for control in controls]
    labels = [row["label"] for row in rows]
    for row in rows:
        if labels.count(row["label"]) > 1:
            row["label"] += f" ({row['name']})"
    text = json.dumps(rows).replace("<", "\\u003c")
    return built.replace(_OWN % b"[]", _OWN % text.encode(), 1)


def _row(control: loading.Control) -> dict[str, Any]:
    """Returns what the page has to know of a control, as values for JSON."""
    text = control.code.decode()
    return {
        "name": control.name,
        "algorithm": "loaded",
        "label": label(control.name),
        "colour": style_of(control.name).color,
        "source": f"The file {control.name}",
        "contents": control.source,
        "traits": control.traits,
        "like": control.like,
        "state_bytes": control.state_bytes,
        "calls": control.calls,
        "lines": {call: lines.of_call(text, call) for call in control.calls},
        "parameters": [asdict(parameter) for parameter in control.parameters],
        "quantities": [asdict(quantity) for quantity in control.quantities],
        "wasm": base64.b64encode(wasm.compiled(control)).decode(),
    }


def write(folder: Folder) -> None:
    """Writes the page into the folder, if it was built."""
    if PAGE.exists():
        folder.file(NAME, partial(shutil.copyfile, PAGE))
