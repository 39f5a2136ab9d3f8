# SPDX-License-Identifier: BSD-3-Clause
"""Programs are found in the right places, and remedies fit the kind of installation."""

import time
from pathlib import Path

import pytest

from westwood import __version__, programs
from westwood.errors import RunError, UnavailableError
from westwood.programs import Program

PROGRAM = Program(
    "linux/ww-thing", "WW_THING", "a thing is needed", "make thing", "pip install thing", "its.o"
)


@pytest.fixture
def package(tmp_path, monkeypatch) -> Path:
    """An installed package, not a checkout, with the user's cache."""
    monkeypatch.setattr(programs, "_PACKAGE", tmp_path / "site" / "westwood")
    monkeypatch.setattr(programs, "CHECKOUT", None)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(PROGRAM.variable, raising=False)
    return tmp_path / "site" / "westwood"


def placed_program(folder: Path, mode: int = 0o755, companion: str = "its.o") -> Path:
    folder.mkdir(parents=True)
    path = folder / "ww-thing"
    path.write_text("")
    path.chmod(mode)
    (folder / companion).write_text("")
    return path


def test_the_packages_program_precedes_a_built_one(package):
    built = placed_program(programs.workshop() / "linux")
    assert PROGRAM.find() == built
    brought = placed_program(package / "bin")
    assert PROGRAM.find() == brought


@pytest.mark.parametrize("mode", [0o777, 0o720])
def test_a_cache_that_others_may_write_is_not_trusted(package, mode):
    built = placed_program(programs.workshop() / "linux")
    programs.workshop().chmod(mode)
    with pytest.raises(RunError, match=f"mode {mode:o}, so others may have changed it"):
        PROGRAM.find()
    programs.workshop().chmod(0o755)
    assert PROGRAM.find() == built


def test_the_variable_precedes_both(package, tmp_path, monkeypatch):
    placed_program(package / "bin")
    monkeypatch.setenv(PROGRAM.variable, str(placed_program(tmp_path / "mine")))
    assert PROGRAM.find().parent == tmp_path / "mine"
    monkeypatch.setenv(PROGRAM.variable, str(tmp_path / "gone"))
    with pytest.raises(UnavailableError, match=r"WW_THING names no gone with its.o next to it"):
        PROGRAM.find()


@pytest.mark.parametrize(("mode", "companion"), [(0o644, "its.o"), (0o755, "other.o")])
def test_a_program_must_be_executable_and_have_its_companion(package, mode, companion):
    placed_program(package / "bin", mode, companion)
    with pytest.raises(UnavailableError):
        PROGRAM.find()


def test_a_remedy_names_make_in_a_checkout_only(package, tmp_path, monkeypatch):
    with pytest.raises(UnavailableError, match=r"and it is not installed: pip install thing$"):
        PROGRAM.find()
    monkeypatch.setattr(programs, "CHECKOUT", tmp_path)
    with pytest.raises(UnavailableError, match=r"and it is not built: make thing$"):
        PROGRAM.find()


def test_this_checkout_builds_in_its_own_folder():
    root = Path(__file__).parents[2]
    assert root == programs.CHECKOUT == programs.sources()
    assert programs.workshop() == root / "build"


@pytest.mark.parametrize("named", ["", "relative/caches"])
def test_caches_belong_to_the_user_and_this_version(package, tmp_path, monkeypatch, named):
    assert programs.workshop() == tmp_path / "cache" / "westwood" / __version__
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CACHE_HOME", named)  # the XDG standard ignores relative paths
    assert programs.workshop() == tmp_path / "home" / ".cache" / "westwood" / __version__
    assert programs.sources() == package / "sources"


def test_root_finds_system_programs_only_where_nobody_else_may_put_them(tmp_path, monkeypatch):
    safe, others = (
        placed_program(tmp_path / "safe").parent,
        placed_program(tmp_path / "others").parent,
    )
    monkeypatch.setattr(programs, "_is_roots", lambda folder: folder.name != "others")
    monkeypatch.setattr(programs, "_MORE_FOLDERS", "/nowhere")
    monkeypatch.chdir(tmp_path)

    def path_of(path: str, user: int = 0) -> str | None:
        monkeypatch.setenv("PATH", path)
        monkeypatch.setattr(programs.os, "geteuid", lambda: user)
        return programs.system_program("ww-thing")

    assert path_of(f"{others}:{safe}") == str(safe / "ww-thing")
    assert path_of(str(others)) is None and path_of("safe") is None, "a relative folder"
    assert path_of(str(others), user=1000) == str(others / "ww-thing")
    assert path_of("safe", user=1000) is not None


def test_what_a_program_has_started_ends_with_it(tmp_path):
    command = ["sh", "-c", f"sleep 60 & echo $! > {tmp_path}/started; wait"]
    with pytest.raises(TimeoutError):
        programs.run(command, "", timeout_s=0.3)
    assert _ends(int((tmp_path / "started").read_text()))


def _ends(process: int) -> bool:
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and _runs(process):
        time.sleep(0.01)
    return not _runs(process)


def _runs(process: int) -> bool:
    """Returns whether a process is neither gone nor dead."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


def test_a_program_that_reads_nothing_or_prints_without_end_does_not_hang(monkeypatch):
    """Its input does not fit into a pipe, and its output neither."""
    monkeypatch.setattr(programs, "_MOST_OUTPUT", 1_000_000)
    much = "x" * 1_000_000
    assert programs.run(["head", "-c", "300000", "/dev/zero"], much).out == "\0" * 300_000
    with pytest.raises(RunError, match="yes prints without end: more than 0 MB"):
        programs.run(["yes"], much, timeout_s=60)


def test_what_holds_the_output_of_a_program_that_has_ended_is_ended():
    began = time.monotonic()
    ended = programs.run(["sh", "-c", "sleep 60 & echo $!"], "", timeout_s=30)
    assert ended.code == 0 and time.monotonic() - began < 10
    assert _ends(int(ended.out))


def test_a_program_that_does_not_start_is_one_line(tmp_path):
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    with pytest.raises(UnavailableError, match="text does not start: Exec format error"):
        programs.run([tmp_path / "text"], "")
