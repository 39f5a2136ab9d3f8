# SPDX-License-Identifier: BSD-3-Clause
"""README.md is short, and its commands work in a fresh clone."""

import os
import re
import subprocess

import pytest
from journeys import ROOT, blocks
from machine import controls_to_ourselves

from westwood.control.catalogue import PROTOCOLS

README = (ROOT / "README.md").read_text(encoding="utf-8")
# A newcomer has sudo. "Cannot tell" is a valid verdict: exit code 3.
PRELUDE = """\
sudo() { "$@" || [ $? = 3 ]; }
PS4='$ '
set -e
"""
HOUR_S = 3600


def test_it_is_short():
    assert len(README.splitlines()) <= 80
    heading, first, *_ = README.split("\n\n")
    sentences = re.findall(r"[^.]+\.", first)
    assert heading.endswith("# Westwood") and len(sentences) == 2
    assert all(len(sentence.split()) <= 13 for sentence in sentences)


def test_it_begins_with_what_works_today():
    assert README.index("make .venv") < README.index("pip install")
    assert not re.search(r"[<>]", "".join(blocks("README.md"))), "a placeholder would be copied"


def test_experimental_controls_are_those_of_the_catalogue():
    is_experimental = PROTOCOLS["westwood-cubic"].source.startswith("Experimental")
    assert ("experimental" in README) == is_experimental


@pytest.mark.kernel
@pytest.mark.slow
def test_its_commands_work_in_a_fresh_clone(tmp_path):
    clone = tmp_path / "westwood"
    subprocess.run(["git", "clone", "--quiet", ROOT, clone], check=True)
    typed = "".join(f"set -x\n{block}{{ set +x; }} 2>/dev/null\n" for block in blocks("README.md"))
    inherited = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    with controls_to_ourselves() as ours:
        if not ours:
            pytest.skip("this machine has our controls loaded: westwood kernel unload")
        done = subprocess.run(
            ["bash", "-s"],
            cwd=clone,
            env=inherited,
            input=PRELUDE + typed + "echo arrived",
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=HOUR_S,
        )
    assert done.returncode == 0 and done.stdout.endswith("arrived\n"), done.stdout[-4000:]
    assert re.search(r"^(pays|does not pay|cannot tell): ww_plus", done.stdout, re.M), done.stdout
    assert "Traceback" not in done.stdout
    for path in ("westwood/lab/page.html", "report/index.html", "table1.cc"):
        assert (clone / path).is_file(), path
