# SPDX-License-Identifier: BSD-3-Clause
"""A results folder keeps the controls that ran, and one of a stranger's runs no code."""

import contextlib
import json
import re
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from mine import MINE

from westwood import InputError, Results, Scenario, programs
from westwood.control import compiling, loading
from westwood.control.writing import like
from westwood.results.folder import Folder

EVIL = like("cubic", "evil")
SOURCE = loading._source(EVIL.encode())


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    """A cache of compiled controls of its own, so that nothing in it was named elsewhere."""
    monkeypatch.setattr(programs, "workshop", lambda: tmp_path / "cache")


@pytest.fixture
def here(mine, westwood) -> Path:
    """A folder with a control and the results of a run with it in `out`."""
    words = "run path --set duration=5s --cc ./mine.c --out out"
    assert westwood(*words.split()).code == 0
    return mine.parent


@pytest.fixture
def loaded(monkeypatch) -> list[str]:
    """The texts of the controls whose code is compiled or loaded."""
    texts: list[str] = []

    @contextlib.contextmanager
    def loadable(code: bytes, name: str) -> Iterator[str]:
        texts.append(code.decode())
        with right(code, name) as path:
            yield path

    right = compiling.loadable
    monkeypatch.setattr(compiling, "loadable", loadable)
    for source, control in [*loading._by_source.items()]:  # as in another process
        if control.code or control.kept:
            del loading._by_source[source]
    loading._by_name.clear()
    loading._by_path.clear()
    return texts


def change(out: Folder, key: str, value: str, more: str = "") -> None:
    """Changes a line of the scenario, and adds more lines."""
    text = (out.path / "scenario.toml").read_text()
    changed, count = re.subn(f"^{key} = .*$", lambda _: f"{key} = {value}", text, flags=re.M)
    assert count == 1
    out.text("scenario.toml", changed + more)


def named(cc: str, more: str = "") -> Callable[[Folder], object]:
    """Returns what makes a folder name a control in its scenario."""

    def forge(out: Folder) -> None:
        change(out, "cc", f"{{ name = {cc} }}", more)
        out.text("evil.c", EVIL)
        out.text(f"evil-{SOURCE}.c", EVIL)

    return forge


def described(out: Folder) -> None:
    """Lets a folder describe its control as well, and keep it."""
    named(f'"evil.c", source = "{SOURCE}"')(out)
    (facts,) = json.loads((out.path / "controls.json").read_text())
    out.json("controls.json", [{**facts, "name": "evil.c", "source": SOURCE}])
    frame = out.read_frame("runs.parquet")
    out.frame("runs.parquet", frame.with_columns(cc=pl.lit("evil.c")))


def linked(out: Folder) -> None:
    named('"link.c"')(out)
    (out.path / "link.c").symlink_to("../theirs.c")


FORGED: dict[str, Callable[[Folder], object]] = {
    "without contents": named('"evil.c"'),
    "with contents": named(f'"evil.c", source = "{SOURCE}"'),
    "described": described,
    "in a sweep": named('"reno"', '[sweep]\n"tcp.cc" = ["reno", "evil.c"]\n'),
    "in a sweep, by name": named('"reno"', '[sweep]\n"tcp.cc.name" = ["reno", "evil.c"]\n'),
    "in a sweep, with contents": named(
        '"reno"', f'[sweep]\n"tcp.cc" = ["reno", {{ name = "a.c", source = "{SOURCE}" }}]\n'
    ),
    "beside a stack": named('"tcp:evil.c"'),
    "outside": named('"../theirs.c"'),
    "with a path from the root": named(f'"{Path(__file__).parent}/evil.c"'),
    "a link": linked,
    "without a manifest": lambda out: (
        named('"evil.c"')(out),
        (out.path / "manifest.json").unlink(),
    ),
    "not there": named('"nothing.c"'),
}


