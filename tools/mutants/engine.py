# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants of the engine, all in one program: an environment variable selects one.

A function with mutants contains its body once for each of them and once unchanged:

    if (::ww_mutants::is(17)) { the body of mutant 17 } else { the body }

A conditional expression selects code outside a body, such as a member's initial value. So the
engine and its tests are compiled once for all mutants. A #line directive names each mutant, so the
compiler's messages show which ones do not compile, and those are left out.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from tools.mutants import cxx_code
from tools.mutants.c_code import Mutant
from tools.mutants.verdict import (
    BUILD,
    CAUGHT,
    LISTED,
    NOT_COMPILED,
    ROOT,
    SAME_CODE,
    SURVIVED,
    Key,
    Verdict,
    run,
)

TREE = BUILD / "engine" / "tree"
MADE = BUILD / "engine" / "made"
PROGRAM = MADE / "ww_engine_tests"
SWITCH = """\
#pragma once
#include <cstdlib>
namespace ww_mutants {
inline bool is(int number) {
    static const char* const chosen = std::getenv("WW_MUTANT");
    static const int which = chosen ? std::atoi(chosen) : 0;
    return which == number;
}
}  // namespace ww_mutants
"""
# Used unchanged; CMakeLists.txt needs the tests of the core and of plans.
SHARED = ("CMakeLists.txt", "cmake", "core", "wire", "tests/core", "tests/golden", "tests/wire")
FLAGS = f"-O1 -w -Wno-narrowing -include {TREE}/mutants.hpp"
# Memory limit of a test, bytes; only the sanitized suites need more.
MOST_MEMORY = 4 << 30
SLOW_MS = (60, 600)  # limits between the stages: slower tests run after the others


def schema(path: Path, mutants: dict[int, Mutant]) -> str:
    """Returns the text of a file with all these mutants, selected by their numbers."""
    text = path.read_text()
    bodies = cxx_code.bodies(text)
    changes: list[tuple[int, int, str]] = []
    values: dict[tuple[int, int], list[int]] = defaultdict(list)
    inside: dict[cxx_code.Body, list[int]] = defaultdict(list)
    for number, mutant in mutants.items():
        holders = [one for one in bodies if one.first < mutant.start and mutant.end <= one.last]
        if holders:
            inside[holders[0]].append(number)
        else:
            values[mutant.start, mutant.end].append(number)
    for (first, last), numbers in values.items():
        choices = [f"::ww_mutants::is({n}) ? ({mutants[n].new}) :" for n in numbers]
        parts = [named(n, one, text, first) for n, one in zip(numbers, choices, strict=True)]
        changes.append((first, last, "(" + "".join(parts) + f"({text[first:last]}))"))
    for body, numbers in inside.items():
        whole = text[body.first : body.last + 1]
        parts = []
        for number in numbers:
            one = mutants[number]
            mutated = text[body.first : one.start] + one.new + text[one.end : body.last + 1]
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
class Engine:
    """The engine with all mutants of a run, and the tests that judge them."""

    mutants: dict[int, Mutant]
    folder: Path = ROOT / "engine"
    listed: set[Key] = field(default_factory=set)
    stages: list[tuple[str, float]] = field(default_factory=list)  # filter, seconds
    named: bool = False  # the mutants are known to have an effect
    broken: set[int] = field(default_factory=set)

    def build(self) -> None:
        while True:
            self.write({n: m for n, m in self.mutants.items() if n not in self.broken})
            found = compile_all()
            if not found:
                break
            self.broken |= found
        self.time_tests()

    def write(self, mutants: dict[int, Mutant]) -> None:
        """Writes the sources, but only the files that change."""
        write(TREE / "mutants.hpp", SWITCH)
        for name in SHARED:
            path = TREE / name
            path.parent.mkdir(exist_ok=True)
            path.unlink(missing_ok=True)
            path.symlink_to(ROOT / name)
        of_file: dict[str, dict[int, Mutant]] = defaultdict(dict)
        for number, mutant in mutants.items():
            of_file[mutant.file][number] = mutant
        sources = {name: schema(self.folder / name, of_file[name]) for name in files(self.folder)}
        keep(TREE / "engine", sources)
        for room in ("engine", "fuzz"):  # copies, so that ".." includes the tree's files
            tests = ROOT / "tests" / room
            keep(TREE / "tests" / room, {name: (tests / name).read_text() for name in files(tests)})

    def time_tests(self) -> None:
        """Runs the tests on the unchanged engine, and groups them by duration."""
        with tempfile.TemporaryDirectory(dir=BUILD) as made:
            times = Path(made) / "times.json"
            done = attempt(0, "*", 600, f"--gtest_output=json:{times}")
            if done is None or done.returncode:
                sys.exit("the engine itself fails its tests\n" + (done.stdout if done else ""))
            suites = json.loads(times.read_text())["testsuites"]
        took = {
            f"{suite['name']}.{test['name']}": float(test["time"].rstrip("s"))
            for suite in suites
            for test in suite["testsuite"]
        }
        first, second = (
            {name for name, seconds in took.items() if seconds * 1000 > bound} for bound in SLOW_MS
        )
        groups = [("-" + ":".join(sorted(first)), set(took) - first)]
        groups += [(":".join(sorted(names)), names) for names in (first - second, second) if names]
        self.stages = [(which, sum(took[name] for name in names)) for which, names in groups]

    def judge(self, number: int) -> Verdict:
        mutant = self.mutants[number]
        if number in self.broken:
            return Verdict(mutant, NOT_COMPILED)
        for which, seconds in self.stages:
            done = attempt(number, which, 10 + 6 * seconds)
            if done is None:
                return Verdict(mutant, CAUGHT, "a test that hangs")
            if done.returncode:
                failed = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
                return Verdict(mutant, CAUGHT, failed[1] if failed else "a test that crashes")
        if mutant.key in self.listed:
            return Verdict(mutant, LISTED)
        same = not self.named and same_code(self.folder, mutant)
        return Verdict(mutant, SAME_CODE if same else SURVIVED)


