# SPDX-License-Identifier: BSD-3-Clause
"""Damaged bytes in a results folder are detected: no row differs from the measurements, nothing
outside the folder changes, and the message is one line."""

import contextlib
import hashlib
import json
import math
import random
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from cases import CASES, Case, Place, Zygote
from damages import BYTES, KINDS, Damage

from westwood.errors import InputError
from westwood.results import journal
from westwood.results.folder import Folder

_HALF = "half a sweep"
_OWN = Case(
    "report of a control",
    ("report", "out", "--export"),
    before=("run", "small.toml", "--seeds", "2", "--workers", "1")
    + ("--cc", "hybla.c,cubic", "--out", "out"),
)
_CASES = {case.name: case for case in (*CASES, _OWN)}
_SWEEP = _CASES["sweep"]


class Folders:
    """Folders of partial and complete runs, to be damaged; each is made when first asked for."""

    def __init__(self, zygote: Zygote, path: Path) -> None:
        self._zygote, self._path, self._made = zygote, path, 0
        self._known: dict[str, Place] = {}

    def __getitem__(self, name: str) -> Place:
        if name not in self._known:
            case = _CASES.get(name)
            self._known[name] = self._whole(case) if case else self._half_swept()
        return self._known[name]

    def _place(self, case: Case) -> Place:
        self._made += 1
        return Place(self._zygote, case, self._path / f"made{self._made}")

    def _whole(self, case: Case) -> Place:
        place = self._place(case)
        code, errors = place.call()
        assert code == 0, errors
        return place

    def _half_swept(self) -> Place:
        """Makes a sweep with two parts and a journal, as after a kill."""
        place = self._place(_SWEEP)
        first = [call for call in place.calls() if call.name == "rename"]
        third = next(call for call in first if "parts/000003" in call.line)
        shutil.rmtree(place.path / "out")
        place.call(*place.traced, *third.inject("signal=SIGKILL"))
        assert len(list((place.path / "out" / "parts").iterdir())) == 2
        return place

    def copy(self, place: Place) -> Place:
        """Copies a place's contents to a new one."""
        folder = self._place(place.case)
        shutil.rmtree(folder.path)
        shutil.copytree(place.path, folder.path)
        (folder.path / "outside").mkdir()
        return folder


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Iterator[Folders]:
    with contextlib.closing(Zygote()) as zygote:
        yield Folders(zygote, tmp_path_factory.mktemp("damage"))


def damaged(place: Place, choices: random.Random, kinds: tuple[Damage, ...]) -> str:
    """Damages one or two files of the results folder; returns which and how."""
    changes = []
    out = place.path / "out"
    for _ in range(choices.choice((1, 1, 2))):
        files = sorted(path for path in out.rglob("*") if path.is_file() and not path.is_symlink())
        with_rows = [candidate for candidate in files if candidate.suffix in (".parquet", ".jsonl")]
        file, kind = choices.choice(files + 3 * with_rows), choices.choice(kinds)
        kind(file, choices, place.path / "outside")
        changes.append(f"{kind.__name__} {file.relative_to(out)}")
    return ", ".join(changes)


def outside(place: Place) -> dict[Path, bytes]:
    """Returns the contents of everything outside the results folder."""
    files = (
        path for path in place.path.rglob("*") if "out" not in path.relative_to(place.path).parts
    )
    return {file: file.read_bytes() for file in files if file.is_file()}


def test_damage_is_named_and_nothing_else_is_believed(attack, folders):
    tried = (
        (_HALF, "sweep", "runs.parquet"),
        ("sweep", "sweep", "runs.parquet"),
        ("campaign", "campaign", "uploads.parquet"),
        ("report", "report", "summary.csv"),
        ("tune", "tune", "best.json"),
        ("stress", "stress", "findings.json"),
        ("benchmark", "benchmark", "table.json"),
    )
    for choices in attack.rounds():
        name, whole, result = tried[attack.seed % len(tried)]
        before = folders[name]
        kinds = choices.choice((BYTES, BYTES, KINDS))
        place = folders.copy(before)
        what = damaged(place, choices, kinds)
        others = outside(place)
        code, errors = place.call(again=True)
        context = f"{before.case.name}: {what}: {code}\n{errors}"
        assert code in ((0, 2) if kinds is BYTES else (0, 1, 2)), context
        lines = errors.splitlines()
        assert all(line.startswith("westwood: ") and len(line) < 400 for line in lines), context
        assert bool(lines) >= (code != 0), context
        assert outside(place) == others, context
        if code == 0:
            actual, expected = (place_.path / "out" / result for place_ in (place, folders[whole]))
            assert actual.read_bytes() == expected.read_bytes(), context
        shutil.rmtree(place.path)


FORGED: tuple[object, ...] = (math.nan, math.inf, -1.0, 1e308, 2**70, -1, 0, 2, None, True)
FORGED += ("x", "../x", "", [1], {"a": 1})