@pytest.mark.parametrize("forgery", FORGED)
def test_a_strangers_folder_runs_no_code(forgery, here, loaded, westwood):
    (here / "theirs.c").write_text(EVIL, encoding="utf-8")
    FORGED[forgery](Folder(here / "out"))
    for words in (["report", "out"], ["report", "out", "--row", 1]):
        read = westwood(*words)
        assert read.code in (0, 2) and read.err.count("\n") <= 2, read.err
    with contextlib.suppress(InputError):
        Results.read(here / "out")
    assert not loaded
    toml = "out/scenario.toml"
    for words in (["run", toml], ["trace", toml, "--plot"], ["lab", toml, "--no-browser"]):
        westwood(*words).refusal()
    assert EVIL not in loaded


def test_what_runs_again_says_how_to_name_the_control(here, loaded, westwood):
    described(Folder(here / "out"))
    for words in (["report", "out", "--row", 1], ["run", "out/scenario.toml"]):
        refused = westwood(*words)
        assert "runs with your rights. Read it, then name it once" in refused.err
        assert f"out/evil-{SOURCE}.c" in refused.err
    assert westwood("report", "out").code == 0
    assert westwood("run", "path", "--set", "duration=5s", "--cc", f"out/evil-{SOURCE}.c").code == 0
    refused = westwood("run", "out/scenario.toml")
    assert refused.code == 0 and "Evil" in refused.out


FACTS: dict[str, Any] = {
    "no list": {},
    "no table": [1],
    "a key too few": lambda facts: facts.pop("label"),
    "a key too many": lambda facts: facts.update(code="x"),
    "a label that moves the cursor": lambda facts: facts.update(label="\x1b[2J"),
    "a long label": lambda facts: facts.update(label="x" * 501),
    "no label": lambda facts: facts.update(label=""),
    "a number as a label": lambda facts: facts.update(label=1),
    "a switch as a number": lambda facts: facts.update(traits=True),
    "a fraction": lambda facts: facts.update(traits=0.5),
    "a negative number": lambda facts: facts.update(traits=-1),
    "a large number": lambda facts: facts.update(traits=2**32),
    "like nothing": lambda facts: facts.update(like=4000),
    "many parameters": lambda facts: facts.update(parameters=[*facts["parameters"] * 9]),
    "a parameter twice": lambda facts: facts.update(parameters=[*facts["parameters"] * 2]),
    "a parameter with the name of a key": lambda facts: facts["parameters"][0].update(
        name="source"
    ),
    "a parameter that is no name": lambda facts: facts["parameters"][0].update(name="a.b"),
    "bounds that cross": lambda facts: facts["parameters"][0].update(least=7, most=3),
    "a quantity without a unit": lambda facts: facts["quantities"][0].pop("unit"),
    "a name outside": lambda facts: facts.update(name="../../mine"),
    "contents that lead outside": lambda facts: facts.update(source="../../../theirs"),
    "not the contents": lambda facts: facts.update(source="0" * 16),
}


@pytest.mark.parametrize("lie", FACTS)
def test_what_a_folder_says_of_its_controls_is_checked(lie, here, loaded, westwood):
    out = Folder(here / "out")
    facts = json.loads((out.path / "controls.json").read_text())
    if callable(FACTS[lie]):
        FACTS[lie](facts[0])
    else:
        facts = FACTS[lie]
    out.json("controls.json", facts)
    refused = westwood("report", "out").refusal()
    assert not loaded and refused[:-1].isprintable()


@pytest.mark.parametrize("text", ["", "[", "[" * 100_000, "1" * 10_000, "\udcff", "[NaN]"])
def test_a_description_that_is_no_json_is_one_line(text, here, westwood):
    folder = Folder(here / "out")
    folder.file(
        "controls.json", lambda path: path.write_bytes(text.encode("utf-8", "surrogateescape"))
    )
    assert "controls.json" in westwood("report", "out").refusal()


SWEPT = '[sweep]\n"tcp.cc" = ["./a.c", "x/a.c", "cubic", { name = "./a.c", gain = 4 }]\n'


