# SPDX-License-Identifier: BSD-3-Clause
"""tools/run_suites.py skips unchanged suites, limits CPU time, counts second tries, ends all."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from unittest.mock import Mock

import pytest

from tools import run_suites
from tools.run_suites import Outcome, Runner, summary
from tools.suites import declared, unchanged
from tools.suites.declared import Suite
from tools.suites.inputs import ROOT
from tools.suites.processes import Commands, processes
from tools.suites.second_tries import History, Report, SecondTries, read, second_tries
from tools.suites.unchanged import Inputs

SPIN = "while True: pass"
SUITES = [*declared.BUILDERS, *declared.REAL_TIME, *declared.ALONE]


def ran(build: Path, *suites: Suite, everything: bool = False) -> Runner:
    """Runs suites one after another."""
    runner = Runner(everything=everything, build=build)
    with ThreadPoolExecutor(1) as pool:
        for outcome in runner.start(suites, pool):
            outcome.result()
    return runner


def outcomes(build: Path, *suites: Suite, everything: bool = False) -> dict[str, Outcome]:
    return ran(build, *suites, everything=everything).outcomes


def shell(script: str, name: str = "one", **more: object) -> Suite:
    return Suite(name, "nothing", [["sh", "-c", script]], **more)  # type: ignore[arg-type]


# Limits


@pytest.fixture
def output(tmp_path) -> Iterator[int]:
    with (tmp_path / "output").open("wb") as file:
        yield file.fileno()


def test_a_command_that_spins_is_ended_at_its_limit_of_cpu_time(output):
    ended = Commands().run([sys.executable, "-c", SPIN], output, 1.0)
    assert ended.code == 1 and 1.0 < ended.cpu_s < 10


def test_the_limit_counts_children_too(output):
    script = f"{sys.executable} -c '{SPIN}' & wait"
    ended = Commands().run(["sh", "-c", script], output, 1.0)
    assert ended.code == 1 and ended.cpu_s > 1.0


def test_waiting_is_no_cpu_time(output):
    ended = Commands().run(["sleep", "1"], output, 0.3)
    assert ended.code == 0 and ended.cpu_s < 0.3


def test_a_niceness_holds_for_the_session_too(tmp_path):
    """Linux weighs whole sessions where it groups tasks by them: sched(7), autogroup."""
    group, log = Path("/proc/self/autogroup"), tmp_path / "log"
    script = "sleep 0.5; nice; [ ! -e /proc/self/autogroup ] || cat /proc/self/autogroup"
    with log.open("wb") as output:
        Commands().run(["sh", "-c", script], output.fileno(), 10.0, niceness=10)
    niceness, *session = log.read_text().splitlines()
    assert int(niceness) == 10
    assert [line.split()[-1] for line in session] == (["10"] if group.exists() else [])


def test_the_note_has_wall_clock_and_cpu_time(tmp_path):
    note = outcomes(tmp_path, shell("true"))["one"].note
    assert re.fullmatch(r"[\d.]+ s, [\d.]+ s of CPU time", note)


# Ending


def test_a_process_that_ends_while_processes_are_listed_is_left_out(monkeypatch):
    """/proc/N/stat of a process that is ending has neither contents nor an answer to stat()."""
    monkeypatch.setattr(Path, "exists", Mock(side_effect=ProcessLookupError))
    assert os.getpid() in processes()


def alive(mark: str) -> list[int]:
    """Returns the processes whose arguments contain the mark."""
    living = []
    for pid in processes():
        try:
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            continue
        if mark.encode() in command and pid != os.getpid():
            living.append(pid)
    return living


@pytest.mark.clock
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_compilers_of_a_run(number, tmp_path):
    """They get half a second, also in their own process group, as ninja starts them."""
    mark = f"compiler-{number.name}-{os.getpid()}"
    compiler = f"exec -a {mark} sleep 100"
    suite = f"bash -c '{compiler}' & setsid --wait bash -c '{compiler}' & wait"
    script = f"""
