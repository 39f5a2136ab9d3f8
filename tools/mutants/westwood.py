# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants of the Python package: the tests that call a mutant's function import it.

All fast tests run once, while hook/sitecustomize.py records the functions that each test calls and
the lines that it runs, in any process. Then a mutant meets only the tests that run its statement,
since others cannot notice it. The one that caught it last time comes first, then the most specific.
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
import threading
from collections import defaultdict
from pathlib import Path
from typing import Any

from tools.mutants import py_code
from tools.mutants.c_code import Mutant
from tools.mutants.verdict import BUILD, CAUGHT, LISTED, ROOT, SURVIVED, Key, Verdict, run

FOLDER = BUILD / "westwood"
HOOK = Path(__file__).parent / "hook"
TESTS = ROOT / "tests" / "westwood"
MAP = FOLDER / "called.json"
MEMORY = FOLDER / "caught.json"  # by which test each mutant was caught last
REMEMBERING = threading.Lock()
FAST_S = 3.0  # of CPU time; slower tests are not used
MOST_S, MOST = 30.0, 200  # for all tests of a mutant together
FIRST = 8  # tests that run before the others: collecting many takes longer than running these
NO_LOGIC = ("draw/",)  # layout of pictures, which tests do not check
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
Called = dict[str, dict[str, Any]]  # by test: CPU seconds, functions called, lines run by file