@pytest.fixture
def swept(tmp_path, westwood) -> Path:
    """A folder with two controls of one base name, and their sweep in `out`."""
    (tmp_path / "x").mkdir()
    (tmp_path / "a.c").write_text(MINE, encoding="utf-8")
    (tmp_path / "x" / "a.c").write_text(EVIL, encoding="utf-8")
    path = Scenario.preset("path").with_settings({"duration": "10s"})
    (tmp_path / "s.toml").write_text(path.to_toml() + SWEPT, encoding="utf-8")
    assert westwood(*["sweep", "s.toml", "--seeds", "2", "--out", "out"]).code == 0
    return tmp_path


def goodputs(read: Any) -> list[float]:
    assert read.code == 0, read.err
    rows = json.loads(read.out)["runs"]
    return [row["goodput_bps"] for row in rows if row["seed"] == 1]


def test_a_sweep_over_files_is_read_and_run_again_after_they_changed(swept, westwood):
    rows = Results.read(swept / "out").rows
    assert rows["tcp.cc"].unique().sort().to_list() == sorted(
        ["./a.c", "x/a.c", "cubic", '{ name = "./a.c", gain = 4 }']
    )
    (swept / "a.c").write_text(EVIL + "/* edited */", encoding="utf-8")
    (swept / "x" / "a.c").unlink()
    assert westwood("report", "out").code == 0
    first = rows.filter(seed=1)["goodput_bps"].to_list()
    assert goodputs(westwood("run", "out/scenario.toml", "--seeds", "1", "--json")) == first
    for number, row in enumerate(rows.iter_rows(named=True), start=1):
        words = shlex.split(westwood("report", "out", "--row", number).printed())
        assert words[:3] == ["westwood", "trace", "out/scenario.toml"]
        again = westwood("run", *words[2:-3], "--seeds", "2", "--json")
        assert json.loads(again.out)["runs"][row["seed"] - 1]["goodput_bps"] == row["goodput_bps"]


def test_a_row_of_several_controls_runs_the_contents_that_it_ran(swept, westwood):
    words = "run path --set duration=10s --seeds 1 --cc cubic,./a.c,x/a.c --out both"
    assert westwood(*words.split()).code == 0
    rows = Results.read(swept / "both").rows
    for file in (swept / "a.c", swept / "x" / "a.c"):
        file.write_text(like("vegas", "other"), encoding="utf-8")
    for number, before in enumerate(rows["goodput_bps"], start=1):
        words = shlex.split(westwood("report", "both", "--row", number).printed())
        assert goodputs(westwood("run", *words[2:-3], "--seeds", "1", "--json")) == [before]
    kept = swept / "both" / f"a-{loading._source(MINE.encode())}.c"
    kept.write_text(EVIL, encoding="utf-8")
    for words in (["report", "both", "--row", "2"], ["run", "path", "--cc", str(kept)]):
        assert str(kept.name) in westwood(*words).refusal()


def test_tables_of_controls_have_names_inside_the_folder(swept, westwood, monkeypatch):
    monkeypatch.chdir(swept / "x")
    words = "run path --set duration=10s --seeds 1 --cc ../a.c,./a.c --out both --plot"
    assert westwood(*words.split()).code == 0
    assert westwood("report", "both", "--export").code == 0
    names = {path.name for path in (swept / "x" / "both" / "data").iterdir()}
    assert names == {f"a-{loading._source(text.encode())}.csv" for text in (MINE, EVIL)}


def test_a_recording_that_names_a_file_loads_none(here, loaded):
    from westwood.control.catalogue import PROTOCOLS, is_protocol, label

    assert "./mine.c" not in PROTOCOLS and label("./mine.c") == "mine" and not loaded
    assert is_protocol("./mine.c") and label("./mine.c") == "Mine"


def test_numbers_of_a_folder_are_in_it(here, westwood):
    (here / "lost.txt").write_text("3\n", encoding="utf-8")
    out = Folder(here / "out")
    change(out, "loss", '{ kind = "script", packets = "../lost.txt" }')
    for words in (["report", "out"], ["run", "out/scenario.toml"]):
        assert "expected a file of the results folder" in westwood(*words).err