from pathlib import Path
from tools import run_suites
run_suites.BUILDERS[:] = [run_suites.Suite("one", "nothing", [["bash", "-c", {suite!r}]])]
run_suites.REAL_TIME.clear()
run_suites.ALONE.clear()
run_suites.main([], Path({str(tmp_path)!r}))
"""
    with subprocess.Popen([sys.executable, "-c", script], cwd=ROOT) as runner:
        while len(alive(mark)) < 2:
            time.sleep(0.02)
        runner.send_signal(number)
        start = time.monotonic()
        while alive(mark):
            time.sleep(0.01)
        took_s = time.monotonic() - start
        assert runner.wait(10) == 128 + number
    assert took_s < 0.5


def test_tests_may_restore_the_machine_when_a_run_ends(tmp_path):
    restored = tmp_path / "restored"
    script = (
        f"trap 'sleep 1; touch {restored}; exit' INT; echo ready; while true; do sleep 0.1; done"
    )
    commands, log = Commands(), tmp_path / "log"
    with ThreadPoolExecutor(1) as pool, log.open("wb") as output:
        started = pool.submit(
            commands.run, ["bash", "-c", script], output.fileno(), 60, restores=True
        )
        while not log.read_bytes():
            time.sleep(0.02)
        commands.end()
        assert restored.exists() and started.result().code == 0


def test_after_the_end_nothing_starts(tmp_path, output):
    commands = Commands()
    commands.end()
    assert commands.run(["touch", str(tmp_path / "started")], output, 60).code != 0
    assert not (tmp_path / "started").exists()


# Unchanged suites


@pytest.fixture
def repository(tmp_path, monkeypatch) -> Path:
    """A repository with two files, of which a suite reads one."""
    folder = tmp_path / "repository"
    (folder / "core").mkdir(parents=True)
    (folder / "core" / "a.h").write_text("1")
    (folder / "other.h").write_text("1")
    subprocess.run(["git", "init", "-q", folder], check=True)
    monkeypatch.setattr("tools.run_suites.ROOT", folder)
    return folder


def verdicts(build: Path, suite: Suite, **how: bool) -> str:
    return outcomes(build, suite, **how)["one"].verdict


def test_a_suite_that_passed_is_skipped_until_an_input_changes(repository, tmp_path):
    suite = shell("true", inputs=Inputs(("core",)))
    assert verdicts(tmp_path, suite) == "PASS"
    result = outcomes(tmp_path, suite)["one"]
    assert result.verdict == "SKIPPED"
    assert re.fullmatch(r"unchanged since it passed on [\d: -]+: core", result.note)
    (repository / "other.h").write_text("2")
    assert verdicts(tmp_path, suite) == "SKIPPED"
    (repository / "core" / "b.h").write_text("not yet added")
    assert verdicts(tmp_path, suite) == "PASS"
    (repository / "core" / "a.h").write_text("2")
    assert verdicts(tmp_path, suite) == "PASS"
    assert verdicts(tmp_path, suite, everything=True) == "PASS"


def test_another_version_of_a_tool_is_a_change(repository, tmp_path):
    tool = repository / "tool"
    suite = shell("true", inputs=Inputs(("core",), (f"cat {tool}",)))
    tool.write_text("14.0.6")
    assert [verdicts(tmp_path, suite) for _ in range(2)] == ["PASS", "SKIPPED"]
    tool.write_text("15.0.1")
    assert verdicts(tmp_path, suite) == "PASS"


def test_another_command_is_a_change(repository, tmp_path):
    inputs = Inputs(("core",))
    assert verdicts(tmp_path, shell("true", inputs=inputs)) == "PASS"
    assert verdicts(tmp_path, shell(":", inputs=inputs)) == "PASS"


@pytest.mark.parametrize("end", ["exit 1", "exit 77", "kill -9 $$"])
def test_only_a_pass_is_remembered(end, repository, tmp_path):
    suite = shell(end, inputs=Inputs(("core",)))
    verdict = "SKIPPED" if end == "exit 77" else "FAIL"
    results = [outcomes(tmp_path, suite)["one"] for _ in range(2)]
    assert [result.verdict for result in results] == [verdict] * 2
    assert not any("unchanged" in result.note for result in results)


def test_a_failure_forgets_an_earlier_pass(repository, tmp_path):
    flag = tmp_path / "fails"
    suite = shell(f"test ! -e {flag}", inputs=Inputs(("core",)))
    assert verdicts(tmp_path, suite) == "PASS"
    flag.touch()
    assert verdicts(tmp_path, suite, everything=True) == "FAIL"
    flag.unlink()
    assert verdicts(tmp_path, suite) == "PASS"


def test_without_git_every_suite_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("tools.run_suites.ROOT", tmp_path)
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    suite = shell("true", inputs=Inputs(("core",)))
    assert [verdicts(tmp_path, suite) for _ in range(2)] == ["PASS", "PASS"]


def test_a_header_is_an_input_of_what_includes_it(repository):
    (repository / "core" / "a.h").write_text('#include "../other.h"\n#include <stdio.h>\n')
    (repository / "other.h").write_text('#include "third/c.h"\n#include "missing.h"\n')
    (repository / "third").mkdir()
    (repository / "third" / "c.h").write_text('#include "core/a.h"\n')
    names = [str(file.relative_to(repository)) for file in Inputs(("core",)).files(repository)]
    assert names == ["core/a.h", "other.h", "third/c.h"]


def test_parts_that_decide_nothing_are_no_inputs(repository):
    inputs = Inputs((".",), without=("core",))
    names = [str(file.relative_to(repository)) for file in inputs.files(repository)]
    assert "other.h" in names and "core/a.h" not in names
    assert str(inputs) == "everything but core"


# Second tries

SOMETIMES = """
import pathlib, pytest
HERE = pathlib.Path(__file__).parent
@pytest.mark.parametrize("number", range({tests}))
def test_passes(number):
    pass
