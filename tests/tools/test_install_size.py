# SPDX-License-Identifier: BSD-3-Clause
"""`pip install westwood` stays small in a clean environment, from its wheel and the registry."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from westwood.errors import UnavailableError

ROOT = Path(__file__).parents[2]
MOST_MB = 250

pytestmark = pytest.mark.slow


def run(*command: str | Path) -> str:
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # for cmake and ninja
    env = {**os.environ, "PATH": path}
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_clean_environment_is_light_and_works(tmp_path):
    pip = (sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation")
    run(*pip, "--wheel-dir", tmp_path, ".")
    (wheel,) = tmp_path.glob("*.whl")
    clean = tmp_path / "clean"
    run(sys.executable, "-m", "venv", clean)
    run(clean / "bin" / "pip", "install", "--quiet", wheel)
    size_mb = int(run("du", "-sm", clean).split()[0])
    biggest = run("sh", "-c", f"du -sm {clean}/lib/*/site-packages/* | sort -rn | head -8")
    assert size_mb < MOST_MB, f"{size_mb} MB:\n{biggest}"

    westwood = clean / "bin" / "westwood"
    assert "Westwood+" in run(westwood, "compare", "--duration", "10s", "--cc", "westwood+")
    asked = [westwood, "compare", "--plot"]
    done = subprocess.run(asked, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == UnavailableError.exit_code
    assert done.stderr == "westwood: --plot needs matplotlib: pip install 'westwood[plot]'\n"
