# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants of a room in C++, all in one program: an environment variable selects one.

A function with mutants contains its body once for each of them and once unchanged:

    if (::ww_mutants::is(17)) { the body of mutant 17 } else { the body }

A conditional expression selects code outside a body, such as a member's initial value. So the
room and its tests are compiled once for all mutants. A #line directive names each mutant, so the
compiler's messages show which ones do not compile, and those are left out.

First each test runs alone on the unchanged room and notes the mutants whose code it reaches. The
other tests cannot notice a mutant, so they do not run on it, nor do tests that are not fast. The
test that caught a mutant last time runs first, then the others, quickest first.
"""

from __future__ import annotations

import bisect
import functools
import json
import re
import shutil
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from tools.mutants import cxx_code, verdict
from tools.mutants.c_code import Mutant

SWITCH = """\
#pragma once
#include <cstdio>
#include <cstdlib>
#include <ctime>
namespace ww_mutants {
inline bool reached[1 << 16];
// Writes the CPU time in seconds and the numbers of the mutants that were reached.
inline void write() {
    std::FILE* const file = std::fopen(std::getenv("WW_REACHED"), "w");
    std::fprintf(file, "%.6f", static_cast<double>(std::clock()) / CLOCKS_PER_SEC);
    for (int number = 0; number < 1 << 16; number++)
        if (reached[number]) std::fprintf(file, " %d", number);
    std::fclose(file);
}
inline const int chosen = [] {
    const char* const text = std::getenv("WW_MUTANT");
    if (std::getenv("WW_REACHED") != nullptr) std::atexit(write);
    return text != nullptr ? std::atoi(text) : 0;
}();
inline bool is(int number) {
    if (chosen == 0) reached[number] = true;
    return chosen == number;
}
}  // namespace ww_mutants
"""
SOURCES = ("core", "engine", "metrics", "plan", "wire")
# What CMakeLists.txt needs.
NEEDED = ("CMakeLists.txt", "cmake", *SOURCES, "tests/fuzz", "tests/golden")
NEEDED += tuple(f"tests/{room}" for room in SOURCES)
# The assertions make an access beyond a vector crash, as in the sanitized suites.
FLAGS = "-O1 -w -Wno-narrowing -D_GLIBCXX_ASSERTIONS -include {}/mutants.hpp"
# The assertions make an access beyond a vector crash, as in the sanitized suites.
FLAGS = "-O1 -w -Wno-narrowing -D_GLIBCXX_ASSERTIONS -include {}/mutants.hpp"
REMEMBERING = threading.Lock()
# Memory limit of a test, bytes; only the sanitized suites need more.
MOST_MEMORY = 4 << 30
# Seconds between the stages: slower tests run after the others.
STAGES = (0.01, 0.06)
FAST_S = 0.3  # CPU time of a test that is fast
MOST_S = 1  # of any test


def schema(path: Path, mutants: dict[int, Mutant]) -> str:
    """Returns the text of a file with all these mutants, selected by their numbers."""
    text = path.read_text()
    bodies = cxx_code.bodies(text)
    changes: list[tuple[int, int, str]] = []
    values: dict[tuple[int, int], list[int]] = defaultdict(list)
    inside: dict[cxx_code.Body, list[int]] = defaultdict(list)
    for number, mutant in mutants.items():
        holders = [body for body in bodies if body.first < mutant.start and mutant.end <= body.last]
        if holders:
            inside[holders[0]].append(number)
        else:
            values[mutant.start, mutant.end].append(number)
    for (first, last), numbers in values.items():
        choices = [f"::ww_mutants::is({n}) ? ({mutants[n].new}) :" for n in numbers]
        parts = [named(n, choice, text, first) for n, choice in zip(numbers, choices, strict=True)]
        changes.append((first, last, "(" + "".join(parts) + f"({text[first:last]}))"))
    for body, numbers in inside.items():
        whole = text[body.first : body.last + 1]
        parts = []
        for number in numbers:
            chosen = mutants[number]
            mutated = (
                text[body.first : chosen.start] + chosen.new + text[chosen.end : body.last + 1]
            )
            guard = "!__builtin_is_constant_evaluated() && " if body.is_constexpr else ""
            parts.append(f"if ({guard}::ww_mutants::is({number}))")
            parts.append(named(number, mutated, text, body.first) + "else")
        changes.append((body.first, body.last + 1, "{" + " ".join(parts) + whole + "}"))
    for first, last, new in sorted(changes, reverse=True):
        text = text[:first] + new + text[last:]
    # Inlining these copies everywhere would take minutes to compile.
    return re.sub("gnu::(always_inline|flatten)", "gnu::noinline", text)


def named(number: int, code: str, text: str, after: int) -> str:
    """Gives a piece of code a file name of its own for the compiler's messages."""
    line = text.count("\n", 0, after) + 1
    return f'\n#line 1 "mutant-{number}"\n{code}\n#line {line}\n'


