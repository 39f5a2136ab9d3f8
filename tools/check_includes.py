# SPDX-License-Identifier: BSD-3-Clause
"""Checks that #include directives only point the way the architecture allows.

core includes only itself, and controls includes core; engine, ns3 and linux/bpf include core, and
never each other; plan includes wire and engine, metrics the engine's columns, and bindings include
all of them. In the engine, learn includes sim, which includes tcp, traffic and link, which include
base and the data; the kinds of queues declare their settings, so they belong to the data. wire,
which ns3 and linux/path share, includes core and the engine's headers without code (DATA_HEADERS).
The emulated path in linux/path runs the engine's model of links, so it also includes engine
(docs/decisions.md). So does ns3/runner, which runs the engine's impairments in ns-3's links, and
ns3/compare, which compares the two. linux/loader uses linux/bpf's layout
of events, and linux/path its table of the kernel's states. linux/um runs linux/path and the hosts
of linux/bpf inside a kernel. quic/runner runs the whole engine. The engine is pure, so it may
not use the standard headers of files, threads, clocks and unportable random distributions.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>, but not <unistd.h> or <linux/bpf.h>
FREESTANDING = re.compile(r"std(int|bool|def)\.h")
ANY = re.compile(r".*")
DATA_HEADERS = {ROOT / "engine" / name for name in ("network.hpp", "settings.hpp", "columns.hpp")}
IMPURE = {"chrono", "cstdio", "ctime", "filesystem", "fstream", "iostream"}
IMPURE |= {"atomic", "condition_variable", "future", "mutex", "random", "shared_mutex", "thread"}

DATA = {"core", "engine", "engine/base"}
# One file a kind, with its settings, which are data.
KINDS = {f"engine/link/{kinds}" for kinds in ("queue", "loss", "impairments")}
LINK = DATA | KINDS | {"engine/link"}
ENGINE = LINK | {"engine/tcp", "engine/traffic", "engine/sim", "engine/learn"}

# A room is a folder without the rooms in it; RULES lists the rooms, and the single headers, that it
# may include.
RULES = {
    "core": ({"core"}, FREESTANDING),
    "controls": ({"core"}, FREESTANDING),
    "engine/base": (DATA, STANDARD),
    "engine/link/queue": (DATA | KINDS, STANDARD),
    "engine/link/loss": (DATA | KINDS, STANDARD),
    "engine/link/impairments": (DATA | KINDS, STANDARD),
    "engine/link": (LINK, STANDARD),
    "engine/tcp": (LINK | {"engine/tcp"}, STANDARD),
    "engine/traffic": (DATA | {"engine/traffic"}, STANDARD),
    "engine/sim": (ENGINE - {"engine/learn"}, STANDARD),
    "engine/learn": (ENGINE, STANDARD),
    "engine": (DATA | KINDS, STANDARD),
    "wire": ({"wire"} | ENGINE, STANDARD),
    "plan": ({"plan", "wire"} | ENGINE, STANDARD),
    "metrics": ({"metrics", "engine"}, STANDARD),
    "lab": ({"wire", "plan", "metrics", "lab"} | ENGINE, STANDARD),
    "bindings": (
        {"bindings", "plan", "metrics", "wire"} | ENGINE - {"core"},
        re.compile(  # those of the system watch over controls of users, and take their rights
            r"nanobind/.*|[a-z_0-9]+|Python\.h|(dlfcn|link|pthread|setjmp|signal|time|ucontext)\.h"
            r"|(fcntl|linux/(audit|filter|seccomp)|sched|sys/(ioctl|mman|prctl|syscall)|unistd)\.h"
        ),
    ),
    "tests/linux/bpf": ({"core", "linux/bpf"}, ANY),
    "tests/linux/helpers": (set(), ANY),
    "tests/linux/path": ({"linux/path", "tests", "tests/linux/path"} | ENGINE, ANY),
    "tests/westwood/gallery": (  # beside ns-3's own controls
        {"core"},
        re.compile(r"ns3/\w+-module\.h|[a-z_0-9]+|(stdio|string)\.h"),
    ),
    "tests": (
        {"plan", "metrics", "wire", "linux/path", "tests"} | ENGINE,
        re.compile(r"gtest/.*|[a-z_0-9]+|std\w+\.h"),
    ),
    "bench": (
        {"bench"} | ENGINE,
        re.compile(r"benchmark/.*|ns3/.*-module\.h|sim/.*\.h|[a-z_0-9]+|sys/.*\.h"),
    ),
    "ns3/compare": ({"ns3", "ns3/runner"} | ENGINE, ANY),
    "ns3/runner": ({"wire", "ns3", "ns3/runner"} | ENGINE, ANY),
    "ns3": ({"core", "wire", "ns3"}, ANY),
    "linux/bpf": ({"core", "linux/bpf"}, ANY),
    "linux/loader": ({"linux/bpf", "linux/loader"}, ANY),
    "linux/path": ({"wire", "linux/bpf", "linux/path"} | ENGINE, ANY),
    "linux/um": ({"wire", "linux/bpf", "linux/path", "linux/um"} | ENGINE, ANY),
    "quic/runner": ({"wire", "quic/runner"} | ENGINE, ANY),
    "quic/westwood": ({"core"}, FREESTANDING),
}
SUFFIXES = {".h", ".hpp", ".c", ".cc", ".cpp"}


def room_of(path: Path) -> str | None:
    """Returns the room of a file in this repository; None if it is in none."""
    return next((room for room in RULES if path.is_relative_to(ROOT / room)), None)


def included(name: str, source: Path) -> Path | None:
    """Returns the repository's file that `source` includes as "name"; None if it does not exist."""
    for folder in (source.parent, ROOT, ROOT / "core"):
        path = (folder / name).resolve()
        if path.is_file() and path.is_relative_to(ROOT):
            return path
    return None


def complaints(source: Path) -> list[str]:
    """Yields the errors in the #include directives of one file."""
    room = room_of(source)
    if room is None:
        return [f"{source.relative_to(ROOT)}: is in no room, expected one of {', '.join(RULES)}"]
    rooms, headers = RULES[room]
    includes = []
    directive = re.compile(r'^\s*#\s*include\s+(?:"([^"]+)"|<([^>]+)>)', re.M)
    text = source.read_text()
    for match in directive.finditer(text):
        quoted, system = match.groups()
        if quoted:
            target = included(quoted, source)
            allowed = room_of(target) in rooms if target else bool(headers.fullmatch(quoted))
            if room == "wire" and target and target.is_relative_to(ROOT / "engine"):
                allowed = target in DATA_HEADERS
        else:
            closed = room.startswith("engine") and system in IMPURE
            allowed = bool(headers.fullmatch(system)) and not closed
        if not allowed:
            line = text.count("\n", 0, match.start()) + 1
            place = f"{source.relative_to(ROOT)}:{line}"
            includes.append(f"{place}: {room} may not include {quoted or system}")
    return includes


def main() -> int:
    problems = [
        complaint
        for top in dict.fromkeys(room.split("/")[0] for room in RULES)
        for source in sorted((ROOT / top).rglob("*"))
        if source.suffix in SUFFIXES
        for complaint in complaints(source)
    ]
    print("\n".join(problems) or "every #include is allowed")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