def files(folder: Path) -> list[str]:
    """Returns the names of the sources below a folder, relative to it."""
    found = (path for path in folder.rglob("*") if path.suffix in (".hpp", ".cpp", ".h"))
    return sorted(str(path.relative_to(folder)) for path in found)


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


def compile_all() -> set[int]:
    """Compiles everything; returns the numbers of the mutants that do not compile."""
    if not (MADE / "build.ninja").exists():
        options = ["-D", "CMAKE_BUILD_TYPE=Debug", "-D", f"CMAKE_CXX_FLAGS_DEBUG={FLAGS}"]
        command = ["cmake", "-S", str(TREE), "-B", str(MADE), "-G", "Ninja", "-D", "WW_WERROR=OFF"]
        done = run([*command, *options])
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
    build = ["cmake", "--build", str(MADE), "--target", "ww_engine_tests", "--", "-k", "0"]
    done = run(build)
    if done.returncode == 0:
        return set()
    found = {
        int(number) for number in re.findall(r"^mutant-(\d+):[\d:]+ error:", done.stdout, re.M)
    }
    if not found:
        sys.exit(done.stdout[-20_000:] + done.stderr)
    return found


def attempt(
    number: int, which: str, patience_s: float, *more: str
) -> subprocess.CompletedProcess[str] | None:
    """Runs the tests of a filter on a mutant (0: the unchanged engine). None: they hang.

    The limit is on CPU time, so that a busy machine does not make a mutant count as caught.
    """
    limits = [f"--as={MOST_MEMORY}", f"--cpu={round(patience_s)}", "--core=0"]
    command = ["env", f"WW_MUTANT={number}", "prlimit", *limits]
    command += [str(PROGRAM), f"--gtest_filter={which}", "--gtest_fail_fast", *more]
    try:
        return run(
            [*command, "--gtest_brief=1"], cwd=TREE, timeout=20 * patience_s, errors="replace"
        )
    except subprocess.TimeoutExpired:
        return None


def same_code(folder: Path, mutant: Mutant) -> bool:
    """Returns whether the compiler produces the same engine with the mutant as without."""
    # First the files that use the headers' declarations most.
    order = (
        [mutant.file] if mutant.file.endswith(".cpp") else ["sim/simulation.cpp", "tcp/sender.cpp"]
    )
    if mutant.file.endswith(".hpp"):
        order += sorted({name for name in files(folder) if name.endswith(".cpp")} - set(order))
    with tempfile.TemporaryDirectory(dir=BUILD) as made:
        tree = Path(made)
        (tree / "core").symlink_to(ROOT / "core")
        shutil.copytree(folder, tree / "engine")
        whole = (folder / mutant.file).read_text()
        for name in order:
            objects = []
            for text in (whole, mutant.applied(whole)):
                (tree / "engine" / mutant.file).write_text(text)
                command = ["g++", "-std=c++20", "-O2", "-w", "-ffp-contract=off", "-DNDEBUG", "-c"]
                run([*command, str(tree / "engine" / name), "-o", str(tree / "object.o")])
                objects.append((tree / "object.o").read_bytes())
            if objects[0] != objects[1]:
                return False
    return True
