# SPDX-License-Identifier: BSD-3-Clause
"""Refuses names that say nothing, such as `one` or `found`: python -m tools.check_names [--record].

A name is a noun or a verb of the field. tools/names_owed.toml counts what older code still
has. --record lowers these numbers and never raises one.
"""

import ast
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWED = ROOT / "tools" / "names_owed.toml"
REFUSED = {"one", "its", "own", "found", "said", "made", "of", "at", "even", "met", "go", "put"}
REFUSED |= {"lacking"}
ROOMS = ("westwood", "tools", "bench", "tests", "upstream", "docs")
Places = dict[str, list[str]]  # by room


def bound(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yields the line and the name of each variable, argument, function and class."""
    for node in ast.walk(tree):
        match node:
            case (
                ast.Name(id=str(name), ctx=ast.Store())
                | ast.arg(arg=str(name))
                | ast.FunctionDef(name=str(name))
                | ast.AsyncFunctionDef(name=str(name))
                | ast.ClassDef(name=str(name))
                | ast.ExceptHandler(name=str(name))
                | ast.MatchAs(name=str(name))
                | ast.MatchStar(name=str(name))
                | ast.alias(asname=str(name))
            ):
                yield node.lineno, name


def refused(source: str) -> list[tuple[int, str]]:
    """Lists the lines and names of a module that say nothing."""
    names = bound(ast.parse(source))
    return sorted((line, name) for line, name in names if name.strip("_") in REFUSED)


def places(root: Path = ROOT) -> Places:
    """Returns the places of refused names, by room."""
    by_room = defaultdict(list)
    for file in sorted(path for room in ROOMS for path in (root / room).rglob("*.py")):
        path = file.relative_to(root)
        for line, name in refused(file.read_text(encoding="utf-8")):
            by_room[path.parts[0]].append(f"{path}:{line}: {name}")
    return dict(by_room)


def complaints(named: Places, owed: Mapping[str, int]) -> list[str]:
    """Returns what is wrong: the places of each room that has more than it owes."""
    problem = "{}: {} names such as `one` or `found`, expected at most {}. The last are:\n{}"
    return [
        problem.format(room, len(lines), owed.get(room, 0), "\n".join(lines[-30:]))
        for room, lines in named.items()
        if len(lines) > owed.get(room, 0)
    ]


def lowered(named: Places, owed: Mapping[str, int]) -> dict[str, int]:
    """Returns what rooms owe now; no number rises, and no room is added."""
    counts = {room: min(count, len(named.get(room, ()))) for room, count in owed.items()}
    return {room: count for room, count in sorted(counts.items()) if count}


def main(words: list[str]) -> int:
    text = OWED.read_text(encoding="utf-8")
    owed, named = tomllib.loads(text), places()
    if words == ["--record"]:
        head, _, _ = text.partition("\n\n")
        lines = ["", *(f"{room} = {count}" for room, count in lowered(named, owed).items())]
        OWED.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    wrong = complaints(named, owed)
    print("\n".join(wrong) or f"names say what they are, but for {sum(map(len, named.values()))}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
