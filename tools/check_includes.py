# SPDX-License-Identifier: BSD-3-Clause
"""Checks that #include directives only point the way the architecture allows.

core includes nothing but itself; engine, ns3 and linux include core, and never each other, but for
the emulated path in linux/path_*, which runs the engine's model of links (docs/decisions); bindings
include engine. The engine is pure, so the standard headers of files, threads, clocks and unportable
random distributions are closed to it.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>, but neither <unistd.h> nor <linux/bpf.h>
FREESTANDING = re.compile(r"std(int|bool|def)\.h")
ANY = re.compile(r".*")
IMPURE = {"chrono", "cstdio", "ctime", "filesystem", "fstream", "iostream"}
IMPURE |= {"atomic", "condition_variable", "future", "mutex", "random", "shared_mutex", "thread"}

# room: the rooms whose files it may include, and the headers that lie in no room that it may
RULES = {
    "core": ({"core"}, FREESTANDING),
    "engine": ({"core", "engine"}, STANDARD),
    "bindings": ({"engine", "bindings"}, re.compile(r"nanobind/.*|[a-z_0-9]+|Python\.h")),
    "tests": ({"core", "engine", "linux", "tests"}, re.compile(r"gtest/.*|[a-z_0-9]+|std\w+\.h")),
    "bench": (
        {"core", "engine", "bench"},
        re.compile(r"benchmark/.*|ns3/.*-module\.h|[a-z_0-9]+|sys/.*\.h"),
    ),
    "ns3": ({"core", "ns3"}, ANY),
    "linux": ({"core", "linux"}, ANY),
}
# Files that may include one room more than their room may.
EXCEPTIONS = [(re.compile(r"linux/path_\w+\.[ch]pp"), "engine")]


def room_of(name: str, source: Path) -> str | None:
    """The room that the quoted file `name`, included by `source`, lies in; None if in no room."""
    for folder in (source.parent, ROOT, ROOT / "core"):
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(ROOT):
            return path.relative_to(ROOT).parts[0]
    return None


def complaints(room: str, source: Path) -> list[str]:
    """What is wrong with the #include directives of one file of `room`."""
    rooms, headers = RULES[room]
    name = source.relative_to(ROOT).as_posix()
    rooms = rooms | {more for files, more in EXCEPTIONS if files.fullmatch(name)}
    found = []
    directive = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
    text = source.read_text()
    for match in directive.finditer(text):
        quoted, system = match.groups()
        if quoted:
            target = room_of(quoted, source)
            allowed = target in rooms or (target is None and bool(headers.fullmatch(quoted)))
        else:
            closed = room == "engine" and system in IMPURE
            allowed = bool(headers.fullmatch(system)) and not closed
        if not allowed:
            line = text.count("\n", 0, match.start()) + 1
            place = f"{source.relative_to(ROOT)}:{line}"
            found.append(f"{place}: {room} may not include {quoted or system}")
    return found


def main() -> int:
    found = [
        complaint
        for room in RULES
        for source in sorted((ROOT / room).rglob("*"))
        if source.suffix in {".h", ".hpp", ".c", ".cc", ".cpp"}
        for complaint in complaints(room, source)
    ]
    print("\n".join(found) or "every #include points the allowed way")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
