# SPDX-License-Identifier: GPL-2.0-only
"""`westwood path compare` may end at any moment, and restores the machine."""

import os
import signal
import time

import pytest
from machine import eventually
from trials import State, left, start

pytestmark = pytest.mark.kernel
ENDS = {signal.SIGKILL: -9, signal.SIGINT: 130, signal.SIGTERM: 143, signal.SIGHUP: 129}
_LATEST_S = 6.0  # during the uploads, when everything has begun


def test_whatever_ends_it_the_machine_is_as_it_was(attack, bpffs, tmp_path):
    """It restores controls, settings, mounts and namespaces; no process stays, files are valid."""
    before = State.now()
    for number, choices in enumerate(attack.rounds()):
        folder = tmp_path / str(number)
        folder.mkdir()
        trial = start(folder)
        time.sleep(choices.uniform(0, _LATEST_S))
        how = choices.choice(list(ENDS))
        if how == signal.SIGKILL:
            trial.kill()
        else:
            os.killpg(trial.pid, how)
        _, errors = trial.communicate(timeout=20)
        assert trial.returncode in (ENDS[how], -how), errors
        assert "Traceback" not in errors
        assert eventually(lambda: not left() and State.now() == before), (how, left(), State.now())
        assert not list(folder.glob("*/.partial-*")) or how == signal.SIGKILL