def forge(record: dict[str, Any], choices: random.Random) -> None:
    """Changes a value of a record or of a row in it."""
    rows = record.get("rows")
    row = rows[0] if rows and choices.random() < 0.6 else record
    key, value = choices.choice([*row, "new"]), choices.choice(FORGED)
    row[key] = value
    if choices.random() < 0.2:
        del row[key]


def forge_rows(frame: pl.DataFrame, choices: random.Random) -> pl.DataFrame:
    """Changes some or all of a column's values."""
    column, value = choices.choice(frame.columns), choices.choice(FORGED)
    place = choices.choice((pl.lit(True), pl.int_range(pl.len()) == 1))
    forged = pl.when(place).then(pl.lit(value)).otherwise(pl.col(column)).alias(column)
    with contextlib.suppress(pl.exceptions.PolarsError, OverflowError):
        return frame.with_columns(forged)
    return frame.drop(column)


def used_again(place: Place) -> str:
    """Uses a folder again, which changes nothing outside of it; returns what it says."""
    others = outside(place)
    code, errors = place.call(again=True)
    assert code in (0, 2) and outside(place) == others, errors
    assert all(line.startswith("westwood: ") for line in errors.splitlines()), errors
    return str(errors)


def test_a_folder_that_somebody_made_up_is_used_or_refused_in_a_line(attack, folders):
    tried = (_HALF, "campaign", "sweep", "report", "tune", "stress")
    for choices in attack.rounds():
        place = folders.copy(folders[tried[attack.seed % len(tried)]])
        out = place.path / "out"
        for file in out.glob("*.jsonl"):
            records = journal.read(file).records
            forge(choices.choice(records), choices)
            file.write_bytes(b"".join(map(journal.line_of, records)))
        if (out / "runs.parquet").exists():
            folder = Folder(out)
            folder.frame("runs.parquet", forge_rows(folder.read_frame("runs.parquet"), choices))
            del folder
        used_again(place)
        shutil.rmtree(place.path)


_NEVER = "#error this is compiled"
_NAMES = ("evil.c", "../evil.c", "/etc/hosts.c", "tcp:evil.c", "hybla.c", "evil-0000.c", "no.c")


def forge_controls(out: Folder, choices: random.Random) -> None:
    """Lets a folder name, sweep and describe controls that nobody named here."""
    source = hashlib.sha256(_NEVER.encode()).hexdigest()[:16]
    for name in ("evil.c", f"evil-{source}.c"):
        out.text(name, _NEVER)
    name = choices.choice(_NAMES)
    given = f'name = "{name}"' + choices.choice(("", f', source = "{source}"', ', source = "x"'))
    table = choices.choice((f"{{ {given} }}", f'"{name}"'))
    text = (out.path / "scenario.toml").read_text()
    if choices.random() < 0.6:
        text = re.sub(r"^cc = .*$", lambda _: f"cc = {table}", text, flags=re.M)
    if choices.random() < 0.5:
        flow = choices.choice(("tcp", "*", "cc"))
        text += f'\n[sweep]\n"{flow}.{choices.choice(("cc", "cc.name"))}" = ["reno", {table}]\n'
    out.text("scenario.toml", text)
    facts = json.loads((out.path / "controls.json").read_text())
    fact = choices.choice(facts)
    if choices.random() < 0.5:
        fact |= {"name": name, "source": source}
    forge(choices.choice([fact, *fact["parameters"]]) if choices.random() < 0.5 else fact, choices)
    if choices.random() < 0.8:
        out.text("controls.json", json.dumps(facts))
    rows = out.read_frame("runs.parquet")
    out.frame("runs.parquet", rows.with_columns(cc=pl.lit(choices.choice((name, "hybla.c")))))
    if choices.random() < 0.2:
        (out.path / "evil.c").unlink()
        (out.path / "evil.c").symlink_to("../small.toml")


def test_a_folder_that_names_controls_is_read_without_their_code(attack, folders):
    for choices in attack.rounds():
        place = folders.copy(folders["report of a control"])
        folder = Folder(place.path / "out")
        forge_controls(folder, choices)
        del folder
        errors = used_again(place)
        assert "is compiled" not in errors
        shutil.rmtree(place.path)


def test_a_journal_and_checked_files_give_what_was_written_or_nothing(attack, tmp_path):
    records = [{"number": number, "value": number / 7} for number in range(20)]
    content = {"of": "a file"}
    for choices in attack.rounds():
        out = tmp_path / f"{attack.seed}"
        folder = Folder(out)
        folder.json("file.json", content)
        (out / "j").write_bytes(b"".join(map(journal.line_of, records)))
        del folder
        for name in ("j", "file.json", "SHA256SUMS"):
            choices.choice(BYTES)(out / name, choices, tmp_path)
        assert all(record in records for record in journal.read(out / "j").records)
        with contextlib.suppress(InputError):
            assert json.loads(Folder(out).verified("file.json").read_text()) == content
        shutil.rmtree(out)
