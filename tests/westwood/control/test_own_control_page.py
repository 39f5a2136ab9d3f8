# SPDX-License-Identifier: BSD-3-Clause
"""The commands and the code of docs/your-own-control.md work as they stand there."""

import re
from pathlib import Path

from westwood.control.loading import load

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs" / "your-own-control.md").read_text(encoding="utf-8")
TABLE = (ROOT / "core" / "loaded.h").read_text(encoding="utf-8")


def test_the_commands_of_the_page_run_one_after_another(westwood, tmp_path):
    (block,) = re.findall(r"<!-- journey of a control -->\n```sh\n(.*?)```", PAGE, re.S)
    for line in block.splitlines():
        name, *words = line.split()
        assert name == "westwood"
        assert westwood(*words).code == 0, line
    (replay,) = re.findall(r"^\$ westwood (control replay .*)$", PAGE, re.M)
    called = westwood(*replay.split(), "--host", "sim,gcc")
    assert called.out and called.out in PAGE
    of_file, *_ = re.findall(r"```python\n(.*?)```", PAGE, re.S)
    exec(of_file, {})
    assert load(str(tmp_path / "mine.c")).parameters[0].name == "gain"


def test_the_page_has_every_action():
    actions = set(re.findall(r"\(\*(\w+)\)\(const struct ww_config", TABLE))
    assert actions and actions <= set(re.findall(r"`\.(\w+)`", PAGE))
