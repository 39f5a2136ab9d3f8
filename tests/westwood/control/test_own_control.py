# SPDX-License-Identifier: BSD-3-Clause
"""A control in one C file runs wherever a protocol's name does, and does what it says."""

import errno
import fcntl
import hashlib
import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from unittest.mock import Mock

import pytest
from mine import MINE

from westwood import Control, InputError, Scenario, programs, simulate, simulate_many
from westwood.control import compiling, loading
from westwood.control.catalogue import PROTOCOLS, label, settings_of_protocol, style_of
from westwood.control.writing import like, models
from westwood.experiments.experiment import plan


@pytest.fixture
def eventful() -> Scenario:
    """A path with losses, marks, timeouts and undone reductions, so that all operations run."""
    settings = {
        "duration": "40s",
        "path.loss": {"kind": "uniform", "rate": 0.02},
        "path.queue": {"kind": "red", "limit": "100p", "min": 5, "max": 15, "ecn": True},
        "tcp.ecn": True,
        "tcp.recovery": "sack",
        "tcp.frto": True,
        "tcp.undo": True,
        "tcp.timestamps": True,
        "tcp.header": "52B",
    }
    return Scenario.preset("path").with_settings(settings)


@pytest.mark.parametrize("protocol", sorted(set(models()) & set(PROTOCOLS)))
def test_a_new_control_sets_the_windows_of_the_one_it_is_like(protocol, eventful, tmp_path):
    file = tmp_path / "mine.c"
    file.write_text(like(protocol, "mine"), encoding="utf-8")
    theirs = simulate(eventful.with_settings({"tcp.cc": protocol}), events=True).events
    ours = simulate(eventful.with_settings({"tcp.cc": Control(file)}), events=True).events
    assert ours.equals(theirs)


def test_every_control_can_be_a_beginning():
    assert set(PROTOCOLS) <= set(models())


def test_parameters_are_settings_with_bounds(mine):
    path = Scenario.preset("path").with_settings({"duration": "20s"})
    gentle = path.with_settings({"tcp.cc": Control(mine), "tcp.cc.kept": 900})
    assert simulate(gentle).rows["goodput_bps"][0] > 0
    assert gentle.flow[0].cc.model_dump(exclude_none=True)["kept"] == 900
    with pytest.raises(InputError, match=r"kept = 1000: expected a whole number from 1 to 999"):
        path.with_settings({"tcp.cc": Control(mine, kept=1000)})
    with pytest.raises(InputError, match=r'no such setting, did you mean "kept"'):
        path.with_settings({"tcp.cc": Control(mine, kept_=1)})
    assert list(settings_of_protocol(str(mine)))[:2] == ["gain", "kept"]


def test_cc_key_sets_a_setting_of_every_control_that_has_it(mine):
    path = Scenario.preset("path").with_settings({"duration": "20s"})
    set_first = path.with_settings({"cc.kept": 900, "tcp.cc": Control(mine)})
    assert set_first.flow[0].cc.model_dump(exclude_none=True)["kept"] == 900
    swept = path.with_settings({"tcp.cc": Control(mine)}).with_sweep({"cc.kept": [300, 700]})
    kept = [
        scenario.flow[0].cc.model_dump(exclude_none=True)["kept"] for _, scenario in swept.points()
    ]
    assert kept == [300, 700]
    (point,) = swept.with_settings({"cc.kept": 600}).points()
    assert point[1].flow[0].cc.model_dump(exclude_none=True)["kept"] == 600, "no longer swept"
    settings = path.with_settings({"cc.kept": 300, "tcp.cc.kept": 800, "tcp.cc": Control(mine)})
    assert settings.flow[0].cc.model_dump(exclude_none=True)["kept"] == 800, "the flow's own"
    both = plan(path, cc=[str(mine), "cubic"], settings={"cc.kept": 900}).jobs
    assert [job.scenario.flow[0].cc.name for job in both] == [str(mine), "cubic"]
    with pytest.raises(InputError, match=r'cc\.kept_ = 1: no flow.*did you mean "cc\.kept"'):
        path.with_settings({"tcp.cc": Control(mine), "cc.kept_": 1})


