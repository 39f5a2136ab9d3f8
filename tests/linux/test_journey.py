# SPDX-License-Identifier: BSD-3-Clause
"""The commands of docs/install.md and docs/linux.md work on a bare Debian 12.

It has Python and iperf3, but no compiler, no checkout and no libbpf; the wheel of `make release`
provides the rest. One shell runs the blocks that follow the comment <!-- journey --> unchanged, so
that a marked line is a tested line.
"""

import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator

import bare_debian
import pytest
from bare_debian import ROOT, BareDebian
from journeys import blocks
from machine import available, controls_to_ourselves

from westwood import __version__
from westwood.kernel import ww_kernel

pytestmark = [pytest.mark.kernel, pytest.mark.slow]

PAGES = ("docs/install.md", "docs/linux.md")
# A newcomer has sudo, and the wheel in dist/. "Cannot tell" is a valid verdict: exit code 3.
PRELUDE = f"""\
sudo() {{ "$@"; }}
westwood() {{ command westwood "$@" || [ $? = 3 ]; }}
echo "westwood=={__version__}" > /root/constraints.txt
export PIP_CONSTRAINT=/root/constraints.txt PS4='$ '
cd /root
set -e
"""
HOUR_S = 3600


@pytest.fixture(scope="module")
def debian(tmp_path_factory) -> Iterator[BareDebian]:
    """Makes a bare Debian with the wheel in dist/; no other test loads our controls meanwhile."""
    if reason := bare_debian.missing_reason():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("journey")
    built = [sys.executable, "tools/wheel.py", str(folder / "dist")]
    subprocess.run(built, cwd=ROOT, check=True)
    subprocess.run([sys.executable, "tools/check_wheel.py", str(folder / "dist")], check=True)
    try:
        machine = BareDebian(folder)
        shutil.copytree(folder / "dist", machine.root / "root" / "dist")
        with controls_to_ourselves() as ours:
            if not ours:
                pytest.skip("this machine has our controls loaded: westwood kernel unload")
            yield machine
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def walked(debian) -> str:
    """Runs the pages' commands; returns the output."""
    typed = "".join(
        f"set -x\n{block}{{ set +x; }} 2>/dev/null\n" for page in PAGES for block in blocks(page)
    )
    done = debian.run(PRELUDE + typed + "echo arrived", HOUR_S)
    assert done.returncode == 0 and done.stdout.endswith("arrived\n"), done.stdout[-4000:]
    return done.stdout


def test_both_pages_have_a_journey():
    assert [page for page in PAGES if not blocks(page)] == []
    whole = "".join(block for page in PAGES for block in blocks(page))
    for step in (
        "pip install --find-links dist 'westwood[plot]'",
        "kernel doctor",
        "kernel load",
        "westwood path compare --emulated",
        "--engine linux",
        "kernel unload",
    ):
        assert step in whole, step


def test_it_leads_to_a_verdict_and_back(walked):
    for text in ("ok       ww-kernel", "is loaded", "Westwood+", "is unloaded"):
        assert text in walked
    # The verdict depends on this machine's default: against BBRv1 it does not pay.
    assert re.search(r"^(pays|does not pay|cannot tell): ww_plus", walked, re.M), walked[-4000:]
    assert "missing  " not in walked and "Traceback" not in walked
    assert not available() & set(ww_kernel.CONTROLS)


def test_the_machine_has_no_compiler(debian, walked):
    compilers = "command -v cc gcc g++ clang cmake make; ldconfig -p | grep -c libbpf"
    done = debian.run(f"{compilers}; ls /usr/include/bpf", 60)
    assert done.stdout.splitlines()[0] == "0", done.stdout
    (wheel,) = (debian.root / "root" / "dist").glob("*.whl")
    for name in ("westwood/bin/ww-path", "westwood/bin/ww.bpf.o"):  # pip installed our wheel
        (installed,) = (debian.root / "root").glob(f"*/lib/python3*/site-packages/{name}")
        assert installed.read_bytes() == zipfile.ZipFile(wheel).read(name)


@pytest.mark.parametrize(
    ("command", "remedy"),
    [
        (
            "westwood ns3 build",
            "no C++ compiler, cmake, ninja: apt-get install g++ cmake ninja-build",
        ),
        ("westwood run table1 --engine ns3", "westwood ns3 build"),
        ("westwood kernel machine", "apt-get install"),
        ("rm $P/bin/ww-path && westwood compare --engine linux", "pip install --force-reinstall"),
        ("rm $P/bin/ww-kernel && westwood kernel load", "pip install --force-reinstall"),
    ],
)
def test_remedies_work_without_a_makefile(debian, walked, command, remedy):
    place = "P=$(python -c 'import westwood; print(*westwood.__path__)')"
    done = debian.run(f"cd; . */bin/activate; {place}\n{command}", 300)
    assert done.returncode == 77, done.stdout
    (line,) = [warning for warning in done.stdout.splitlines() if warning.startswith("westwood: ")]
    assert remedy in line and "make " not in line.replace("cmake ", "")


def test_root_may_load_the_wheels_controls_at_boot(debian, walked):
    boot = "cd; . */bin/activate; pip install -q --force-reinstall --no-deps dist/westwood-*.whl"
    done = debian.run(
        f"{boot} && westwood kernel load --boot && westwood kernel unload --boot", 300
    )
    assert done.returncode == 0, done.stdout
    assert "wrote /etc/systemd/system/westwood.service" in done.stdout
