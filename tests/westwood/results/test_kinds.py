# SPDX-License-Identifier: BSD-3-Clause
"""A results folder holds one kind of result; commands of other kinds refuse it and lose nothing.

`ResultKind` names the file that identifies each kind. Here the commands write these files; an empty
file replaces the output of a slow command.
"""

from pathlib import Path

import pytest

from westwood.results.folder import Folder
from westwood.results.kinds import ResultKind

QUICK = ("--set", "duration=2s", "--seeds", "2")
OF_KINDS = {
    ResultKind.SWEEP: ("sweep", "table1", *QUICK),
    ResultKind.SEARCH: (
        *("control", "tune", "--cc", "westwood-cubic", "--vary", "wc_gain"),
        *("--trials", "1", "--paths", "30", "--packets", "200"),
    ),
    ResultKind.HUNT: ("control", "stress", "--cc", "bbr", "--environments", "1"),
    ResultKind.INFERENCE: ("reproduce", "--infer", "linux-2003"),
    ResultKind.REPRODUCTION: ("reproduce", "fig5", "--seeds", "1"),
    ResultKind.EVALUATION: ("evaluate", "veno", "--only", "point-clean", "--paths", "4"),
    ResultKind.RUN: ("run", "table1", *QUICK),
}
TRACE = ("trace", "table1", "--set", "duration=2s")
RESUMED = {ResultKind.SWEEP, ResultKind.SEARCH, ResultKind.HUNT, ResultKind.INFERENCE}


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def of_kind(kind: ResultKind, folder: Path) -> Path:
    """Makes a folder with the files that identify its kind."""
    folder_ = Folder(folder)
    folder_.manifest({})
    folder_.text(kind.file, "{}")
    return folder


@pytest.mark.parametrize("held", ResultKind, ids=lambda kind: kind.title)
def test_commands_of_other_kinds_refuse_a_folder_that_holds_one(held, westwood, tmp_path):
    folder = of_kind(held, tmp_path / "m")
    before = contents(folder)
    commands = [(kind, words) for kind, words in OF_KINDS.items() if not kind.goes_with(held)]
    commands += [(ResultKind.RUN, TRACE)] if held is not ResultKind.RUN else []
    for kind, words in commands:
        for more in ([], ["--resume"]) if kind in RESUMED else ([],):
            called = westwood(*words, *more, "--out", "m").refusal()
            assert called == f'westwood: --out = "m": holds {held}, expected a new folder\n'
    assert contents(folder) == before


@pytest.mark.parametrize(
    "kind",
    [ResultKind.SWEEP, ResultKind.SEARCH, ResultKind.HUNT, ResultKind.EVALUATION, ResultKind.RUN],
)
def test_results_of_a_command_are_recognised_as_its_kind(kind, westwood, tmp_path):
    assert westwood(*OF_KINDS[kind], "--out", "m").code == 0
    other = ResultKind.HUNT if kind is not ResultKind.HUNT else ResultKind.SEARCH
    called = westwood(*OF_KINDS[other], "--out", "m")
    assert called.err == f'westwood: --out = "m": holds {kind}, expected a new folder\n'


def test_a_run_replaces_a_run_and_papers_share_a_folder(westwood, tmp_path):
    for words in (OF_KINDS[ResultKind.RUN], TRACE, OF_KINDS[ResultKind.RUN]):
        assert westwood(*words, "--out", "r").code == 0
    for held, kind in (
        (ResultKind.INFERENCE, ResultKind.REPRODUCTION),
        (ResultKind.REPRODUCTION, ResultKind.INFERENCE),
    ):
        Folder(of_kind(held, tmp_path / held.title), kind=kind)


def test_a_page_is_made_from_runs_only(westwood, tmp_path):
    of_kind(ResultKind.INFERENCE, tmp_path / "m")
    called = westwood("report", "m")
    problem = "holds an inference, expected a folder that run --out or sweep wrote"
    assert (called.code, called.err) == (2, f'westwood: "m": {problem}\n')
