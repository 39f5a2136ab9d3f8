# SPDX-License-Identifier: BSD-3-Clause
"""The same inputs give the same bytes with any compiler of core and engine, in equivalent forms.

Random operations on the core and random networks (from the generators of tests/fuzz) run in
programs built by gcc and clang, unoptimised and fully optimised. The same networks also run with an
event for each hop, at another time, and with larger packets on faster links.
"""

import fcntl
import hashlib
import random
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILDS = ROOT / "build" / "torture-builds"
ENGINE = ROOT / "build" / "editable" / "libww_engine.a"  # as the module was built
COMPILERS = [name for name in ("g++", "clang++") if shutil.which(name)]
pytestmark = pytest.mark.skipif(not COMPILERS, reason="needs g++ or clang++")
WAYS = [(name, level) for name in COMPILERS for level in ("-O0", "-O3")]
FLAGS = ["-std=c++20", "-ffp-contract=off", f"-I{ROOT}", "-x", "c++", "-"]


def built(program: str, compiler: str, level: str, engine: Path | None = None) -> Path:
    """Returns tests/torture/PROGRAM.cpp compiled this way; compiles it if anything changed.

    engine: a library, instead of the engine compiled in the same way.
    """
    sources = [ROOT / "tests" / "torture" / f"{program}.cpp"]
    libraries = [str(engine)] if engine else []
    if program == "engine_digest" and not engine:
        sources += sorted((ROOT / "engine").rglob("*.cpp"))
    headers = [path for room in ("core", "engine", "tests") for path in (ROOT / room).rglob("*.h*")]
    version = subprocess.check_output([compiler, "--version"])
    texts = [path.read_bytes() for path in sorted({*sources, *headers, *map(Path, libraries)})]
    key = hashlib.sha256(b"\0".join([version, *texts])).hexdigest()[:16]
    binary = BUILDS / f"{program}-{compiler}{level}-{key}"
    BUILDS.mkdir(parents=True, exist_ok=True)
    with (BUILDS / f"{program}-{compiler}{level}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # tests run in parallel
        if not binary.exists():
            for older in BUILDS.glob(f"{program}-{compiler}{level}-*"):
                older.unlink()
            unity = "".join(f'#include "{path}"\n' for path in sources)
            command = [compiler, level, *FLAGS, "-x", "none", *libraries, "-o", f"{binary}.new"]
            subprocess.run(command, input=unity, text=True, check=True)
            Path(f"{binary}.new").rename(binary)
    return binary


def digests(program: Path, first: int, count: int, *how: object) -> list[str]:
    """Returns a line per input: its number, and the digest of its results."""
    command = [str(program), str(first), str(count), *map(str, how)]
    lines = subprocess.check_output(command, text=True).splitlines()
    assert len(lines) == count
    assert len({line.split()[1] for line in lines}) > count / 4, "few of them have an effect"
    return lines


def first_of(choices: random.Random) -> int:
    return choices.randrange(1 << 40)


@pytest.mark.parametrize(("program", "count"), [("core_digest", 1000), ("engine_digest", 200)])
def test_every_compiler_makes_the_same_program(program, count, attack):
    if attack.is_short and program == "engine_digest":
        pytest.skip("compiles for half a minute: make torture")
    ways = [WAYS[0], WAYS[-1]] if attack.is_short else WAYS
    programs = [built(program, *way) for way in ways]
    for choices in attack.rounds():
        first = first_of(choices)
        first_digests, *others = (digests(each, first, count) for each in programs)
        for other in others:
            assert other == first_digests


def test_the_core_does_not_mind_what_the_clock_shows(attack):
    program = built("core_digest", *WAYS[0])
    for choices in attack.rounds():
        first, shift_us = first_of(choices), choices.randrange(1 << 40) * 1000
        assert digests(program, first, 1000, shift_us) == digests(program, first, 1000, 0)


@pytest.mark.parametrize(
    ("as_it_is", "otherwise"), [((), "hops"), (("untimed",), "later"), (("small",), "larger")]
)
def test_the_engine_does_the_same_otherwise(attack, as_it_is, otherwise):
    library = ENGINE if attack.is_short and ENGINE.exists() else None
    program = built("engine_digest", COMPILERS[0], "-O0" if attack.is_short else "-O3", library)
    for choices in attack.rounds():
        first = first_of(choices)
        assert digests(program, first, 200, *as_it_is) == digests(program, first, 200, otherwise)
