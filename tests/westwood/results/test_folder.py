# SPDX-License-Identifier: BSD-3-Clause
"""Files of a results folder are complete, verified and inside the folder."""

import fcntl
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tracked import everything

from westwood.errors import InputError, Interrupted, RunError
from westwood.experiments import experiment, sweep
from westwood.results import disk
from westwood.results.folder import Damaged, Folder


@pytest.fixture
def folder(tmp_path) -> Folder:
    folder_ = Folder(tmp_path / "f")
    folder_.manifest({})
    return folder_


def test_a_file_that_fails_half_way_is_not_created(folder):
    folder.text("page.html", "old")

    def fail(path: Path) -> None:
        path.write_text("half")
        raise RunError("no more")

    before = sorted(folder.path.iterdir())
    with pytest.raises(RunError):
        folder.file("page.html", fail)
    assert (folder.path / "page.html").read_text() == "old"
    assert sorted(folder.path.iterdir()) == before


def test_checksums_pass_sha256sum(folder):
    folder.frame("data/a.csv", pl.DataFrame({"a": [1]}))
    folder.text("two words.txt", "x")
    command = ["sha256sum", "--check", "SHA256SUMS"]
    done = subprocess.run(command, cwd=folder.path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count(": OK\n") == 3


def test_a_changed_file_is_not_read(folder):
    folder.frame("rows.parquet", pl.DataFrame({"a": [1]}))
    pl.DataFrame({"a": [2]}).write_parquet(folder.path / "rows.parquet")
    with pytest.raises(Damaged, match=r"rows.parquet: is damaged: its checksum differs"):
        folder.read_frame("rows.parquet")
    with pytest.raises(Damaged, match=r"other.parquet: can't be read: No such file"):
        folder.read_frame("other.parquet")


@pytest.mark.parametrize("name", ["../evil", "a/../../evil", "/evil", "", "a\nb", "data/../../x"])
def test_a_name_that_leads_outside_is_refused(folder, name):
    for use in (lambda: folder.text(name, "x"), lambda: folder.verified(name)):
        with pytest.raises(InputError):
            use()
    assert sorted(path.name for path in folder.path.parent.iterdir()) == ["f"]


def test_a_link_to_the_outside_is_not_followed(folder, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("theirs")
    (folder.path / "data").symlink_to(outside)
    (folder.path / "page.html").symlink_to(outside / "file")
    with pytest.raises(Damaged, match="data: is a link"):
        folder.text("data/new", "x")
    with pytest.raises(Damaged, match=r"page.html: can't be read: is a link"):
        folder.verified("page.html")
    folder.text("page.html", "ours")  # replaces the link
    assert [(path.name, path.read_text()) for path in outside.iterdir()] == [("file", "theirs")]


def test_leftovers_of_dead_processes_are_removed_but_not_files_in_use(tmp_path):
    (tmp_path / ".partial-0123abcd.parquet").write_text("left")
    (tmp_path / ".partial-mine").write_text("no name of ours")

    def write(path: Path) -> None:
        disk.remove_left(tmp_path)
        path.write_text("whole")

    disk.write_whole(tmp_path / "file", write)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".partial-mine", "file"]


@pytest.mark.parametrize("place", ["/proc/x", "/etc/passwd/x/y", "/sys", "nowhere"])
def test_a_place_that_takes_no_files_is_refused_at_once(place, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("nowhere").symlink_to("gone/away")
    with pytest.raises(InputError, match=f'--out = "{place}": '):
        Folder(place)
    Folder(tmp_path / "made" / "later")
    assert list(tmp_path.iterdir()) == [tmp_path / "nowhere"]


def test_two_writers_of_one_folder_refuse_each_other(tmp_path):
    first = Folder(tmp_path / "f")
    first.text("a", "b")
    with pytest.raises(InputError, match="another westwood is writing into it"):
        Folder(tmp_path / "f").text("a", "c")
    del first  # releases the lock
    Folder(tmp_path / "f").text("a", "c")


def test_only_the_runs_of_a_damaged_part_are_repeated(small, tmp_path, monkeypatch):
    monkeypatch.setattr(sweep, "_A_PART", 4)
    planned = experiment.plan(small, seeds=14)

    def stop(runs: Any, total: int) -> Any:
        for count, run in enumerate(runs):
            if count == 10:
                raise KeyboardInterrupt
            yield run

    out, messages, missing = tmp_path / "s", [], []
    with pytest.raises(Interrupted):
        sweep.run(planned, Folder(out), workers=1, track=stop)
    part = out / "parts" / "000001.parquet"
    content = bytearray(part.read_bytes())
    content[100] ^= 1
    part.write_bytes(content)

    def count(runs: Any, total: int) -> Any:
        missing.append(total)
        return runs

    rows = sweep.run(planned, Folder(out, tell=messages.append), resume=True, track=count)
    assert missing == [14 - 10 + 4]
    assert messages == [
        f"{part}: is damaged: its checksum differs from SHA256SUMS; its runs are repeated"
    ]
    whole = sweep.run(planned, Folder(tmp_path / "whole"), track=everything)
    assert rows.equals(whole)


@pytest.mark.parametrize(
    ("column", "value", "problem"),
    [
        ("cc", "../../../evil", 'has "../../../evil" in cc, expected what scenario.toml has'),
        ("flow", "a\x1b[2J", 'has "a\\u001b[2J" in flow, expected what scenario.toml has'),
        ("goodput_bps", "many", "has no numbers in goodput_bps"),
        ("goodput_bps", None, "has no numbers in goodput_bps"),
    ],
)
def test_forged_records_are_refused_even_with_a_valid_checksum(
    small_file, westwood, column, value, problem
):
    assert westwood("run", small_file, "--out", "r").code == 0
    out = small_file.parent / "r"
    Folder(out).frame(
        "runs.parquet",
        Folder(out).read_frame("runs.parquet").with_columns(pl.lit(value).alias(column)),
    )
    before = sorted(small_file.parent.rglob("*"))
    called = westwood("report", "r", "--export").refusal()
    assert called.startswith("westwood: r/runs.parquet: " + problem)
    assert sorted(small_file.parent.rglob("*")) == before


def test_a_folder_of_another_format_is_refused(small_file, westwood):
    assert westwood("sweep", small_file, "--out", "s").code == 0
    out = small_file.parent / "s"
    manifest = (out / "manifest.json").read_text().replace('"format": 2', '"format": 1')
    (out / "manifest.json").write_text(manifest)
    (out / "SHA256SUMS").unlink()
    expected = "s: was written in format 1, expected 2: run it again\n"
    for words in (("report", "s"), ("sweep", small_file, "--out", "s", "--resume")):
        assert westwood(*words).refusal() == f"westwood: {expected}"


@pytest.mark.parametrize("name", ["SHA256SUMS", "sweep.json"])
def test_a_finished_sweep_with_a_damaged_state_file_can_resume(name, small, tmp_path):
    planned, out = experiment.plan(small, seeds=2), tmp_path / "s"
    whole = sweep.run(planned, Folder(out), track=everything)
    (out / name).write_bytes(b"noise")
    messages: list[str] = []
    assert sweep.run(
        planned, Folder(out, tell=messages.append), resume=True, track=everything
    ).equals(whole)
    assert messages


def test_a_temporary_file_that_another_process_removes_is_created_again(tmp_path, monkeypatch):
    real, asked = fcntl.flock, []

    def flock(file: int, how: int) -> None:
        asked.append(how)
        if len(asked) == 1:
            raise BlockingIOError  # another process has locked the file to remove it
        real(file, how)

    monkeypatch.setattr(fcntl, "flock", flock)
    folder = Folder.containing(tmp_path / "figure")
    folder.file("figure", lambda part: part.write_text("whole"))
    assert (tmp_path / "figure").read_text() == "whole" and len(asked) > 1