def test_a_parameter_changes_what_the_control_does(mine):
    path = Scenario.preset("path").with_settings({"duration": "60s", "path.loss.rate": 0.01})
    swept = path.with_sweep({"tcp.cc": [Control(mine), Control(mine, gain=20)]})
    slow, fast = (simulate(point).rows["goodput_bps"][0] for _, point in swept.points())
    assert fast > 1.2 * slow


def test_a_trace_shows_the_quantities_that_a_control_names(mine):
    path = Scenario.preset("path").with_settings({"duration": "20s", "tcp.cc": Control(mine)})
    trace = simulate(path, trace=True).trace
    assert 0 < trace["counted"].max() < trace["cwnd"].max()


def test_a_file_is_a_name_in_scenarios_relative_to_their_folder(mine):
    path = Scenario.preset("path").with_settings({"duration": "10s"})
    text = path.to_toml().replace('name = "westwood+"', 'name = "./mine.c"')
    (mine.parent / "mine.toml").write_text(text, encoding="utf-8")
    read = Scenario.from_toml(mine.parent / "mine.toml")
    assert simulate(read).rows["cc"].to_list() == ["./mine.c"]
    assert label("./mine.c") == "Mine"
    assert style_of("./mine.c") != style_of("reno")
    assert Scenario.from_toml(mine.parent / "mine.toml").hash == read.hash
    mine.write_text(MINE + "\n", encoding="utf-8")
    assert Scenario.from_toml(mine.parent / "mine.toml").hash != read.hash, "other contents"


def test_the_colour_of_a_file_does_not_depend_on_what_is_named_or_drawn_first(mine):
    names = [str(mine.with_name(name)) for name in ("first.c", "second.c")]
    script = (
        "import sys; from westwood.control.catalogue import PROTOCOLS, style_of; "
        "from westwood.control import loading\n"
        "assert not any(name in PROTOCOLS for name in sys.argv[2:]), 'nothing was loaded'\n"
        "for name in sys.argv[2:][:: int(sys.argv[1])]: loading.load(name)\n"
        "for name in sys.argv[2:]: PROTOCOLS[name], style_of(name)\n"
        "print([style_of(name).color for name in sys.argv[2:]])"
    )
    for name in names:
        Path(name).write_text(MINE, encoding="utf-8")
    colours = {
        order: subprocess.check_output([sys.executable, "-c", script, order, *names])
        for order in ("1", "-1")
    }
    assert colours["1"] == colours["-1"]


def test_a_scenario_keeps_the_contents_that_it_began_with(mine):
    path = Scenario.preset("path").with_settings({"duration": "20s", "tcp.cc": Control(mine)})
    before = simulate_many(path, seeds=2)["goodput_bps"].to_list()
    mine.write_text("this is no C", encoding="utf-8")
    assert simulate_many(path, seeds=2)["goodput_bps"].to_list() == before
    assert simulate(path.with_settings({"tcp.cc.gain": 9})).rows["goodput_bps"][0] > 0


def test_the_files_of_a_scenario_include_its_control(mine, tmp_path):
    path = Scenario.preset("path").with_settings({"tcp.cc": Control(mine)})
    other = tmp_path / "elsewhere"
    other.mkdir()
    for name, content in path.to_files("scenario").items():
        (other / name).write_text(content, encoding="utf-8")
    mine.unlink()
    read = Scenario.from_toml(other / "scenario.toml")
    assert read.flow[0].cc.source == path.flow[0].cc.source


@pytest.mark.usefixtures("mine")
def test_a_results_folder_runs_no_code_that_was_never_named(tmp_path, westwood):
    words = "run path --set duration=5s --out out --cc ./mine.c"
    assert westwood(*words.split()).code == 0
    text = MINE + "/* of a stranger */"
    (tmp_path / "out" / "mine.c").write_text(text, encoding="utf-8")
    scenario = tmp_path / "out" / "scenario.toml"
    own_hash, theirs = (hashlib.sha256(code.encode()).hexdigest()[:16] for code in (MINE, text))
    scenario.write_text(scenario.read_text().replace(own_hash, theirs), encoding="utf-8")
    assert "runs with your rights" in westwood("run", scenario).refusal()


