# SPDX-License-Identifier: BSD-3-Clause
"""A store gives back every record that it kept, whatever ended the command or damaged its file."""

from __future__ import annotations

import errno
import hashlib
import math
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from westwood.errors import InputError, RunError
from westwood.results import disk, journal
from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind
from westwood.results.store import Store

STATE = {"seed": 1}


class Command:
    """A command that keeps numbers; `taken` has what its store passed on, `said` its messages."""

    def __init__(self, path: Path) -> None:
        self.taken: list[int] = []
        self.messages: list[str] = []
        self.file = path / "journal.jsonl"
        self.store = Store(Folder(path, tell=self.messages.append), self._take)

    def _take(self, record: Mapping[str, Any]) -> None:
        self.taken.append(int(record["number"]))

    @contextmanager
    def started(self, state: object = STATE, *, resume: bool = True) -> Iterator[Command]:
        resumed = self.store.resumed(ResultKind.HUNT, state, resume=resume, differs="holds another")
        with resumed:
            yield self

    def keep(self, *numbers: int):
        for number in numbers:
            self.store.keep({"number": number})


@pytest.fixture
def place(tmp_path) -> Path:
    """A folder with the records 0, 1 and 2."""
    with Command(tmp_path / "f").started(resume=False) as command:
        command.keep(0, 1, 2)
    return tmp_path / "f"


def lines_of(*numbers: int) -> bytes:
    return b"".join(journal.line_of({"number": number}) for number in numbers)


def test_a_new_start_receives_the_records_and_appends_to_them(place):
    before = (place / "journal.jsonl").stat().st_ino
    with Command(place).started() as command:
        command.keep(3)
        assert command.taken == [0, 1, 2, 3] and not command.messages
    assert command.file.read_bytes() == lines_of(0, 1, 2, 3)
    assert command.file.stat().st_ino == before, "an intact file was written again"


def test_a_record_is_in_the_file_when_it_is_passed_on(tmp_path):
    seen: list[bytes] = []
    store = Store(Folder(tmp_path / "f"), lambda record: seen.append(file.read_bytes()))
    file = tmp_path / "f" / "journal.jsonl"
    with store.resumed(ResultKind.HUNT, STATE, resume=False, differs=""):
        store.keep({"number": 7})
    assert seen == [lines_of(7)]


def test_a_line_is_json_with_sixteen_digits_of_its_sha256():
    """Folders of earlier versions have such lines."""
    assert lines_of(1) == b'{"number": 1, "checksum": "55c0e1505562cf32"}\n'
    assert hashlib.sha256(b'{"number": 1}').hexdigest().startswith("55c0e1505562cf32")


def test_an_unknown_number_is_null_in_a_line_and_nan_in_a_row():
    written = journal.json_ready({"rtt_s": math.nan, "sent": 3, "cc": "reno"})
    assert written == {"rtt_s": None, "sent": 3, "cc": "reno"}
    read = journal.from_json(written)
    assert math.isnan(read.pop("rtt_s")) and read == {"sent": 3, "cc": "reno"}


@pytest.mark.parametrize("options", [{"synced": True}, {}], ids=["synced", "as it is"])
def test_a_synced_record_is_on_the_disk_when_it_is_passed_on(tmp_path, monkeypatch, options):
    folder, did = Folder(tmp_path / "f"), list[str]()
    folder.manifest({})
    store = Store(folder, lambda record: did.append("take"), **options)
    monkeypatch.setattr(disk, "folder_to_disk", lambda folder: did.append("sync the name"))
    monkeypatch.setattr(os, "fdatasync", lambda file: did.append("sync"))
    with store.opened():
        store.keep({"number": 1})
        store.keep({"number": 2})
    expected = ["sync the name", "sync", "take", "sync", "take"]
    assert did == (expected if options else ["take", "take"])


@pytest.mark.parametrize(
    ("content", "kept", "damaged"),
    [
        (lines_of(0, 1, 2).replace(b"1,", b"5,"), [0, 2], 1),
        (lines_of(0, 1) + b"noise\n" + lines_of(2), [0, 1, 2], 1),
        (lines_of(0) + journal.line_of({"other": 1}) + lines_of(2), [0, 2], 1),
        (b"", [], 0),
    ],
    ids=["changed", "noise", "of another command", "empty"],
)
def test_what_is_damaged_is_named_and_repeated_and_the_rest_is_kept(place, content, kept, damaged):
    file = place / "journal.jsonl"
    file.write_bytes(content)
    with Command(place).started() as command:
        expected = [f"{file}: has damaged lines ({damaged}); they are repeated"] if damaged else []
        assert (command.taken, command.messages) == (kept, expected)
        command.keep(9)
    assert file.read_bytes() == content + lines_of(9)
    with Command(place).started() as again:
        assert (again.taken, again.messages) == ([*kept, 9], expected)


