# SPDX-License-Identifier: BSD-3-Clause
"""Tells whether the tests would notice a mistake: `python -m tools.mutants [ROOM...]`.

It draws one-token mutants of a room and runs the room's fast tests on each. It does not count
mutants that don't compile, that have the same machine code, or that equivalent_*.toml lists with
the reason why they change nothing. Of the others the tests must catch the room's share. --named
takes the mistakes of named_*.toml instead, and all of them must be caught.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import random
import sys
import time
from pathlib import Path

from tools.mutants import c_code, core, cxx, cxx_code, verdict, westwood
from tools.mutants.c_code import Mutant
from tools.mutants.verdict import Key, Verdict

# With the share to catch.
ROOMS = {"core": 0.95, "engine": 0.9, "metrics": 0.9, "plan": 0.9, "westwood": 0.9}
PATIENT = 10_000_000


def pool_of(room: str, options: argparse.Namespace) -> list[list[Mutant]]:
    """Returns all mutants of a room, grouped by token."""
    if room == "core":
        return c_code.of_folder(options.core)
    return (westwood if room == "westwood" else cxx_code).of_folder(verdict.ROOT / room)


def judge_core(drawn: list[Mutant], listed: set[Key], options: argparse.Namespace) -> list[Verdict]:
    files = sorted((verdict.ROOT / "tests" / "core").glob("*_test.cpp"))
    tests = core.Tests(options.core, files, verdict.ROOT)
    tests.build()
    return verdict.judged(
        drawn,
        lambda mutant: core.judge(tests, mutant, listed, options.prove),
        options.count or PATIENT,
        options.jobs,
        options.verbose,
        options.until,
    )


def judge_cxx(
    room: str, drawn: list[Mutant], listed: set[Key], options: argparse.Namespace
) -> list[Verdict]:
    """Judges batches that are compiled together; draws spares, since some do not compile."""
    count = options.count or PATIENT
    verdicts: list[Verdict] = []
    while (
        drawn
        and sum(verdict.counts for verdict in verdicts) < count
        and time.monotonic() < options.until
    ):
        left = count - sum(verdict.counts for verdict in verdicts)
        batch, drawn = drawn[: left + left // 8], drawn[left + left // 8 :]
        built = cxx.Program(
            room, dict(enumerate(batch, 1)), listed, named=options.named, jobs=options.jobs
        )
        built.build()
        numbers = {id(mutant): number for number, mutant in built.mutants.items()}
        verdicts += verdict.judged(
            batch,
            lambda mutant, built=built, numbers=numbers: built.judge(numbers[id(mutant)]),
            left,
            options.jobs,
            options.verbose,
            options.until,
        )
    return verdicts


def judge_westwood(
    drawn: list[Mutant], listed: set[Key], options: argparse.Namespace
) -> list[Verdict]:
    tests = westwood.Tests(listed)
    count = options.count or PATIENT
    return verdict.judged(drawn, tests.judge, count, options.jobs, options.verbose, options.until)


JUDGES = {
    "core": judge_core,
    "engine": functools.partial(judge_cxx, "engine"),
    "metrics": functools.partial(judge_cxx, "metrics"),
    "plan": functools.partial(judge_cxx, "plan"),
    "westwood": judge_westwood,
}


def mutants_of(room: str, options: argparse.Namespace) -> tuple[list[Mutant], set[Key]]:
    """Returns the mutants to judge in order, and the listed ones that no longer exist."""
    if options.named:
        return verdict.named(room, verdict.ROOT / room), set()
    pool = pool_of(room, options)
    stale = set(verdict.reasons(room)) - {mutant.key for several in pool for mutant in several}
    if options.file:
        pool = [several for several in pool if several[0].file == options.file]
    if options.count:
        draw = verdict.draw_by_text if room == "westwood" else verdict.draw
        return list(draw(pool, options.seed)), stale
    return [mutant for several in pool for mutant in several], stale


def examine(room: str, options: argparse.Namespace) -> int:
    options.until = time.monotonic() + 60 * options.minutes
    drawn, stale = mutants_of(room, options)
    if not drawn:
        return 0
    verdicts = JUDGES[room](drawn, set(verdict.reasons(room)), options)
    code = verdict.report(room, verdicts, 1 if options.named else ROOMS[room], stale)
    if options.record:
        verdict.record(room, options.seed, verdicts)
    return code


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description="See whether tests notice mistakes.")
    parser.add_argument("rooms", nargs="*", metavar="ROOM", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000))
    parser.add_argument("--count", type=int, default=200, help="mutants that count; 0: all")
    parser.add_argument("--named", action="store_true", help="take those of named_*.toml instead")
    parser.add_argument("--minutes", type=float, default=math.inf, help="time limit for a room")
    parser.add_argument("--file", help="only mutants of this file of the room")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--core", type=Path, default=verdict.ROOT / "core", help="its folder")
    parser.add_argument("--prove", action="store_true", help="run tools/prove.py on the core's")
    parser.add_argument("--record", action="store_true", help="write the score into the docs")
    parser.add_argument("--verbose", action="store_true", help="print what catches each mutant")
    options = parser.parse_args(arguments)
    for room in set(options.rooms) - set(ROOMS):
        parser.error(f"no room {room!r}: expected one of {', '.join(ROOMS)}")
    if options.named:
        options.count = 0
    else:
        print(f"Seed: {options.seed}", flush=True)
    verdict.BUILD.mkdir(parents=True, exist_ok=True)
    return max(examine(room, options) for room in options.rooms or ROOMS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
