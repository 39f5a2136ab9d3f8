# SPDX-License-Identifier: BSD-3-Clause
"""What each command that judges prints and writes at its smallest size stays the same.

A golden file of `tests/golden` has the standard output, JSON, the page without pictures, and the
names in the folder. Who moves a machine of these commands changes none of them.
"""

import json
import re
from dataclasses import dataclass
from typing import Any

import pytest
from golden_files import assert_golden, digest

from westwood import __version__
from westwood.draw import laboratory

_OF_MANIFEST = re.compile(r"&#34;(commit|created|python|machine)&#34;: &#34;[^\n]*")
_PICTURE = re.compile(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>|data:[^\"]+", re.S)


@dataclass(frozen=True)
class Judging:
    """A command that judges, at its smallest size; `json` is its option or a file that has it."""

    words: str
    json: str = "--json"


COMMANDS = {
    "evaluate": Judging("evaluate reno --only queue --quick"),
    "draft": Judging("evaluate bbr3 reno --only startup-plateau,drain-inflight"),
    "benchmark": Judging("evaluate veno --only clean-tenth --seed 104 --paths 4"),
    "stress": Judging("control stress --cc bbr --environments 1", json="findings.json"),
    "tune": Judging(
        "control tune --cc westwood-cubic --vary wc_gain --trials 1 --paths 30 --packets 200"
    ),
    "reproduce": Judging("reproduce fig5 --seeds 1", json="claims.json"),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_that_judges_prints_and_writes_the_same(name, westwood, tmp_path, monkeypatch):
    monkeypatch.setattr(laboratory, "PAGE", tmp_path / "not built.html")  # some machines have it
    command = COMMANDS[name]
    words = command.words.split()
    printed = westwood(*words, "--out", "page").printed()
    folder = tmp_path / "page"
    if command.json.startswith("--"):
        written = json.loads(westwood(*words, "--out", "again", command.json).out)
    else:
        written = json.loads((folder / command.json).read_text(encoding="utf-8"))
    outputs = {
        "out": [_timeless(line) for line in printed.splitlines()],
        "json": digest(_numbers(written)),
        "pages": {
            file.name: digest(_page(file.read_text(encoding="utf-8")).encode())
            for file in sorted([*folder.glob("*.html"), *folder.glob("*.md")])
        },
        "files": sorted(
            file.relative_to(folder).as_posix() for file in folder.rglob("*") if file.is_file()
        ),
    }
    assert_golden(f"judging-{name}", outputs)


def _numbers(value: Any) -> Any:
    """Returns JSON without the version."""
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_numbers(each) for each in value]
    return _timeless(value) if isinstance(value, str) else value


def _page(text: str) -> str:
    """Returns a page without pictures, styles, scripts, and the manifest's machine and time.

    Empty lines go, too: they stay where a script was that not each machine has built.
    """
    kept = _timeless(_OF_MANIFEST.sub("", _PICTURE.sub("", text)))
    return "\n".join(line for line in kept.splitlines() if line.strip())


def _timeless(text: str) -> str:
    """Returns a text without the version."""
    return text.replace(__version__, "VERSION")
