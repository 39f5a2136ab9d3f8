# SPDX-License-Identifier: BSD-3-Clause
"""Refuses names that say nothing, such as `one` or `found`: python -m tools.check_names [--record].

A name is a noun or a verb of the field. In Python the names count where they are bound, in C, C++,
JavaScript and Rust wherever they stand alone. tools/names_owed.toml counts what older code still
has; --record lowers these numbers and never raises one.
"""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWED = ROOT / "tools" / "names_owed.toml"
REFUSED = {"one", "its", "own", "found", "said", "made", "of", "at", "even", "met", "go", "put"}
REFUSED |= {"lacking"}
C_FAMILY = {".c", ".h", ".cc", ".cpp", ".hpp", ".js", ".rs"}
# Comments and literals, or a refused name, after what makes it a member or another keyword.
TOKEN = re.compile(
    r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'"
    rf"|(?P<member>(?:\.|->|::|#)\s*)?\b(?P<name>{'|'.join(sorted(REFUSED))})\b",
    re.DOTALL,
)
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


def standing_alone(source: str, suffix: str) -> Iterator[tuple[int, str]]:
    """Yields the line and the name of each refused name that is no member, comment or literal."""
    for token in TOKEN.finditer(source):
        if token["name"] and not token["member"] and (suffix, token["name"]) != (".js", "of"):
            yield source.count("\n", 0, token.start("name")) + 1, token["name"]


def refused(source: str, suffix: str = ".py") -> list[tuple[int, str]]:
    """Lists the lines and names of a file that say nothing."""
    if suffix in C_FAMILY:
        return list(standing_alone(source, suffix))
    names = bound(ast.parse(source)) if suffix == ".py" else ()
    return sorted((line, name) for line, name in names if name.strip("_") in REFUSED)


def tracked() -> list[str]:
    """Lists the files of the repository."""
    words = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return sorted(name for name in listed.stdout.split("\0") if (ROOT / name).is_file())


def places(files: Iterable[str], root: Path = ROOT) -> Places:
    """Returns the places of refused names, by room, which is a file's first folder."""
    by_room = defaultdict(list)
    for path in map(Path, files):
        if path.suffix in C_FAMILY | {".py"}:
            for line, name in refused((root / path).read_text(encoding="utf-8"), path.suffix):
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
    owed, named = tomllib.loads(text), places(tracked())
    if words == ["--record"]:
        head, _, _ = text.partition("\n\n")
        lines = ["", *(f"{room} = {count}" for room, count in lowered(named, owed).items())]
        OWED.write_text("\n".join([head, *lines, ""]), encoding="utf-8")
    wrong = complaints(named, owed)
    print("\n".join(wrong) or f"names say what they are, but for {sum(map(len, named.values()))}")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
