# SPDX-License-Identifier: BSD-3-Clause
"""Checks that the newest wheel in a folder contains the whole package and nothing else.

Its programs must be executable, and need no library but C's.
"""

import io
import shutil
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

from elftools.elf.elffile import ELFFile

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = {"westwood/bin/ww-kernel", "westwood/bin/ww-path"}
if shutil.which("cargo"):  # a wheel that is built without Rust lacks it
    PROGRAMS.add("westwood/bin/ww-quic")
GENERATED = {*PROGRAMS, "westwood/bin/ww.bpf.o", "westwood/_engine.pyi"}
LIBC = ("libc.so.", "libm.so.", "ld-linux")
LICENCES = {"LICENSE", *(f"LICENSES/{path.name}" for path in ROOT.glob("LICENSES/*.txt"))}


def package() -> set[str]:
    """Lists the files of each wheel, except the native module."""
    files = {
        str(path.relative_to(ROOT))
        for path in (ROOT / "westwood").rglob("*")
        if path.is_file() and path.suffix not in {".pyc", ".so"}
    }
    files |= {f"westwood/scenarios/{path.name}" for path in ROOT.glob("scenarios/*.toml")}
    for room, pattern in (
        ("ns3", "**/*"),
        ("core", "*"),
        ("controls", "*"),
        ("wire", "*"),
        ("cmake", "*"),
        ("engine", "**/*.hpp"),
        *(("engine", f"**/{name}.cpp") for name in ("channel", "topology", "arrivals", "validate")),
        *((f"linux/{name}", "**/*") for name in ("bpf", "path", "um")),
    ):
        for path in (ROOT / room).glob(pattern):
            if path.is_file() and not path.name.startswith("."):
                files.add(f"westwood/sources/{path.relative_to(ROOT)}")
    files |= {f"share/man/man1/{path.name}" for path in ROOT.glob("man/*.1")}
    return files | GENERATED


def complaints(wheel: zipfile.ZipFile) -> Iterator[str]:
    """Yields what the wheel lacks and what does not belong into it."""
    everything = [info for info in wheel.infolist() if not info.is_dir()]
    # pip installs NAME.data/data/share/ into the environment's share/.
    names = {
        info.filename.rpartition(".data/data/")[2]
        for info in everything
        if ".dist-info/" not in info.filename
    }
    native = {name for name in names if name.endswith(".so")}
    yield from (f"missing from the wheel: {name}" for name in sorted(package() - names))
    yield from (f"not part of the package: {name}" for name in sorted(names - package() - native))
    if not native:
        yield "missing from the wheel: the native module"
    there = {info.filename.partition("/licenses/")[2] for info in everything}
    yield from (f"missing from the wheel: licence {name}" for name in sorted(LICENCES - there))
    for name in sorted(PROGRAMS & names):
        if not wheel.getinfo(name).external_attr >> 16 & 0o111:
            yield f"not executable: {name}"
        for library in needed(wheel.read(name)):
            if not library.startswith(LIBC):
                yield f"{name} needs {library}"


def needed(program: bytes) -> list[str]:
    """Lists the shared libraries that a program needs."""
    section = ELFFile(io.BytesIO(program)).get_section_by_name(".dynamic")
    return [tag.needed for tag in section.iter_tags("DT_NEEDED")] if section else []


def main(folder: str) -> int:
    wheel = max(Path(folder).glob("westwood-*.whl"), key=lambda path: path.stat().st_mtime)
    problems = list(complaints(zipfile.ZipFile(wheel)))
    print("\n".join(problems) or f"{wheel.name} is complete")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