def of_folder(folder: Path) -> list[list[Mutant]]:
    """Returns the mutants in functions that a fast test calls, grouped by token.

    Bodies of classes and modules have none: when they run, a test need not have begun.
    """
    called_ones = {(file, name) for record in called().values() for file, name in record["calls"]}
    reached = called_ones & {
        (str(path.relative_to(folder)), name)
        for path in folder.rglob("*.py")
        for name, _, _ in py_code.functions(path.read_text(encoding="utf-8"))
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
    known: Called = {
        test: record for test, record in seen["tests"].items() if file_of(test) in kept
    }
    if new:
        known |= trace(new)
        MAP.write_text(json.dumps({"sums": sums, "tests": known}))
    return {test: record for test, record in known.items() if record["s"] <= FAST_S}


def file_of(test: str) -> str:
    return test.split("::")[0]


def trace(files: list[str]) -> Called:
    """Runs these test files, and returns what their tests call."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        jobs = str(len(os.sched_getaffinity(0)))
        done = run(
            [*PYTEST, "-n", jobs, *files],
            env=environment(WW_CALLED=folder, PYTEST_PLUGINS="ww_called"),
        )
        if done.returncode not in (0, 1, 5):  # 5: slow tests only
            sys.exit("the package's tests do not run\n" + done.stdout[-10_000:] + done.stderr)
        for line in re.findall(r"^(?:FAILED|ERROR) .*", done.stdout, re.M):
            print(f"left out, since it fails without a mutant or takes long: {line}")
        calls: dict[str, set[tuple[str, str]]] = defaultdict(set)
        lines: dict[str, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
        took: dict[str, float] = {}
        for path in Path(folder).glob("*.json"):
            record = json.loads(path.read_text())
            took |= record["took"]
            for test, of_test in record["calls"].items():
                for file, name, numbers in of_test:
                    calls[test].add((file, name))
                    lines[test][file] |= set(numbers)
    return {
        test: {
            "s": seconds,
            "calls": sorted(calls[test]),
            "lines": {file: sorted(numbers) for file, numbers in lines[test].items()},
        }
        for test, seconds in took.items()
    }


def environment(**more: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(HOOK), "PYTHONDONTWRITEBYTECODE": "1", **more}


class Tests:
    """The tests to run on a mutant, by the function that contains it."""

    def __init__(self, listed: set[Key]) -> None:
        self.listed = listed
        self.called = called()
        self.memory = json.loads(MEMORY.read_text()) if MEMORY.exists() else {}
        self.of_function: dict[tuple[str, str], list[str]] = defaultdict(list)
        for test, record in self.called.items():
            for file, name in record["calls"]:
                self.of_function[file, name].append(test)

    def asked(self, mutant: Mutant) -> tuple[list[str], float]:
        """Returns the tests that may notice a mutant, and their seconds.

        They run its statement, or call its function if no test is known to run the statement.
        Those that call the fewest functions come first: they are the most specific.
        """
        text = (ROOT / "westwood" / mutant.file).read_text(encoding="utf-8")
        lines = set(py_code.statement(text, mutant.number))
        those = self.of_function[mutant.file, place_of(mutant)]
        running = [test for test in those if lines & set(self.called[test]["lines"][mutant.file])]
        chosen, all_s = [], 0.0
        for test in sorted(running or those, key=self._order)[:MOST]:
            if all_s + self.called[test]["s"] <= MOST_S:
                all_s += self.called[test]["s"]
                chosen.append(test)
        return chosen, all_s

    def _order(self, test: str) -> tuple[int, float, str]:
        record = self.called[test]
        return len(record["calls"]), record["s"], test

    def judge(self, mutant: Mutant) -> Verdict:
        tests, seconds = self.asked(mutant)
        path = ROOT / "westwood" / mutant.file
        text = path.read_text(encoding="utf-8")
        FOLDER.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
            mutated = Path(folder) / "mutant.py"
            mutated.write_text(mutant.applied(text))
            which = f"{path}::{mutated}"
            for some in filter(None, self._stages(mutant, tests)):
                code, output = attempt(which, some, Path(folder), 20 + 3 * seconds)
                if "ERROR: not found" in output:
                    sys.exit(f"{MAP} names tests that are gone: remove it\n{output}")
                if code != 0:
                    failed = re.search(r"^(?:FAILED|ERROR) (\S+)", output, re.M)
                    return self._caught(mutant, failed[1] if failed else "a test that crashes")
        return Verdict(mutant, LISTED if mutant.key in self.listed else SURVIVED)

    def _stages(self, mutant: Mutant, tests: list[str]) -> list[list[str]]:
        """Divides the tests, because collecting many takes longer than running a few."""
        last = self.memory.get(str(mutant.key))
        rest = [test for test in tests if test != last]
        return [[last] if last in tests else [], rest[:FIRST], rest[FIRST:]]

    def _caught(self, mutant: Mutant, test: str) -> Verdict:
        with REMEMBERING:
            self.memory[str(mutant.key)] = test
            MEMORY.write_text(json.dumps(self.memory))
        return Verdict(mutant, CAUGHT, test)


def place_of(mutant: Mutant) -> str:
    """Returns the function that contains the mutant, or the mutant's own nested function."""
    text = (ROOT / "westwood" / mutant.file).read_text(encoding="utf-8")
    holders = [
        (first, name)
        for name, first, last in py_code.functions(text)
        if first <= mutant.number <= last
    ]
    return max(holders)[1] if holders else ""


def attempt(mutant: str, tests: list[str], folder: Path, cpu_s: float) -> tuple[int, str]:
    """Runs tests on a mutant until one fails; an endless loop fails, too.

    Returns the exit code and the output.
    """
    out = folder / "out"
    arguments = [*PYTEST[3:], "-x", "-rfE", "--tb=no", "-n", "0"]
    asked = {
        "mutant": mutant,
        "arguments": [*arguments, f"--basetemp={folder / 'made'}", *tests],
        "cpu_s": round(cpu_s),
        "wait_s": 20 * cpu_s,
        "out": str(out),
    }
    code = answer(json.dumps(asked))
    shutil.rmtree(folder / "made", ignore_errors=True)
    return code, out.read_text(errors="replace")


def answer(line: str) -> int:
    """Asks this thread's warm process."""
    if not hasattr(warm, "process"):
        warm.process = subprocess.Popen(
            [sys.executable, "-m", "tools.mutants.warm"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=environment(),
        )
    warm.process.stdin.write(line + "\n")
    warm.process.stdin.flush()
    return int(warm.process.stdout.readline())


warm = threading.local()