@dataclass
class Program:
    """The tests of a room, built with all mutants of a run, and their verdict on each."""

    room: str
    mutants: dict[int, Mutant]
    listed: set[verdict.Key] = field(default_factory=set)
    named: bool = False  # the mutants are known to have an effect
    jobs: int = 1
    broken: set[int] = field(default_factory=set)
    took: dict[str, float] = field(default_factory=dict)  # seconds of each test
    reaching: dict[int, set[str]] = field(default_factory=dict)  # the tests that reach a mutant
    caught_by: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.source = verdict.ROOT / self.room
        self.tree = verdict.BUILD / self.room / "tree"
        self.build_folder = verdict.BUILD / self.room / "made"
        self.file = self.build_folder / f"ww_{self.room}_tests"
        self.memory = (
            verdict.BUILD / self.room / "caught.json"
        )  # by which test each was caught last

    def build(self) -> None:
        while True:
            self.write({n: m for n, m in self.mutants.items() if n not in self.broken})
            errors = self.compile()
            if not errors:
                break
            self.broken |= errors
        self.learn_reach()
        if self.memory.exists():
            self.caught_by = json.loads(self.memory.read_text())

    def write(self, mutants: dict[int, Mutant]) -> None:
        """Writes the sources, but only the files that change."""
        write(self.tree / "mutants.hpp", SWITCH)
        copied = (f"tests/{self.room}", "tests/fuzz")  # so that ".." in their includes is the tree
        for name in set(NEEDED) - {self.room, *copied}:
            path = self.tree / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(verdict.ROOT / name)
        of_file: dict[str, dict[int, Mutant]] = defaultdict(dict)
        for number, mutant in mutants.items():
            of_file[mutant.file][number] = mutant
        for name in copied:
            folder = verdict.ROOT / name
            keep(self.tree / name, {file: (folder / file).read_text() for file in files(folder)})
        sources = {name: schema(self.source / name, of_file[name]) for name in files(self.source)}
        keep(self.tree / self.room, sources)

    def compile(self) -> set[int]:
        """Compiles everything; returns the numbers of the mutants that do not compile."""
        if not (self.build_folder / "build.ninja").exists():
            flags = f"-D CMAKE_CXX_FLAGS_DEBUG={FLAGS.format(self.tree)}"
            options = ["-D", "CMAKE_BUILD_TYPE=Debug", flags, "-D", "WW_WERROR=OFF", "-G", "Ninja"]
            done = verdict.run(
                ["cmake", "-S", str(self.tree), "-B", str(self.build_folder), *options]
            )
            if done.returncode:
                sys.exit(done.stdout + done.stderr)
        done = verdict.run(
            [
                "cmake",
                "--build",
                str(self.build_folder),
                "--target",
                self.file.name,
                "--",
                "-k",
                "0",
            ]
        )
        if done.returncode == 0:
            return set()
        numbers = {
            int(number) for number in re.findall(r"^mutant-(\d+):[\d:]+ error:", done.stdout, re.M)
        }
        if not numbers:
            sys.exit(done.stdout[-20_000:] + done.stderr)
        return numbers

    def learn_reach(self) -> None:
        """Runs each test alone on the unchanged room: its duration, and the mutants it reaches.

        Alone, because a test may find what it needs ready from an earlier one.
        """
        tests = self.tests()
        with ThreadPoolExecutor(self.jobs) as workers:
            reached = workers.map(self.reached, tests)
            for test, (seconds, numbers) in zip(tests, reached, strict=True):
                if seconds > FAST_S:
                    continue
                self.took[test] = seconds
                for number in numbers:
                    self.reaching.setdefault(number, set()).add(test)

    def tests(self) -> list[str]:
        tests, suite = [], ""
        for line in verdict.must([str(self.file), "--gtest_list_tests"]).splitlines():
            name = line.split("#")[0].strip()
            if line.startswith(" "):
                tests.append(suite + name)
            elif name.endswith("."):
                suite = name
        return tests

    def reached(self, test: str) -> tuple[float, list[int]]:
        """Runs a test on the unchanged room; returns its seconds and the mutants it reaches.

        A test that takes longer than MOST_S is ended.
        """
        with tempfile.NamedTemporaryFile(dir=verdict.BUILD) as file:
            command = ["env", f"WW_REACHED={file.name}", "prlimit", f"--cpu={MOST_S}", "--core=0"]
            done = verdict.run([*command, str(self.file), f"--gtest_filter={test}"], cwd=self.tree)
            if done.returncode in (-signal.SIGKILL, -signal.SIGXCPU):
                return MOST_S, []
            if done.returncode:
                sys.exit(f"{self.room}/ itself fails its tests\n" + done.stdout)
            seconds, *numbers = Path(file.name).read_text().split()
        return float(seconds), [int(number) for number in numbers]

    def attempt(self, number: int, tests: list[str], patience_s: float) -> str:
        """Runs tests on a mutant; returns the first one that fails, crashes or hangs, or nothing.

        The limit is on CPU time, so that a busy machine does not make a mutant count as caught.
        """
        limits = [f"--as={MOST_MEMORY}", f"--cpu={round(patience_s)}", "--core=0"]
        command = ["env", f"WW_MUTANT={number}", "prlimit", *limits, str(self.file)]
        command += [f"--gtest_filter={':'.join(tests)}", "--gtest_fail_fast"]
        done = verdict.run(command, cwd=self.tree, errors="replace")
        if done.returncode == 0:
            return ""
        failed = re.findall(r"^\[  FAILED  \] (\S+?),?(?: |$)", done.stdout, re.M)
        ran = re.findall(r"^\[ RUN {6}\] (\S+)", done.stdout, re.M)  # the last of them crashed
        return (failed[:1] or ran[-1:] or tests)[0]

    def stages(self, number: int) -> list[list[str]]:
        """Returns the tests that reach a mutant, in the order in which to run them."""
        tests = sorted(self.reaching.get(number, ()), key=self.took.__getitem__)
        last = self.caught_by.get(name_of(self.mutants[number]))
        first = [test for test in tests if test == last]
        groups: list[list[str]] = [[] for _ in range(len(STAGES) + 1)]
        for test in tests:
            if test != last:
                groups[bisect.bisect(STAGES, self.took[test])].append(test)
        return [group for group in (first, *groups) if group]

    def judge(self, number: int) -> verdict.Verdict:
        mutant = self.mutants[number]
        if number in self.broken:
            return verdict.Verdict(mutant, verdict.NOT_COMPILED)
        is_listed = mutant.key in self.listed
        stages = self.stages(number)
        for tests in stages[:1] if is_listed else stages:  # no test caught it when it was listed
            failed = self.attempt(number, tests, 2 + 6 * sum(self.took[test] for test in tests))
            if failed:
                self.remember(mutant, failed)
                return verdict.Verdict(mutant, verdict.CAUGHT, failed)
        if is_listed:
            return verdict.Verdict(mutant, verdict.LISTED)
        same = not self.named and same_code(self.source, mutant)
        return verdict.Verdict(mutant, verdict.SAME_CODE if same else verdict.SURVIVED)

    def remember(self, mutant: Mutant, test: str) -> None:
        with REMEMBERING:
            self.caught_by[name_of(mutant)] = test
            self.memory.write_text(json.dumps(self.caught_by, indent=0))


