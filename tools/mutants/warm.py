# SPDX-License-Identifier: BSD-3-Clause
"""Runs tests on mutants in copies of a process that has imported pytest and the large packages.

Most mutants need less than a second of tests, and starting Python takes as long. Reads a JSON
object per line and answers each with the exit code, or minus the signal:
    {"mutant": FILE::MUTANT, "arguments": of pytest, "cpu_s": limit, "wait_s": limit, "out": FILE}
It imports nothing of the project: each copy imports the package with its mutant.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import resource
import select
import signal
import sys
import tempfile
from pathlib import Path

import pytest

LARGE = (
    "hypothesis",
    "matplotlib.figure",
    "numpy",
    "polars",
    "polars._utils.parquet",
    "rich.table",
)
MEMORY = 8 << 30


def warm_up() -> None:
    """Lets pytest load its plugins, then imports the large packages."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        test = Path(folder, "test_nothing.py")
        test.write_text("def test_nothing(): pass\n")
        pytest.main(["-q", "-p", "no:cacheprovider", f"--rootdir={folder}", str(test)])
        sys.modules.pop("test_nothing", None)
    for name in LARGE:
        importlib.import_module(name)


def examine(asked: dict[str, str]) -> int:
    """Runs the tests with a mutant, in a copy of the process."""
    for limit, most in (
        (resource.RLIMIT_CPU, int(asked["cpu_s"])),
        (resource.RLIMIT_AS, MEMORY),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    nothing = os.open(os.devnull, os.O_RDONLY)
    out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    for old, new in ((nothing, 0), (out, 1), (out, 2)):
        os.dup2(old, new)
    os.environ["WW_MUTANT"] = asked["mutant"]
    sys.meta_path.insert(0, sys.modules["sitecustomize"].Finder())
    return int(pytest.main(asked["arguments"]))


def ended(child: int, wait_s: float) -> int:
    """Waits for a copy and returns its exit code; kills it after its time.

    Then the code is 0, so that a busy machine does not make a mutant count as caught.
    """
    handle = os.pidfd_open(child)
    is_late = not select.select([handle], [], [], wait_s)[0]
    if is_late:
        os.kill(child, signal.SIGKILL)
    os.close(handle)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return 0 if is_late else code


def main() -> int:
    warm_up()
    while line := sys.stdin.readline():
        asked = json.loads(line)
        child = os.fork()
        if not child:
            return examine(asked)
        print(ended(child, float(asked["wait_s"])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
