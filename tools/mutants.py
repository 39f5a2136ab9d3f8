# SPDX-License-Identifier: BSD-3-Clause
"""Tells whether the tests would notice a mistake in the core: `mutants.py [--seed N] [--count N]`.

It draws one-token mutants of core/*.h (tools/mutate.py) and runs the C++ tests of the core on each,
then those of the engine, then the proofs if asked to. A second a mutant is enough, because tests
are compiled once: against headers that only declare the core's functions, which they find in a
library. Each mutant is another library. Only a mutant of a declaration compiles the core's tests
anew, and those of the engine don't see it.

Not counted are mutants that don't compile, those whose machine code is the core's (a setting's
bounds, which the hosts read, among them), and those that tools/mutants_equivalent.toml lists with
the reason why they change nothing. Of all others 95 % must be caught.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tools import mutate  # noqa: E402
from tools.mutate import Mutant  # noqa: E402

BUILD = ROOT / "build" / "mutants"
LISTED = ROOT / "tools" / "mutants_equivalent.toml"
PROVE = ROOT / "tools" / "prove.py"
WANTED = 0.95
PATIENCE_S = 30  # a mutant that loops is caught

# The core as a library: its functions are seen from outside and still inlined into one another.
CORE = ["-std=c11", "-ffreestanding", "-fPIC", "-fno-semantic-interposition"]
CORE += ["-Dstatic=", "-Dinline=", "-w", "-x", "c"]
CXX = ["g++", "-std=c++20", "-w", "-ffp-contract=off"]
BEST = (["gcc", "-O2"], ["clang", "-O2"])  # what may show that a mutant is the same code
CAUGHT = ("caught by the core's tests", "caught by the engine's tests", "caught by a proof")
NOT_COUNTED = ("does not compile", "the same machine code", "listed: changes nothing")
SURVIVED = "survived"
OF_ENGINE = ("scripted", "golden_test", "replay_test", "bbr_test")


@dataclass(frozen=True)
class Verdict:
    mutant: Mutant
    what: str
    by: str = ""  # the test

    @property
    def counts(self) -> bool:
        return self.what not in NOT_COUNTED


def run(command: list[str], **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, **more)  # type: ignore[call-overload,no-any-return]


def must(command: list[str]) -> str:
    done = run(command)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def core_object(compiler: list[str], core: Path, to: Path) -> bool:
    """Compiles the headers of a folder as one C file; says whether they compile."""
    names = sorted(path.name for path in core.glob("*.h"))
    source = "".join(f'#include "{name}"\n' for name in names)
    command = [*compiler, *CORE, f"-I{core}", "-c", "-", "-o", str(to)]
    return run(command, input=source).returncode == 0


@dataclass
class Tests:
    """The tests' programs, compiled against declarations of the core in `core`."""

    core: Path
    core_tests: list[Path]
    engine: Path | None = None  # the repository's folders, if its tests belong to them, too
    objects: dict[str, bytes] = field(default_factory=dict)

    def build(self) -> None:
        """Builds what every mutant shares, unless it was built from the same files before."""
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
            files += [*self.engine.glob("engine/*"), *self.engine.glob("tests/engine/*")]
        sums = [hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)]
        return "\n".join(sums)

    def programs(self) -> list[Path]:
        return [BUILD / "core_tests", *([BUILD / "engine_tests"] if self.engine else [])]

    @staticmethod
    def declare(core: Path, to: Path) -> None:
        to.mkdir(parents=True, exist_ok=True)
        for header in core.glob("*.h"):
            (to / header.name).write_text(mutate.declarations(header.read_text()))

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
        """Those of the engine's tests that run whole connections."""
        for room in ("engine", "tests/engine"):
            for path in (root / room).iterdir():
                copy(path, self.tree / room / path.name)
        (self.tree / "tests" / "golden").symlink_to(root / "tests" / "golden")
        sources = sorted((self.tree / "engine").glob("*.cpp"))
        sources += [self.tree / "tests" / "engine" / f"{name}.cpp" for name in OF_ENGINE]
        objects = [str(BUILD / f"{path.parent.parent.name}_{path.stem}.o") for path in sources]
        for path, made in zip(sources, objects, strict=True):
            must([*CXX, f"-I{self.tree}", "-O1", "-c", str(path), "-o", made])
        must(
            [*CXX, *objects, f"-L{BUILD}", "-lww_core", "-lgtest", "-lgtest_main"]
            + ["-o", str(BUILD / "engine_tests")]
        )

    def failure(self, program: Path, folder: Path) -> str:
        """Runs a program of tests with the library in `folder`; returns its first failure or ""."""
        environment = {**os.environ, "LD_LIBRARY_PATH": str(folder)}
        command = [str(program), "--gtest_fail_fast", "--gtest_brief=1"]
        try:
            done = run(command, env=environment, timeout=PATIENCE_S, errors="replace")
        except subprocess.TimeoutExpired:
            return "a test that does not end"
        if done.returncode == 0:
            return ""
        named = re.search(r"^\[  FAILED  \] ([\w./]+)", done.stdout, re.M)
        return named[1] if named else f"a test that dies ({done.returncode})"


