# SPDX-License-Identifier: BSD-3-Clause
"""An inference depends only on its seed, and may be asked for more settings later."""

import functools
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from small_studies import shorten
from tracked import everything

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
    resume: bool = False,
    track: Any = everything,
    open_: space.Open | None = None,
) -> InferenceReport:
    pool = functools.partial(run_jobs, prepare=prepare, workers=2)
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
    """Makes an undisturbed inference, with which several tests compare theirs."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as monkeypatch:
        shorten(monkeypatch.setattr)
        assert inferred(folder).settings == 73
    return folder


@pytest.mark.usefixtures("short")
def test_an_inference_depends_on_its_seed_and_tries_the_profile_first(whole, tmp_path):
    inferred(tmp_path / "other", 48, seed=2)

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
