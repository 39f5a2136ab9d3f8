# SPDX-License-Identifier: BSD-3-Clause
"""Scripts of packetdrill run in the kernel of `--engine linux-um`.

packetdrill is no part of this project. WW_PACKETDRILL names the program, and WW_PACKETDRILL_TESTS
the folder gtests/net/tcp of its sources, for the tests that need it.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.um.test_machine import pytestmark  # noqa: F401  where the machine is built
from westwood import InputError
from westwood.cli.commands import app
from westwood.kernel import packet_tests, virtual

PROGRAM, TESTS = (os.environ.get(f"WW_PACKETDRILL{end}") for end in ("", "_TESTS"))
# Of the TCP that the simulator follows.
FOLDERS = ("slow_start", "cubic", "sack", "fast_recovery", "fast_retransmit", "limited_transmit")


def stand_in(folder: Path, text: str) -> Path:
    """Makes a program in place of packetdrill, and a script."""
    program = folder / "program"
    program.write_text(f"#!/bin/sh\n{text}\n")
    program.chmod(0o755)
    (folder / "a.pkt").write_text("0 socket(...) = 3\n")
    return program


def test_a_script_runs_in_the_machines_kernel(tmp_path):
    program = stand_in(tmp_path, "cat a.pkt >&2; [ -c /dev/net/tun ] && uname -r >&2; exit 3")
    (tmp_path / "in").mkdir()
    (tmp_path / "a.pkt").rename(tmp_path / "in" / "a.pkt")
    only = list(packet_tests.outcomes(tmp_path, program))
    assert [str(outcome.script) for outcome in only] == ["in/a.pkt"]
    assert only[0].problem == f"{virtual.version()}-westwood"


def test_the_command_says_how_many_pass(tmp_path):
    command = ["kernel", "packetdrill", str(tmp_path), "--program"]
    good = CliRunner().invoke(app, [*command, str(stand_in(tmp_path, "exit 0"))])
    assert good.exit_code == 0 and good.output == "a.pkt  passes\n1 of 1 scripts pass\n"
    bad = CliRunner().invoke(app, [*command, str(stand_in(tmp_path, "echo no >&2; exit 1"))])
    assert bad.exit_code == 1 and bad.output == "a.pkt  no\n0 of 1 scripts pass\n"


def test_a_folder_without_scripts_is_refused(tmp_path):
    with pytest.raises(InputError, match="expected a folder with scripts of packetdrill"):
        list(packet_tests.outcomes(tmp_path, Path("/bin/true")))
    with pytest.raises(InputError, match="expected the program packetdrill"):
        packet_tests.find(tmp_path)


@pytest.mark.skipif(not (PROGRAM and TESTS), reason="WW_PACKETDRILL and WW_PACKETDRILL_TESTS")
@pytest.mark.parametrize("folder", FOLDERS)
def test_the_kernel_passes_linux_own_scripts(folder):
    ran = list(packet_tests.outcomes(Path(str(TESTS)) / folder, Path(str(PROGRAM))))
    assert ran and not [outcome for outcome in ran if outcome.problem]
