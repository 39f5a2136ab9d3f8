# SPDX-License-Identifier: BSD-3-Clause
"""Damages files: changes their bytes, or replaces them by something else."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path

Damage = Callable[[Path, random.Random, Path], object]


def flip(file: Path, choices: random.Random, outside: Path) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(choices.choice((1, 1, 1, 2, 8))):
        if content:
            content[choices.randrange(len(content))] ^= 1 << choices.randrange(8)
    file.write_bytes(content)


def truncate(file: Path, choices: random.Random, outside: Path) -> None:
    content = file.read_bytes()
    file.write_bytes(content[: choices.randint(0, len(content))])


def duplicate(file: Path, choices: random.Random, outside: Path) -> None:
    content = file.read_bytes()
    start, end = sorted(choices.randint(0, len(content)) for _ in range(2))
    place = choices.choice((end, choices.randint(0, len(content)), len(content)))
    file.write_bytes(content[:place] + content[start:end] + content[place:])


def blank(file: Path, choices: random.Random, outside: Path) -> None:
    content = bytearray(file.read_bytes())
    start, end = sorted(choices.randint(0, len(content)) for _ in range(2))
    filling = (bytes(end - start), choices.randbytes(end - start))
    content[start:end] = choices.choice(filling)
    file.write_bytes(content)


def remove(file: Path, choices: random.Random, outside: Path) -> None:
    file.unlink()


def exchange(file: Path, choices: random.Random, outside: Path) -> None:
    others = sorted(path for path in file.parent.rglob("*") if path.is_file())
    file.write_bytes(choices.choice(others).read_bytes())


def link(file: Path, choices: random.Random, outside: Path) -> None:
    shutil.move(file, outside / "moved")
    file.symlink_to(choices.choice((outside / "moved", outside / "nothing", outside)))


def endless(file: Path, choices: random.Random, outside: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def folder(file: Path, choices: random.Random, outside: Path) -> None:
    file.unlink()
    file.mkdir()


BYTES: tuple[Damage, ...] = (flip, truncate, duplicate, blank, exchange)
KINDS: tuple[Damage, ...] = (remove, link, endless, folder)
