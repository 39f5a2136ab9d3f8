# SPDX-License-Identifier: BSD-3-Clause
"""Draws, judges and reports the mutants of a room: what caught each, the score, the docs' table."""

from __future__ import annotations

import json
import math
import random
import subprocess
import sys
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools import pages
from tools.mutants.c_code import Mutant

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "mutants"
LISTS = Path(__file__).parent
RECORD = ROOT / "docs" / "mutants.json"
PAGE = ROOT / "docs" / "decisions.md"
CAUGHT = "caught"
SURVIVED = "survived"
NOT_COMPILED = "does not compile"
SAME_CODE = "the same machine code"
LISTED = "listed: changes nothing"
NOT_COUNTED = (NOT_COMPILED, SAME_CODE, LISTED)
Key = tuple[str, ...]
Scores = dict[str, dict[str, dict[str, dict[str, Any]]]]  # by room, seed, "first" or "last"


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant; `by` names the test that failed."""

    mutant: Mutant
    what: str
    by: str = ""

    @property
    def counts(self) -> bool:
        return self.what not in NOT_COUNTED


def run(command: list[str], **more: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, capture_output=True, text=True, **{"cwd": ROOT, **more})  # type: ignore[call-overload,no-any-return]


def must(command: list[str]) -> str:
    done = run(command)
    if done.returncode:
        sys.exit(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def key(row: dict[str, str]) -> Key:
    return row["file"], row.get("function", ""), row["was"], row["becomes"]


def reasons(room: str) -> dict[Key, str]:
    """Returns the listed mutants of a room that change nothing, with the reason."""
    path = LISTS / f"equivalent_{room}.toml"
    rows = tomllib.loads(path.read_text())["equivalent"] if path.exists() else []
    return {key(row): row["why"] for row in rows}


def named(room: str, folder: Path) -> list[Mutant]:
    """Returns the named mistakes of a room, which once escaped all tests."""
    path = LISTS / f"named_{room}.toml"
    rows = tomllib.loads(path.read_text())["mistake"] if path.exists() else []
    return [from_row(row, folder) for row in rows]


def from_row(row: dict[str, str], folder: Path) -> Mutant:
    """Finds the only place that an entry of a list of named mistakes changes."""
    text = (folder / row["file"]).read_text(encoding="utf-8")
    if text.count(row["was"]) != 1:
        sys.exit(f"{row['name']}: {row['file']} has {row['was']!r} {text.count(row['was'])} times")
    start = text.index(row["was"])
    number = text.count("\n", 0, start) + 1
    end = start + len(row["was"])
    return Mutant(
        row["file"], start, end, row["becomes"], number, row["name"], row["was"], row["becomes"]
    )


def draw(pool: list[list[Mutant]], seed: int) -> Iterator[Mutant]:
    """Yields one mutant of each token, in random order."""
    choices = random.Random(seed)
    for alternatives in choices.sample(pool, len(pool)):
        yield choices.choice(alternatives)


def draw_by_text(pool: list[list[Mutant]], seed: int) -> Iterator[Mutant]:
    """Yields one mutant of each token, in a random order that other code and tests don't change.

    A new test may call another function of westwood/, which then has mutants as well.
    """
    drawn = []
    for alternatives in pool:
        choices = random.Random(f"{seed} {[alternative.key for alternative in alternatives]}")
        drawn.append((choices.random(), choices.choice(alternatives)))
    yield from (mutant for _, mutant in sorted(drawn, key=lambda pair: pair[0]))


def judged(
    drawn: Iterable[Mutant],
    judge: Callable[[Mutant], Verdict],
    left: int,
    jobs: int,
    verbose: bool,
    until: float = math.inf,
) -> list[Verdict]:
    """Judges mutants until `left` of them count; prints survivors immediately.

    until: when to stop beginning mutants, by time.monotonic().
    """

    def in_time(mutant: Mutant) -> Verdict | None:
        return judge(mutant) if time.monotonic() < until else None

    verdicts: list[Verdict] = []
    source = iter(drawn)
    with ThreadPoolExecutor(jobs) as workers:
        while left > 0 and time.monotonic() < until:
            batch = [mutant for mutant, _ in zip(source, range(left), strict=False)]
            if not batch:
                break
            for verdict in workers.map(in_time, batch):
                if verdict is None:
                    continue
                verdicts.append(verdict)
                left -= verdict.counts
                if verdict.what == SURVIVED:
                    print(f"survived: {verdict.mutant}", flush=True)
                elif verbose:
                    print(f"{verdict.by or verdict.what}: {verdict.mutant}", flush=True)
    return verdicts


def report(room: str, verdicts: list[Verdict], wanted: float, stale: Iterable[Key] = ()) -> int:
    """Prints the outcome of a room's mutants; returns the exit code."""
    counted, _, share = score(verdicts)
    number = Counter(verdict.what for verdict in verdicts)
    print(f"\n{counted} mutants of {room}/")
    for what in sorted(set(number) - set(NOT_COUNTED)):
        print(f"  {number[what]:5} {what}")
    print("Not counted")
    for what in NOT_COUNTED:
        print(f"  {number[what]:5} {what}")
    print(f"{share:.1%} are caught; wanted: {wanted:.0%}")
    for file, function, was, becomes in sorted(stale):
        print(
            f"equivalent_{room}.toml lists mutants that no longer exist: "
            f"{file} {function}: {was} -> {becomes}"
        )
    return 0 if share >= wanted else 1


def score(verdicts: list[Verdict]) -> tuple[int, int, float]:
    """Returns how many mutants count, how many survived, and the share that was caught."""
    counted = sum(verdict.counts for verdict in verdicts)
    survivors = sum(verdict.what == SURVIVED for verdict in verdicts)
    return counted, survivors, 1 - survivors / max(counted, 1)


def record(room: str, seed: int, verdicts: list[Verdict]) -> None:
    """Writes a seed's score into docs/mutants.json and the table of decision 8.

    The first score of a seed stays, since tests for its survivors may follow.
    """
    scores: Scores = json.loads(RECORD.read_text()) if RECORD.exists() else {}
    counted, survivors, _ = score(verdicts)
    today = time.strftime("%Y-%m-%d", time.gmtime())
    now = {"date": today, "mutants": counted, "caught": counted - survivors}
    of_seed = scores.setdefault(room, {}).setdefault(str(seed), {"first": now})
    of_seed["last"] = now
    RECORD.write_text(json.dumps(scores, indent=2, sort_keys=True) + "\n")
    pages.replace(PAGE, {"mutants": table(scores)})


def table(scores: Scores) -> str:
    """Returns each seed's first and last score, and how many survived the last, as a table."""
    rows = []
    for room, seeds in sorted(scores.items()):
        for seed in sorted(seeds, key=int):
            first, last = seeds[seed]["first"], seeds[seed]["last"]
            left = last["mutants"] - last["caught"]
            shares = (share_of(first), share_of(last))
            rows.append((f"`{room}/`", seed, *shares, last["date"], left))
    return pages.table("room | seed: | caught at first: | caught at last: | judged | left:", rows)


def share_of(score: dict[str, Any]) -> str:
    return f"{score['caught']} of {score['mutants']} ({score['caught'] / score['mutants']:.1%})"