@pytest.mark.parametrize("number", range({failing}))
def test_fails_once(number):
    done = HERE / f"done-{{number}}"
    had = done.exists()
    done.touch()
    assert had, "the first time"
"""


def with_tests(folder: Path, tests: int, failing: int, monkeypatch: pytest.MonkeyPatch) -> Suite:
    """Returns a suite of tests of which some pass only on the second try."""
    (folder / "logs").mkdir()
    (folder / "test_it.py").write_text(SOMETIMES.format(tests=tests, failing=failing))
    monkeypatch.setattr(declared, "LOGS", folder / "logs")
    monkeypatch.setattr(declared, "BUILD", folder)
    file = str(folder / "test_it.py")
    return declared.pytest("one", "nothing", file, "--rootdir", str(folder))


def test_a_second_try_is_printed_with_its_reason(tmp_path, monkeypatch, capsys):
    suite = with_tests(tmp_path, 99, 1, monkeypatch)
    result = outcomes(tmp_path, suite)["one"]
    assert result.verdict == "PASS"
    assert result.note.endswith("1 of 100 tests passed only on the second try")
    printed = capsys.readouterr().out
    assert "test_fails_once[0]: AssertionError: the first time" in printed


def test_more_than_one_second_try_in_a_hundred_fails(tmp_path, monkeypatch):
    suite = with_tests(tmp_path, 98, 2, monkeypatch)
    result = outcomes(tmp_path, suite)["one"]
    assert result.verdict == "FAIL"
    assert result.note.endswith("2 of 100 tests passed only on the second try")


def test_a_test_may_need_one_second_try_in_a_hundred_runs(tmp_path):
    """A first one is tolerated. The history of a suite is as long as that."""
    history, tries = History(tmp_path / "history.json"), SecondTries(40, {"a": "slow"})
    assert not tries.are_too_many(history.add("one", tries.reasons))
    for _ in range(98):
        assert history.add("one", ()) == {"a"}
    assert history.add("another", ()) == set()
    assert tries.are_too_many(history.add("one", tries.reasons))
    for _ in range(99):
        assert history.add("one", ()) == {"a"}
    assert not tries.are_too_many(history.add("one", tries.reasons))


def test_second_tries_are_those_that_pass_then():
    first, second = Report(200, {"a": "slow", "b": "wrong"}), Report(2, {"b": "wrong"})
    assert second_tries(first, second) == SecondTries(200, {"a": "slow"})


def test_a_report_that_was_cut_short_has_no_tests(tmp_path):
    (tmp_path / "cut.xml").write_text("<testsuites><testcase")
    assert read(tmp_path / "cut.xml") == read(tmp_path / "none.xml") == Report(0, {})


def test_dearest_tests_are_of_this_run(tmp_path, monkeypatch):
    suite, logs = with_tests(tmp_path, 3, 1, monkeypatch), tmp_path / "logs"
    case = '<testsuite><testcase classname="{0}" name="{0}" time="1.5"/></testsuite>'
    (logs / "other.xml").write_text(case.format("old"))
    ctest = f"echo '{case.format('engine/Red.Drops')}' > {logs}/ctest.xml"
    reports = ran(tmp_path, shell("true", "other"), shell(ctest, "ctest"), suite).reports
    assert len(reports["one"].times_s) == 4
    assert reports["other"] == Report(0, {})
    assert reports["ctest"] == Report(1, {}, {"engine/Red.Drops": 1.5})


def test_the_help_says_what_each_suite_proves(capsys):
    with pytest.raises(SystemExit):
        run_suites.main(["--help"])
    printed = capsys.readouterr().out
    assert all(f"  {suite.name:<21}{suite.proves}\n" in printed for suite in SUITES)
    assert len({suite.proves for suite in SUITES}) == len(SUITES)


# The whole


def test_the_summary_counts_and_explains():
    lines = summary(
        {
            "a": Outcome("PASS", "1.0 s"),
            "b": Outcome("FAIL", "2.0 s"),
            "c": Outcome("SKIPPED", "unchanged"),
        },
        {
            "a": Report(2, {}, {"e": 0.25, "long": 70.0}),
            "b": Report(4, {}, {"w": 0.1, "x": 1.0, "y": 2.0, "z": 3.0}),
        },
    )
    times = lines[lines.index("The dearest tests, by the wall clock") + 1 : -2]
    assert [line.split()[-1] for line in times] == ["long", "z", "y", "x", "e"]
    assert times[0] == "     70.0 s  a: long"
    assert lines[-1] == "1 passed, 1 failed, 1 skipped"
    assert "  c                    SKIPPED  unchanged" in lines


def test_a_suite_of_a_missing_tool_names_its_package(tmp_path, monkeypatch):
    monkeypatch.setitem(declared.TOOLS, "clang", (lambda: False, "clang"))
    result = outcomes(tmp_path, shell("true", needs=("clang",)))["one"]
    assert result == Outcome("SKIPPED", "no clang: apt-get install clang")


def test_a_suite_waits_for_those_before_it(tmp_path):
    first = shell(f"sleep 0.3; touch {tmp_path}/built", "first")
    second = shell(f"test -e {tmp_path}/built", "second", after=("first",))
    runner = Runner(build=tmp_path)
    with ThreadPoolExecutor(2) as pool:
        runner.start([first, second], pool)
    assert {outcome.verdict for outcome in runner.outcomes.values()} == {"PASS"}


def test_without_the_package_what_needs_it_fails(tmp_path):
    outcome_of = outcomes(tmp_path, shell("false", "package"), shell("true", after=("package",)))
    assert outcome_of["one"] == Outcome("FAIL", "without the package")


def test_a_suite_comes_after_those_that_it_waits_for():
    seen: set[str] = set()
    for suite in [*declared.BUILDERS, *declared.REAL_TIME, *declared.ALONE]:
        assert seen.issuperset(suite.after), suite.name
        seen.add(suite.name)


def test_the_digest_depends_on_names_too(repository):
    inputs = unchanged.Inputs(("core",))
    before = inputs.digest(repository)
    (repository / "core" / "a.h").rename(repository / "core" / "b.h")
    assert inputs.digest(repository) != before
