# SPDX-License-Identifier: BSD-3-Clause
"""An inference depends only on its seed, loses nothing, and reports errors in one line."""

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_studies import shorten
from tracked import everything

from westwood import InputError
from westwood.cli.commands import call
from westwood.engines.pool import run_jobs
from westwood.engines.simulator import prepare
from westwood.papers.infer import page, space, study
from westwood.papers.infer.report import InferenceReport, packaged
from westwood.results.folder import Folder

SMALL = "linux-2003"  # its runs are short


@pytest.fixture
def short(monkeypatch):
    shorten(monkeypatch.setattr)


def inferred(
    folder: Path,
    settings: int = 72,
    *,
    seed: int = 1,
    workers: int = 2,
    resume: bool = False,
    track: Any = everything,
    open_: space.Open | None = None,
) -> InferenceReport:
    pool = functools.partial(run_jobs, prepare=prepare, workers=workers)
    report, _ = study.run(
        open_ or space.of(SMALL),
        Folder(folder, tell=lambda line: None),
        settings=settings,
        seed=seed,
        resume=resume,
        run_jobs=pool,
        track=track,
    )
    return report


def files(folder: Path) -> list[bytes]:
    return [
        (folder / name).read_bytes() for name in ("settings.parquet", f"{SMALL}.json", "papers.md")
    ]


@pytest.fixture(scope="module")
def whole(tmp_path_factory) -> Path:
    """Makes an undisturbed inference with one worker, with which several tests compare theirs."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch:
        shorten(monkeypatch.setattr)
        assert inferred(folder, workers=1).settings == 73
    return folder


@pytest.mark.usefixtures("short")
def test_an_inference_depends_on_its_seed_and_not_on_workers(whole, tmp_path):
    inferred(tmp_path / "three", workers=3)
    inferred(tmp_path / "other", 48, seed=2)

    assert files(whole) == files(tmp_path / "three")
    assert files(whole)[0] != files(tmp_path / "other")[0]
    rows = pl.read_parquet(whole / "settings.parquet")
    assert rows["setting"].to_list() == list(range(73))
    assert rows["fills"].sum() == 49
    assert (
        dict(rows.select(list(space.of(SMALL).profile)).row(0, named=True))
        == space.of(SMALL).profile
    )


@pytest.mark.usefixtures("short")
def test_more_settings_may_be_asked_for_later(whole, tmp_path):
    inferred(tmp_path / "later", 48)
    inferred(tmp_path / "later", 72, resume=True)

    assert files(tmp_path / "later") == files(whole)


@pytest.mark.usefixtures("short")
def test_the_inferred_setting_is_judged_with_each_value_that_the_text_excludes(tmp_path):
    first, *others = space.of(SMALL).settings
    no_loss = space.Value("no loss", {"path.loss.rate": 0.0}, "made up")
    open_ = replace(space.of(SMALL), settings=(replace(first, excluded=(no_loss,)), *others))

    report = inferred(tmp_path, 48, open_=open_)
    again = inferred(tmp_path, 48, open_=open_, resume=True)

    assert list(report.data["inferred"]["excluded"]) == ["no loss"]
    assert set(report.data["inferred"]["excluded"]["no loss"]) <= set(report.claims)
    assert again.data == report.data
    assert "no loss" not in pl.read_parquet(tmp_path / "settings.parquet")[first.key]


@pytest.mark.usefixtures("short")
def test_the_pages_command_gives_the_same_even_after_a_larger_request(tmp_path):
    inferred(tmp_path / "larger", 72)
    inferred(tmp_path / "larger", 48, resume=True)
    command = re.search(r"--settings (\d+) --seed 1", (tmp_path / "larger/papers.md").read_text())
    assert command is not None
    inferred(tmp_path / "repeated", int(command[1]))
    assert files(tmp_path / "repeated") == files(tmp_path / "larger")


@pytest.mark.usefixtures("short")
def test_a_page_names_its_command_and_a_paper_has_a_folder_of_its_own(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    assert call(["reproduce", "--infer", SMALL, "--settings", "48", "--seed", "7"]) == 0

    assert capsys.readouterr().out.endswith(f"inferred/{SMALL}/papers.md\n")
    text = (tmp_path / "inferred" / SMALL / "papers.md").read_text()
    assert f"`westwood reproduce --infer {SMALL} --settings 48 --seed 7` repeats the search" in text
    assert "tried 49," in text


def test_notes_on_the_packages_runs_appear_on_no_other_page():
    shipped = {"plateau": packaged()["plateau"]}
    whole, text = page.guide(shipped), page.written(shipped, "westwood reproduce --infer plateau")
    for note in ("So small a search", shipped["plateau"].command):
        assert note in whole and note not in text


@pytest.mark.usefixtures("short")
def test_damaged_lines_are_repeated(tmp_path):
    inferred(tmp_path, 48)
    whole = files(tmp_path)
    journal = tmp_path / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = lines[3].replace(b'"setting"', b'"sitting"')
    journal.write_bytes(b"".join(lines)[:-20])

    inferred(tmp_path, 48, resume=True)

    assert files(tmp_path) == whole


@pytest.mark.usefixtures("short")
def test_another_search_is_not_resumed(tmp_path):
    inferred(tmp_path, 48)

    with pytest.raises(InputError, match="expected --resume"):
        inferred(tmp_path, 48)
    with pytest.raises(InputError, match="another inference"):
        inferred(tmp_path, 48, seed=2, resume=True)