def name_of(mutant: Mutant) -> str:
    return " | ".join(mutant.key)


def files(folder: Path) -> list[str]:
    """Returns the names of the sources below a folder, relative to it."""
    paths = (path for path in folder.rglob("*") if path.suffix in (".hpp", ".cpp", ".h"))
    return sorted(str(path.relative_to(folder)) for path in paths)


def write(path: Path, text: str) -> None:
    """Writes a file unless it is unchanged, so that nothing is compiled needlessly."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def keep(folder: Path, texts: dict[str, str]) -> None:
    """Makes a folder contain exactly these files."""
    for name, text in texts.items():
        write(folder / name, text)
    for name in files(folder):
        if name not in texts:
            (folder / name).unlink()


def same_code(folder: Path, mutant: Mutant) -> bool:
    """Returns whether the compiler produces the same code with the mutant as without."""
    order = [mutant.file]
    if mutant.file.endswith(".hpp"):  # first the smallest files beside it, which differ soonest
        sources = [name for name in files(folder) if name.endswith(".cpp")]
        order = sorted(sources, key=lambda name: distance_of(folder, mutant.file, name))
    text = mutant.applied((folder / mutant.file).read_text())
    return all(
        compiled(folder, name) == compiled(folder, name, mutant.file, text) for name in order
    )


def distance_of(folder: Path, header: str, source: str) -> tuple[bool, int]:
    return Path(source).parent != Path(header).parent, (folder / source).stat().st_size


@functools.cache
def compiled(folder: Path, name: str, changed: str = "", text: str = "") -> bytes:
    """Returns the machine code of a source file, where one file of its room is changed."""
    with tempfile.TemporaryDirectory(dir=verdict.BUILD) as scratch:
        tree = Path(scratch)
        for room in set(SOURCES) - {folder.name}:
            (tree / room).symlink_to(verdict.ROOT / room)
        shutil.copytree(folder, tree / folder.name)
        if changed:
            (tree / folder.name / changed).write_text(text)
        command = ["g++", "-std=c++20", "-O2", "-w", "-ffp-contract=off", "-DNDEBUG", "-c"]
        verdict.must([*command, str(tree / folder.name / name), "-o", str(tree / "object.o")])
        return (tree / "object.o").read_bytes()
