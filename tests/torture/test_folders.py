# SPDX-License-Identifier: BSD-3-Clause
"""A command that writes files may end at any system call: the next one continues, and the files are
those of an undisturbed run."""

import contextlib
import random
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from cases import CASES, REPEATED, RESUMED, Call, Case, Place, Zygote

pytestmark = pytest.mark.skipif(
    shutil.which("strace") is None, reason="no strace: make system-test"
)
MAKERS = tuple(case for case in CASES if "out" in case.words and not case.before)
_STRIDE = 7919  # spreads a short attack over the calls; a long one covers them all


class Undisturbed:
    """The calls and results of each case when nothing happens."""

    def __init__(self, zygote: Zygote, folder: Path) -> None:
        self.zygote, self._folder = zygote, folder
        self._known: dict[str, tuple[list[Call], dict[str, object]]] = {}
        self._places = 0

    def place(self, case: Case) -> Place:
        """Makes a new folder for a case."""
        self._places += 1
        return Place(self.zygote, case, self._folder / f"place{self._places}")

    def of(self, case: Case) -> tuple[list[Call], dict[str, object]]:
        """Returns the calls that change files, and the contents at the end."""
        if case.name not in self._known:
            place = self.place(case)
            calls = place.calls()
            self._known[case.name] = calls, place.contents()
        return self._known[case.name]

    def disturbed(
        self, attack: Any, cases: Sequence[Case], *, only_changes: bool
    ) -> Iterator[tuple[Case, Call, Place, dict[str, object]]]:
        """Chooses a case and one of its calls each round: consecutive seeds cover all of them."""
        for _ in attack.rounds():
            number, case = attack.seed // len(cases), cases[attack.seed % len(cases)]
            calls, contents = self.of(case)
            calls = [call for call in calls if call.changes_files or not only_changes]
            yield case, calls[number * _STRIDE % len(calls)], self.place(case), contents


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Iterator[Undisturbed]:
    with contextlib.closing(Zygote()) as zygote:
        yield Undisturbed(zygote, tmp_path_factory.mktemp("folders"))


def check_sums(place: Place) -> None:
    """Checks every file against its checksum."""
    if (sums := place.path / "out" / "SHA256SUMS").exists():
        subprocess.run(["sha256sum", "--check", "--quiet", sums.name], cwd=sums.parent, check=True)


def finished(place: Place) -> dict[str, object]:
    """Runs the case again; returns the contents after that."""
    code, errors = place.call(again=True)
    assert code == 0, errors
    check_sums(place)
    contents = place.contents()
    shutil.rmtree(place.path)
    return contents


@pytest.mark.parametrize(
    "cases", [RESUMED, REPEATED], ids=["goes on with resume", "is called again"]
)
def test_a_kill_at_any_system_call_loses_nothing(attack, undisturbed, cases):
    kill, codes = f"signal={signal.SIGKILL.name}", []
    for case, call, place, contents in undisturbed.disturbed(attack, cases, only_changes=True):
        code, _ = place.call(*place.traced, *call.inject(kill))
        codes.append(code)
        assert len(place.kept()) >= place.ended(), f"{case.name}, killed at {call.line}"
        assert finished(place) == contents, f"{case.name}, killed at {call.line}"
    # Threads may be scheduled differently, so that the call belongs to another one.
    assert set(codes) <= {-signal.SIGKILL, 0} and codes.count(0) <= 1 + len(codes) // 10


def test_a_disk_that_fails_at_any_system_call_is_one_line(attack, undisturbed):
    hits = 0
    for case, call, place, contents in undisturbed.disturbed(attack, CASES, only_changes=False):
        error = ("ENOSPC", "EIO")[attack.seed % 2]
        code, errors = place.call(*place.traced, *call.inject(f"error={error}"))
        context = f"{case.name}: {error} at {call.line}\n{errors}"
        if place.was_injected():  # and not into another call because of scheduling
            hits += 1
            assert code in (0, 1) and "Traceback" not in errors, context
            assert errors.count("\n") == code, context
        assert finished(place) == contents, context
    assert hits >= attack.rounds_made // 2


def test_two_at_once_refuse_each_other_or_take_turns(attack, undisturbed):
    for case, call, place, contents in undisturbed.disturbed(attack, CASES, only_changes=False):
        first = place.begin(case.words, *place.traced, *call.inject("delay_enter=200000"))
        second = place.call(again=attack.seed % 2 == 0, printed="second")
        codes = undisturbed.zygote.wait(first), second[0]
        context = f"{case.name}, slow at {call.line}: {codes}\n{second[1]}"
        assert 0 in codes and set(codes) <= {0, 2}, context
        assert second[1].count("\n") == (second[0] != 0) and "Traceback" not in second[1], context
        assert finished(place) == contents, context


def test_two_commands_in_one_folder_refuse_each_other_or_share_it(attack, undisturbed):
    """Each refusal is one line, and every file is valid."""
    for case, call, place, _ in undisturbed.disturbed(attack, MAKERS, only_changes=False):
        other = random.Random(attack.seed).choice(MAKERS)
        first = place.begin(case.words, *place.traced, *call.inject("delay_enter=200000"))
        second = place.begin(other.words, printed="second")
        codes = [undisturbed.zygote.wait(process) for process in (first, second)]
        messages = [place.errors(name) for name in ("first", "second")]
        context = f"{case.name}, slow at {call.line}, and {other.name}: {codes}\n{messages}"
        assert 0 in codes and set(codes) <= {0, 2}, context
        for code, errors in zip(codes, messages, strict=True):
            assert errors.count("\n") == (code != 0) and "Traceback" not in errors, context
        check_sums(place)
        shutil.rmtree(place.path)


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_what_is_relied_on_is_on_the_disk_before(undisturbed, case):
    calls, _ = undisturbed.of(case)
    filled: set[str] = set()  # files with bytes that a power cut may lose
    renamed = False  # whether names may be lost, too
    renames = 0
    for call in calls:
        named = re.search(r"\.partial-\w+(\.\w+)?|SHA256SUMS", call.line)
        file = named[0] if named else ""
        if call.name == "write":
            filled.add(file)
        elif call.name in ("fsync", "fdatasync"):
            filled.discard(file)
            renamed &= bool(file)  # otherwise the call synced the folder
        elif call.name == "rename":
            assert file not in filled and "SHA256SUMS" not in filled, call.line
            renames, renamed = renames + 1, True
        elif call.name == "unlink":
            assert not renamed, call.line
    assert renames and not renamed