def copy(source: Path, to: Path) -> None:
    to.parent.mkdir(parents=True, exist_ok=True)
    if source.is_file():
        shutil.copyfile(source, to)


def library(objects: Path, folder: Path) -> None:
    must(["gcc", "-shared", str(objects), "-o", str(folder / "libww_core.so")])


def judge(tests: Tests, mutant: Mutant, listed: set[tuple[str, ...]], prove: bool) -> Verdict:
    """Builds one mutant and looks who notices it."""
    with tempfile.TemporaryDirectory(dir=BUILD) as made:
        folder = Path(made)
        core = folder / "core"
        shutil.copytree(tests.core, core)
        text = (core / mutant.file).read_text()
        (core / mutant.file).write_text(text[: mutant.start] + mutant.new + text[mutant.end :])
        if not core_object(["gcc", "-O1"], core, folder / "core.o"):
            return Verdict(mutant, "does not compile")
        if (folder / "core.o").read_bytes() == tests.objects["gcc-O1"]:
            return Verdict(mutant, "the same machine code")
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
                return Verdict(mutant, "the same machine code")
        if mutant.key in listed:
            return Verdict(mutant, "listed: changes nothing")
        if (
            prove
            and run([sys.executable, str(PROVE), "--quick", "--core", str(core)]).returncode == 1
        ):
            return Verdict(mutant, "caught by a proof")
    return Verdict(mutant, SURVIVED)


def for_declarations(tests: Tests, folder: Path) -> Path:
    """Returns the core's tests for a mutant of a declaration: compiled anew if they can see it."""
    tree = folder / "tree"
    shutil.copytree(tests.tree / "tests" / "core", tree / "tests" / "core")
    tests.declare(folder / "core", tree / "core")
    if tests.expand(tree) == tests.expanded:
        return BUILD / "core_tests"
    program = folder / "core_tests"
    return program if tests.compile_core_tests(tree, program, "-O0") else Path("/bin/false")


def reasons() -> dict[tuple[str, ...], str]:
    """Returns the mutants that change nothing, by their key."""
    entries = tomllib.loads(LISTED.read_text())["equivalent"] if LISTED.exists() else []
    return {(e["file"], e.get("function", ""), e["was"], e["becomes"]): e["why"] for e in entries}


def draw(pool: list[list[Mutant]], seed: int) -> Iterator[Mutant]:
    """Yields a mutant of each token, in random order."""
    choices = random.Random(seed)
    for alternatives in choices.sample(pool, len(pool)):
        yield choices.choice(alternatives)


def report(verdicts: list[Verdict], stale: set[tuple[str, ...]]) -> int:
    """Prints what became of the mutants; returns the exit code."""
    counted = [verdict for verdict in verdicts if verdict.counts]
    survivors = [verdict for verdict in counted if verdict.what == SURVIVED]
    number = Counter(verdict.what for verdict in verdicts)
    print(f"\n{len(counted)} mutants")
    for what in (*CAUGHT, SURVIVED):
        print(f"  {number[what]:5} {what}")
    print("Not counted")
    for what in NOT_COUNTED:
        print(f"  {number[what]:5} {what}")
    share = 1 - len(survivors) / max(len(counted), 1)
    print(f"{share:.1%} are caught; wanted: {WANTED:.0%}")
    for file, function, was, becomes in sorted(stale):
        print(
            f"{LISTED.name} lists what is no mutant any more: {file} {function}: {was} -> {becomes}"
        )
    return 0 if share >= WANTED else 1


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="See whether tests notice mutants of the core.")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument(
        "--count", type=int, default=200, help="mutants that count; 0: all there are"
    )
    parser.add_argument("--file", help="only those of this header")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--core", type=Path, default=ROOT / "core", help="the folder of headers")
    parser.add_argument("--prove", action="store_true", help="ask tools/prove.py about survivors")
    parser.add_argument("--verbose", action="store_true", help="say what catches each")
    options = parser.parse_args(arguments)
    tests = Tests(options.core, sorted((ROOT / "tests" / "core").glob("*_test.cpp")), ROOT)
    tests.build()
    pool = mutate.of_folder(options.core)
    listed = reasons()
    stale = set(listed) - {one.key for alternatives in pool for one in alternatives}
    if options.file:
        pool = [alternatives for alternatives in pool if alternatives[0].file == options.file]
    if options.count:
        print(f"Seed: {options.seed}", flush=True)
        drawn = draw(pool, options.seed)
    else:
        drawn = (one for alternatives in pool for one in alternatives)
    verdicts: list[Verdict] = []
    left = options.count or len(pool) * 100
    with ThreadPoolExecutor(options.jobs) as workers:
        while left > 0:
            batch = [one for one, _ in zip(drawn, range(left), strict=False)]
            if not batch:
                break
            for verdict in workers.map(
                lambda one: judge(tests, one, set(listed), options.prove), batch
            ):
                verdicts.append(verdict)
                left -= verdict.counts
                if verdict.what == SURVIVED:
                    print(f"survived: {verdict.mutant}", flush=True)
                elif options.verbose and verdict.by:
                    print(f"{verdict.by} catches {verdict.mutant}", flush=True)
    return report(verdicts, stale)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
