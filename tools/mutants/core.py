# SPDX-License-Identifier: BSD-3-Clause
"""Judges mutants of core/*.h: compiles each as a library that the C++ tests load.

A mutant first meets the C++ tests of the core, then those of the engine, then the proofs if
requested. It takes about a second, because the tests are compiled only once, against headers that
declare the core's functions without defining them. Only a mutant of a declaration needs the core's
tests compiled again; the engine's tests do not see it.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from tools.mutants import c_code, verdict
from tools.mutants.c_code import Mutant
from tools.mutants.verdict import (
    LISTED,
    NOT_COMPILED,
    ROOT,
    SAME_CODE,
    SURVIVED,
    Key,
    Verdict,
    must,
    run,
)

BUILD = verdict.BUILD / "core"
PROVE = ROOT / "tools" / "prove.py"
OF_USERS = "control.h"  # the header that a file with a user's control includes
PATIENCE_S = 30  # a mutant that loops counts as caught

# The core as a library: its functions are exported and still inlined into one another.
CORE = ["-std=c11", "-ffreestanding", "-fPIC", "-fno-semantic-interposition"]
CORE += ["-Dstatic=", "-Dinline=", "-w", "-x", "c"]
CXX = ["g++", "-std=c++20", "-w", "-ffp-contract=off"]
BEST = (["gcc", "-O2"], ["clang", "-O2"])  # show which mutants leave the machine code unchanged
CAUGHT = ("caught by the core's tests", "caught by the engine's tests", "caught by a proof")
OF_ENGINE = ("scripted", "golden_test", "replay_test", "bbr_test")


def core_object(compiler: list[str], core: Path, to: Path) -> bool:
    """Compiles the headers of a folder as one C file; returns whether that succeeds."""
    names = sorted(path.name for path in core.glob("*.h") if path.name != OF_USERS)
    source = "".join(f'#include "{name}"\n' for name in names)
    command = [*compiler, *CORE, f"-I{core}", "-c", "-", "-o", str(to)]
    return run(command, input=source).returncode == 0


@dataclass
class Tests:
    """The test programs, compiled against declarations of the core in `core`."""

    core: Path
    core_tests: list[Path]
    engine: Path | None = None  # the repository's root, to use the engine's tests as well
    objects: dict[str, bytes] = field(default_factory=dict)

    def build(self) -> None:
        """Builds what all mutants share, unless it was built from the same files."""
        self.tree = BUILD / "tree"
        self.stamp = BUILD / "stamp"
        if not self.stamp.exists() or self.stamp.read_text() != self.fingerprint():
            shutil.rmtree(BUILD, ignore_errors=True)
            self.declare(self.core, self.tree / "core")
            for test in self.core_tests:
                copy(test, self.tree / "tests" / "core" / test.name)
            for helper in (ROOT / "tests" / "core").glob("*.hpp"):
                copy(helper, self.tree / "tests" / "core" / helper.name)
            core_object(["gcc", "-O1"], self.core, BUILD / "core.o")
            library(BUILD / "core.o", BUILD)
            self.compile_core_tests(self.tree, BUILD / "core_tests", "-O1")
            if self.engine:
                self.compile_engine_tests(self.engine)
            self.stamp.write_text(self.fingerprint())
        self.expanded = self.expand(self.tree)
        for compiler in (["gcc", "-O1"], *BEST):
            core_object(compiler, self.core, BUILD / "same.o")
            self.objects[compiler[0] + compiler[1]] = (BUILD / "same.o").read_bytes()
        for program in self.programs():
            failed = self.failure(program, BUILD)
            if failed:
                sys.exit(f"the core itself fails {failed} of {program.name}")

    def fingerprint(self) -> str:
        files = [*self.core.glob("*.h"), *self.core_tests, Path(__file__)]
        files += (ROOT / "tests" / "core").glob("*.hpp")
        if self.engine:
            files += [*(self.engine / "engine").rglob("*.?pp"), *self.engine.glob("tests/engine/*")]
        sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)]
        return "\n".join(sums)

    def programs(self) -> list[Path]:
        return [BUILD / "core_tests", *([BUILD / "engine_tests"] if self.engine else [])]

    @staticmethod
    def declare(core: Path, to: Path) -> None:
        to.mkdir(parents=True, exist_ok=True)
        for header in core.glob("*.h"):
            (to / header.name).write_text(c_code.declarations(header.read_text()))

    def unity(self, tree: Path) -> str:
        """Returns a file that includes all tests of the core, the slowest last."""
        slow = ("ackcount", "arith", "filter")
        tests = sorted(self.core_tests, key=lambda test: (test.name.startswith(slow), test.name))
        return "".join(f'#include "{tree}/tests/core/{test.name}"\n' for test in tests)

    def expand(self, tree: Path) -> str:
        text = run([*CXX, "-E", "-P", "-x", "c++", "-"], input=self.unity(tree)).stdout
        return text.replace(str(tree), "")

    def compile_core_tests(self, tree: Path, to: Path, level: str) -> bool:
        command = [*CXX, level, "-x", "c++", "-", "-x", "none", "-o", str(to)]
        command += [f"-L{BUILD}", "-lww_core", "-lgtest", "-lgtest_main"]
        done = run(command, input=self.unity(tree))
        if done.returncode and level == "-O1":
            sys.exit(done.stderr)
        return done.returncode == 0

    def compile_engine_tests(self, root: Path) -> None:
        """Compiles the engine's tests that run whole connections."""
        for room in ("engine", "tests/engine"):
            for path in (root / room).rglob("*.?pp"):
                copy(path, self.tree / path.relative_to(root))
        (self.tree / "tests" / "golden").symlink_to(root / "tests" / "golden")
        sources = sorted((self.tree / "engine").rglob("*.cpp"))
        sources += [self.tree / "tests" / "engine" / f"{name}.cpp" for name in OF_ENGINE]
        objects = [str(BUILD / f"{path.parent.parent.name}_{path.stem}.o") for path in sources]
        for path, output in zip(sources, objects, strict=True):
            must([*CXX, f"-I{self.tree}", "-O1", "-c", str(path), "-o", output])
        must(
            [*CXX, *objects, f"-L{BUILD}", "-lww_core", "-lgtest", "-lgtest_main"]
            + ["-o", str(BUILD / "engine_tests")]
        )

    def failure(self, program: Path, folder: Path) -> str:
        """Runs a test program with the library in `folder`; returns its first failure or ""."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        command = [str(program), "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            done = run(command, env=environment, timeout=PATIENCE_S, errors="replace")
        except subprocess.TimeoutExpired:
            return "a test that hangs"
        if done.returncode == 0:
            return ""
        named = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
        return named[1] if named else f"a test that crashes ({done.returncode})"


def copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_file():
        shutil.copyfile(source, to)


def library(objects: Path, folder: Path) -> None:
    must(["gcc", "-shared", str(objects), "-o", str(folder / "libww_core.so")])


def judge(tests: Tests, mutant: Mutant, listed: set[Key], prove: bool) -> Verdict:
    """Builds one mutant and determines what catches it."""
    with tempfile.TemporaryDirectory(dir=BUILD) as scratch:
        folder = Path(scratch)
        core = folder / "core"
        shutil.copytree(tests.core, core)
        text = (core / mutant.file).read_text()
        (core / mutant.file).write_text(mutant.applied(text))
        if not core_object(["gcc", "-O1"], core, folder / "core.o"):
            return Verdict(mutant, NOT_COMPILED)
        if (folder / "core.o").read_bytes() == tests.objects["gcc-O1"]:
            return Verdict(mutant, SAME_CODE)
        library(folder / "core.o", folder)
        programs = tests.programs()
        if not mutant.function:
            programs = [for_declarations(tests, folder)]
        for program, what in zip(programs, CAUGHT, strict=False):
            failed = tests.failure(program, folder)
            if failed:
                return Verdict(mutant, what, failed)
        for compiler in BEST:
            core_object(compiler, core, folder / "core.o")
            if (folder / "core.o").read_bytes() == tests.objects[compiler[0] + compiler[1]]:
                return Verdict(mutant, SAME_CODE)
        if mutant.key in listed:
            return Verdict(mutant, LISTED)
        if (
            prove
            and run([sys.executable, str(PROVE), "--quick", "--core", str(core)]).returncode == 1
        ):
            return Verdict(mutant, CAUGHT[2])
    return Verdict(mutant, SURVIVED)


def for_declarations(tests: Tests, folder: Path) -> Path:
    """Returns the core's tests for a mutant of a declaration, compiled again if they can see it."""
    tree = folder / "tree"
    shutil.copytree(tests.tree / "tests" / "core", tree / "tests" / "core")
    tests.declare(folder / "core", tree / "core")
    if tests.expand(tree) == tests.expanded:
        return BUILD / "core_tests"
    program = folder / "core_tests"
    return program if tests.compile_core_tests(tree, program, "-O0") else Path("/bin/false")
