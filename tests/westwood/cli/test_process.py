# SPDX-License-Identifier: BSD-3-Clause
"""The program's exit code after a signal."""

import subprocess
import sys

import pytest

# Runs the program with a command that gets SIGTERM, and then ends with the given exit code.
PROGRAM = """
import signal
from westwood.cli import commands, main

def call(words):
    try:
        signal.raise_signal(signal.SIGTERM)
    except KeyboardInterrupt:
        return int(words[0])

commands.call = call
main()
"""


@pytest.mark.parametrize(("code", "ended"), [(130, 143), (1, 1), (0, 0)])
def test_only_an_interrupted_command_has_the_signals_exit_code(code, ended):
    """A command that has finished, or failed for another reason, keeps its exit code."""
    done = subprocess.run([sys.executable, "-c", PROGRAM, str(code)], capture_output=True)
    assert (done.returncode, done.stderr) == (ended, b"")
