# SPDX-License-Identifier: BSD-3-Clause
"""`westwood artifact` makes a folder that repeats a paper's results, and says what differs."""

import json
import subprocess
from pathlib import Path

import polars as pl
import pytest

from westwood.cli import call
from westwood.errors import InputError, RunError
from westwood.results import artifact

COMMANDS = """# The table
westwood run mine.toml --cc reno \\
    --seeds 1 --out table
westwood compare --loss 1% --duration 1s --seeds 1 --cc cubic   # printed only
"""


@pytest.fixture
def paper(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    preset = Path(artifact.__file__).parents[2] / "scenarios" / "table1.toml"
    scenario = preset.read_text("utf-8").replace('"600s"', '"1s"')
    (tmp_path / "mine.toml").write_text(scenario)
    (tmp_path / "paper.txt").write_text(COMMANDS)
    return tmp_path / "paper"


def make(paper):
    assert call(["artifact", "paper", "paper.txt", "--licence", "CC-BY-4.0"]) == 0
    return artifact.read(paper)


def check(capsys):
    capsys.readouterr()
    code = call(["artifact", "paper", "--check"])
    return code, capsys.readouterr()


def test_an_artifact_has_inputs_results_versions_licence_and_repeats(paper, capsys):
    _, inputs, (table, comparison) = make(paper)
    assert list(inputs) == ["mine.toml"] and (paper / "mine.toml").is_file()
    assert table.data == ["table/runs.parquet", "table/scenario.toml"]
    assert comparison.data == ["printed/02.txt"]
    readme = (paper / "README.md").read_text("utf-8")
    for part in ("CC-BY-4.0", "westwood 0.1.0", "x86_64", "CPU time", table.command):
        assert part in readme
    code, printed = check(capsys)
    assert code == 0, printed
    assert printed.out.endswith("2 of 2 commands repeat.\n")


def test_its_script_checks_it_from_any_folder(paper, tmp_path):
    make(paper)
    program = tmp_path / "bin" / "westwood"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\necho "$PWD: $*"\n')
    program.chmod(0o755)
    script = ["env", f"PATH={program.parent}:/usr/bin:/bin", "sh", f"{paper}/reproduce.sh"]
    printed = subprocess.run(script, cwd="/", capture_output=True, text=True, check=True)
    assert printed.stdout == f"{paper}: artifact . --check\n"


def test_what_differs_is_named_with_its_column_and_row(paper, capsys, monkeypatch):
    make(paper)
    run = artifact._run

    def run_elsewhere(command, path, number):
        run(command, path, number)
        if number == 1:
            rows = pl.read_parquet(path / "table/runs.parquet")
            rows.with_columns(goodput_bps=pl.lit(7.5)).write_parquet(path / "table/runs.parquet")
            return artifact.Step(command, {"table/runs.parquet": "another"}, 0)
        file = path / "printed/02.txt"
        file.write_text(file.read_text("utf-8").replace("CUBIC", "Reno"))
        return artifact.Step(command, {"printed/02.txt": "another"}, 0)

    monkeypatch.setattr(artifact, "_run", run_elsewhere)
    code, printed = check(capsys)
    assert code == 1
    assert "table/runs.parquet: goodput_bps in 1 of 1 rows, first in row 0: 7.5, exp" in printed.out
    assert "table/scenario.toml: is missing" in printed.out
    assert "printed/02.txt: line " in printed.out and "'Reno" in printed.out
    assert printed.out.endswith("0 of 2 commands repeat.\n")


@pytest.mark.parametrize(
    ("first", "second", "difference"),
    [
        ({"a": [1, {"b": 2}]}, {"a": [1, {"b": 3}]}, "a[1].b is 3, expected 2"),
        ({"a": 1}, {"b": 1}, 'it is {"b": 1}, expected {"a": 1}'),
        ({"a": [1]}, {"a": [1]}, None),
    ],
)
def test_json_files_are_compared_by_value(tmp_path, first, second, difference):
    files = [tmp_path / "first.json", tmp_path / "second.json"]
    for file, content in zip(files, (first, second), strict=True):
        file.write_text(json.dumps(content))
    assert artifact._of_json(*files) == difference


def test_the_time_of_a_run_is_no_difference(tmp_path):
    files = [tmp_path / "first.csv", tmp_path / "second.csv"]
    for number, file in enumerate(files):
        file.write_text(f"seed,cpu_s,wall_s\n1,{number},{number}\n")
    assert artifact._of_tables(*files) is None


def test_a_changed_file_of_the_artifact_is_refused(paper, capsys):
    make(paper)
    (paper / "mine.toml").write_text("seeds = 2\n")
    code, printed = check(capsys)
    assert code == 2
    assert "paper/mine.toml: differs from what the commands left" in printed.err


def test_a_stopped_artifact_resumes_after_its_last_command(paper, monkeypatch, capsys):
    run, begun = artifact._run, []

    def stop_in_second(command, path, number):
        begun.append(number)
        if begun == [1, 2]:
            (path / "left").mkdir()
            raise KeyboardInterrupt
        return run(command, path, number)

    monkeypatch.setattr(artifact, "_run", stop_in_second)
    assert call(["artifact", "paper", "paper.txt"]) == 130
    assert check(capsys)[0] == 2, "an unfinished artifact is not checked"
    assert call(["artifact", "paper", "paper.txt"]) == 2, "it would be overwritten"
    assert call(["artifact", "paper", "paper.txt", "--resume"]) == 0
    assert begun == [1, 2, 2]
    assert check(capsys)[0] == 0


def test_what_a_stopped_command_left_does_not_stop_it_again(paper, monkeypatch):
    run = artifact._run

    def stop_after_writing(command, path, number):
        run(command, path, number)
        raise KeyboardInterrupt

    monkeypatch.setattr(artifact, "_run", stop_after_writing)
    assert call(["artifact", "paper", "paper.txt"]) == 130
    assert (paper / "table" / "runs.parquet").is_file()
    monkeypatch.setattr(artifact, "_run", run)
    assert call(["artifact", "paper", "paper.txt", "--resume"]) == 0


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        ("", "has no command, expected one a line"),
        ("westwood run a\nls", 'paper.txt:2: "ls": expected a command such as'),
        ("westwood run 'a", 'paper.txt:1: "westwood run \'a": no closing quotation'),
    ],
)
def test_a_line_that_is_no_command_is_refused(tmp_path, lines, problem):
    (tmp_path / "paper.txt").write_text(lines)
    with pytest.raises(InputError) as raised:
        artifact.read_commands(tmp_path / "paper.txt")
    assert problem in str(raised.value)


def test_a_file_outside_the_lists_folder_is_refused(tmp_path):
    (tmp_path / "mine.toml").write_text("")
    (tmp_path / "paper").mkdir()
    with pytest.raises(InputError, match="expected a file next to the list of commands"):
        artifact.inputs_of(["westwood run ../mine.toml"], tmp_path / "paper")


def test_a_command_that_fails_is_named(paper, tmp_path):
    with pytest.raises(RunError, match=r"^westwood run tabel1: .*did you mean"):
        list(artifact.make(paper, ["westwood run tabel1"], tmp_path, "none", resume=False))