def test_a_line_that_a_kill_cut_off_is_replaced_by_the_next(place):
    file = place / "journal.jsonl"
    file.write_bytes(lines_of(0, 1, 2)[:-10])
    with Command(place).started() as command:
        assert command.taken == [0, 1] and not command.messages
        command.keep(9)
    assert file.read_bytes() == lines_of(0, 1, 9)


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_regular_file_is_read_and_nothing_outside_is_written(place, kind, tmp_path):
    file, outside = place / "journal.jsonl", tmp_path / "outside"
    file.rename(outside)
    if kind == "link":
        file.symlink_to(outside)
    elif kind == "pipe":
        subprocess.run(["mkfifo", file], check=True)
    else:
        file.mkdir()
    command = Command(place)
    if kind == "folder":
        with pytest.raises(RunError, match=r"f: can't be written: Is a directory$"):
            command.started().__enter__()
    else:
        with command.started():
            command.keep(9)
        assert file.read_bytes() == lines_of(9)
    assert command.taken == ([] if kind == "folder" else [9])
    assert command.messages[0].startswith(f"{file}: can't be read: ")
    assert outside.read_bytes() == lines_of(0, 1, 2)


def test_a_file_on_a_disk_that_fails_is_left_alone(place, monkeypatch):
    def fail(path: Path) -> journal.Read:
        raise OSError(errno.EIO, "Input/output error")

    with monkeypatch.context() as patch:
        patch.setattr(journal, "read", fail)
        with pytest.raises(RunError, match=r"journal.jsonl: can't be read: Input/output error$"):
            Command(place).started().__enter__()
    with Command(place).started() as command:
        assert command.taken == [0, 1, 2]


def test_an_endless_line_is_not_read_into_memory(place, monkeypatch):
    monkeypatch.setattr(journal, "_LONGEST", 100)
    content = lines_of(0) + b"x" * 100 + b"\n" + lines_of(1)
    (place / "journal.jsonl").write_bytes(content)
    with pytest.raises(RunError, match=r"can't be read: has a line of more than 100 bytes$"):
        Command(place).started().__enter__()
    assert (place / "journal.jsonl").read_bytes() == content


def test_cleared_records_are_gone(place):
    with Command(place).started() as command:
        command.store.clear()
        assert not command.file.exists()
        command.keep(3)
    assert command.file.read_bytes() == lines_of(3)


def test_a_folder_without_resume_or_of_another_state_is_refused(place):
    with pytest.raises(InputError, match="holds a stress test, expected --resume or a new folder"):
        Command(place).started(resume=False).__enter__()
    with pytest.raises(InputError, match="holds another"):
        Command(place).started({"seed": 2}).__enter__()
    assert (place / "journal.jsonl").read_bytes() == lines_of(0, 1, 2)


def test_a_second_writer_is_refused(place):
    with Command(place).started(), pytest.raises(InputError, match="another westwood is writing"):
        Command(place).started().__enter__()


def test_a_disk_that_fails_costs_one_line_and_no_record(place, monkeypatch):
    def fail(file: int, content: bytes) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    expected = r"f: can't be written: No space left on device; continue with --resume$"
    with Command(place).started() as command:
        monkeypatch.setattr(disk, "append", fail)
        with pytest.raises(RunError, match=expected):
            command.keep(3)
        assert command.taken == [0, 1, 2]
    assert command.file.read_bytes() == lines_of(0, 1, 2)


def test_a_line_that_does_not_fit_on_the_disk_is_not_written_at_all(tmp_path):
    program = f"""
import resource
from westwood.errors import RunError
from westwood.results.folder import Folder
from westwood.results.store import Store
folder = Folder({str(tmp_path / "f")!r})
folder.manifest({{}})
store = Store(folder, lambda record: None)
with store.opened():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
    try:
        while True:
            store.keep({{"target": "x" * 100}})
    except RunError as error:
        print(error)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == f"{tmp_path / 'f'}: can't be written: File too large\n", done.stderr
    file = tmp_path / "f" / "journal.jsonl"
    records = journal.read(file)
    assert (len(records.records), records.damaged, records.end) == (6, 0, file.stat().st_size)
