# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants of the Python package: the tests that call a mutant's function import it.

All fast tests run once, while hook/sitecustomize.py records the functions that each test calls, in
any process. Then a mutant meets only the tests that call its function, most specific first.
Code that no fast test calls is not mutated: tests/linux or the slow tests cover it.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

from tools.mutants import py_code
from tools.mutants.c_code import Mutant
from tools.mutants.verdict import BUILD, CAUGHT, LISTED, ROOT, SURVIVED, Key, Verdict, run

FOLDER = BUILD / "westwood"
HOOK = Path(__file__).parent / "hook"
TESTS = ROOT / "tests" / "westwood"
MAP = FOLDER / "called.json"
FAST_S = 3.0  # of CPU time; slower tests are not used
MOST_S, MOST = 30.0, 200  # for all tests of a mutant together
NO_LOGIC = ("draw/",)  # layout of pictures, which tests do not check
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
Called = dict[str, dict[str, object]]  # by test: its CPU seconds, and the functions that it calls


def of_folder(folder: Path) -> list[list[Mutant]]:
    """Returns the mutants in functions that a fast test calls, grouped by token."""
    reached = {
        (file, name)
        for one in called().values()
        for file, name in one["calls"]  # type: ignore[attr-defined]
    }
    pool = py_code.of_folder(folder, NO_LOGIC)
    return [several for several in pool if (several[0].file, several[0].function) in reached]


def called() -> Called:
    """Returns what each fast test calls; runs the tests that are new or changed."""
    seen = json.loads(MAP.read_text()) if MAP.exists() else {"sums": {}, "tests": {}}
    sums = {
        str(path.relative_to(ROOT)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in TESTS.rglob("test_*.py")
    }
    new = sorted(file for file in sums if seen["sums"].get(file) != sums[file])
    kept = set(sums) - set(new)
    known: Called = {test: one for test, one in seen["tests"].items() if file_of(test) in kept}
    if new:
        known |= trace(new)
        MAP.write_text(json.dumps({"sums": sums, "tests": known}))
    return {test: one for test, one in known.items() if float(str(one["s"])) <= FAST_S}


def file_of(test: str) -> str:
    return test.split("::")[0]


def trace(files: list[str]) -> Called:
    """Runs these test files, and returns what their tests call."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as made:
        jobs = str(len(os.sched_getaffinity(0)))
        done = run(
            [*PYTEST, "-n", jobs, *files],
            env=environment(WW_CALLED=made, PYTEST_PLUGINS="ww_called"),
        )
        if done.returncode not in (0, 1, 5):  # 5: slow tests only
            sys.exit("the package's tests do not run\n" + done.stdout[-10_000:] + done.stderr)
        for line in re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.M):
            print(f"left out, since it fails without a mutant: {line}")
        calls: dict[str, set[tuple[str, str]]] = defaultdict(set)
        took: dict[str, float] = {}
        for path in Path(made).iterdir():
            record = json.loads(path.read_text())
            took |= record["took"]
            for test, names in record["calls"].items():
                calls[test] |= {(file, name) for file, name in names}
    return {test: {"s": seconds, "calls": sorted(calls[test])} for test, seconds in took.items()}


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HOOK), "PYTHONDONTWRITEBYTECODE": "1", **more}


class Tests:
    """The tests to run on a mutant, by the function that contains it."""

    def __init__(self, listed: set[Key]) -> None:
        self.listed = listed
        self.of_function: dict[tuple[str, str], list[tuple[int, float, str]]] = defaultdict(list)
        for test, one in called().items():
            calls: list[list[str]] = one["calls"]  # type: ignore[assignment]
            for file, name in calls:
                asked = (len(calls), float(str(one["s"])), test)
                self.of_function[file, name].append(asked)

    def asked(self, mutant: Mutant) -> tuple[list[str], float]:
        """Returns the tests that call the mutant's function, and their seconds.

        Tests that call the fewest functions come first: they are the most specific.
        """
        chosen, all_s = [], 0.0
        for _, seconds, test in sorted(self.of_function[mutant.file, place_of(mutant)])[:MOST]:
            if all_s + seconds <= MOST_S:
                all_s += seconds
                chosen.append(test)
        return chosen, all_s

    def judge(self, mutant: Mutant) -> Verdict:
        tests, seconds = self.asked(mutant)
        path = ROOT / "westwood" / mutant.file
        text = path.read_text(encoding="utf-8")
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as made:
            mutated = Path(made) / "mutant.py"
            mutated.write_text(mutant.applied(text))
            which = f"{path}::{mutated}"
            done = attempt(which, tests, Path(made), 20 + 3 * seconds) if tests else None
        if done is not None and "ERROR: not found" in done.stderr + done.stdout:
            sys.exit(f"{MAP.relative_to(ROOT)} names tests that are gone: remove it\n{done.stderr}")
        if done is not None and done.returncode != 0:
            failed = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.M)
            return Verdict(mutant, CAUGHT, failed[1] if failed else "a test that crashes")
        return Verdict(mutant, LISTED if mutant.key in self.listed else SURVIVED)


def place_of(mutant: Mutant) -> str:
    """Returns the function that contains the mutant, or the mutant's own nested function."""
    text = (ROOT / "westwood" / mutant.file).read_text(encoding="utf-8")
    holders = [
        (first, name)
        for name, first, last in py_code.functions(text)
        if first <= mutant.number <= last
    ]
    return max(holders)[1] if holders else ""


def attempt(
    mutant: str, tests: list[str], folder: Path, patience_s: float
) -> subprocess.CompletedProcess[str]:
    """Runs tests on a mutant until one fails. An endless loop counts as a failure."""
    limits = [f"--cpu={round(patience_s)}", f"--as={8 << 30}", "--core=0"]
    command = ["prlimit", *limits, *PYTEST, "-x", "-rfE", "--tb=no", "-n", "0"]
    command += [f"--basetemp={folder / 'made'}", *tests]
    try:
        return run(command, env=environment(WW_MUTANT=mutant), timeout=20 * patience_s)
    except subprocess.TimeoutExpired as late:
        return subprocess.CompletedProcess(late.cmd, 1, "", "")
    finally:
        shutil.rmtree(folder / "made", ignore_errors=True)