@pytest.mark.parametrize(
    "words",
    [
        "run path --set duration=10s",
        "compare --duration 10s --seeds 2",
        "sweep path --set duration=10s --seeds 2 --out out",
        "evaluate --only clean --paths 20",
        "control tune --paths 30 --trials 2 --vary kept --packets 1000",
    ],
)
def test_commands_take_a_file_as_a_protocol(words, mine, westwood):
    assert westwood(*words.split(), "--cc", "./mine.c").code == 0


def test_a_sweep_resumes_only_with_the_same_contents(mine, westwood):
    words = "sweep path --set duration=5s --out out --cc ./mine.c,reno --seeds"
    sweep = words.split()
    assert westwood(*sweep, "2").code == 0
    assert westwood(*sweep, "3", "--resume").code == 0
    mine.write_text(MINE + "\n", encoding="utf-8")
    assert "holds another sweep" in westwood(*sweep, "4", "--resume").refusal()


def test_a_search_resumes_only_with_the_same_contents(mine, westwood):
    words = "control tune --cc ./mine.c --paths 30 --packets 200 --vary kept --out out --trials"
    assert westwood(*words.split(), "1").code == 0
    assert westwood(*words.split(), "2", "--resume").code == 0
    mine.write_text(MINE + "\n", encoding="utf-8")
    assert "holds another search" in westwood(*words.split(), "3", "--resume").refusal()


def test_the_worst_cases_of_a_control_run_again(mine, westwood):
    stress = "control stress --cc ./mine.c --harm below-best --environments 200 --out found"
    assert westwood(*stress.split()).code == 0
    (mine.parent / "elsewhere").mkdir()
    mine.rename(mine.parent / "elsewhere" / "mine.c")
    files = sorted((mine.parent / "found" / "findings").glob("mine-below-best-*.toml"))
    assert files and westwood("control", "stress", "--replay", files[0]).code == 0


@pytest.mark.parametrize("engine", ["ns2", "linux"])
def test_other_hosts_refuse_it_in_one_line(engine, mine, westwood):
    refused = westwood("run", "path", "--cc", "./mine.c", "--engine", engine)
    assert refused.code in (2, 77) and refused.err.count("\n") == 1


def test_without_a_compiler_the_message_says_what_to_install(mine, monkeypatch, westwood):
    monkeypatch.setattr(compiling, "compilers", lambda: ())
    mine.write_text(MINE + "/* never compiled before */", encoding="utf-8")
    refused = westwood("run", "path", "--cc", "./mine.c")
    assert refused.code == 77 and "apt-get install gcc" in refused.err


def test_a_damaged_object_in_the_cache_is_compiled_again():
    code = f"{MINE}/* damaged */".encode()
    kept = compiling.compiled(code, "mine.c")
    whole = kept.read_bytes()
    for damaged in (b"", whole[:4096], b"\0" * len(whole)):
        kept.write_bytes(damaged)
        assert not compiling.is_kept(code)
        assert compiling.compiled(code, "mine.c") == kept and compiling.is_kept(code)


@pytest.fixture
def workshop(tmp_path, monkeypatch) -> Path:
    """The folder of a cache of its own, in a process that has loaded no control."""
    folder = tmp_path / "workshop"
    monkeypatch.setattr(programs, "workshop", lambda: folder)
    monkeypatch.setattr(loading, "_by_source", {})
    return folder


def _is_a_link(folder: Path) -> None:
    folder.with_name("others").mkdir()
    folder.symlink_to("others")


def _is_of_another_user(folder: Path) -> None:
    folder.mkdir(mode=0o700)
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    os.chown(folder, 65534, 65534)


def _cannot_be_made(folder: Path) -> None:
    folder.parent.rmdir()
    folder.parent.write_text("")


UNUSABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "mode 0777": (
        lambda folder: (folder.mkdir(), folder.chmod(0o777)),
        "belongs to user [0-9]+, mode 777",
    ),
    "mode 0720": (
        lambda folder: (folder.mkdir(), folder.chmod(0o720)),
        "belongs to user [0-9]+, mode 720",
    ),
    "another user's": (_is_of_another_user, "belongs to user 65534, mode 700"),
    "a link": (_is_a_link, "is a link, expected a folder"),
    "a file": (lambda folder: folder.write_text(""), "can't be used: File exists"),
    "no place": (_cannot_be_made, "can't be used: Not a directory"),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_cache_that_is_not_ours_alone_is_refused_in_one_line(case, workshop, mine, westwood):
    spoil, expected = UNUSABLE[case]
    mine.write_text(f"{MINE}// {case}\n", encoding="utf-8")  # not loaded before
    workshop.mkdir()
    spoil(workshop / "controls")
    refused = westwood("run", "path", "--set", "duration=5s", "--cc", "./mine.c")
    assert refused.code == 1 and refused.err.count("\n") == 1
    assert re.search(f"^westwood: {workshop}/controls: {expected}", refused.err), refused.err


@pytest.mark.parametrize("expected", ["final link failed: No space left on device", "ld: killed"])
def test_a_full_disk_is_not_the_mistake_of_the_file(
    expected, workshop, mine, monkeypatch, westwood
):
    fake = mine.with_name("fakecc")
    mine.write_text(f"{MINE}// {expected}\n", encoding="utf-8")
    fake.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo 1 && exit\necho "{expected}"; exit 1\n'
    )
    fake.chmod(0o755)
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    monkeypatch.setattr(compiling, "compilers", lambda: (compiling.Compiler((str(fake),), "1"),))
    monkeypatch.setattr(os, "posix_fallocate", Mock(side_effect=full))
    refused = westwood("run", "path", "--cc", "./mine.c")
    assert refused.code == 1 and refused.err.count("\n") == 1
    assert "No space left on device" in refused.err and "mine.c" not in refused.err
    assert not list((workshop / "controls").iterdir())


def test_what_a_killed_compiler_left_is_removed_and_what_one_at_work_has_is_not(workshop):
    left, used = (workshop / "controls" / f"new-{name}" for name in ("left", "used"))
    for file in (left, used):
        file.mkdir(parents=True)
        (file / "control.c").write_text("")
    (workshop / "controls").chmod(0o700)
    held = os.open(used, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    compiling.compiled(f"{MINE}// after a kill\n".encode(), "mine.c")
    os.close(held)
    assert used.exists() and not left.exists()


def test_a_file_that_changes_during_a_command_keeps_its_first_contents(mine):
    from westwood.control import one_command

    with one_command():
        first = loading.load(str(mine))
        mine.write_text(MINE + "\n", encoding="utf-8")
        assert loading.load(str(mine)) == first
    assert loading.load(str(mine)) != first


def test_new_writes_a_file_that_runs_and_overwrites_none(westwood):
    assert westwood("control", "new", "mine", "--like", "cubic").code == 0
    assert westwood("run", "path", "--set", "duration=5s", "--cc", "./mine.c").code == 0
    westwood("control", "new", "mine").refusal()


def test_new_says_how_to_run_a_file_elsewhere(tmp_path, westwood):
    assert f"--cc {tmp_path}/mine.c,reno" in westwood("control", "new", tmp_path / "mine").printed()


@pytest.mark.parametrize("compiler, ends", [("sleep 1.3", True), ("while :; do :; done", False)])
def test_a_compiler_may_wait_but_not_work_too_long(compiler, ends, monkeypatch):
    """A busy machine does not make a control too long to compile."""
    monkeypatch.setattr(compiling, "LONGEST_S", 1)
    command = ["sh", "-c", compiler]
    if ends:
        assert compiling.run(command, "mine.c").code == 0
        return
    with pytest.raises(InputError, match=r"mine\.c: takes more than 1 s to compile"):
        compiling.run(command, "mine.c")
