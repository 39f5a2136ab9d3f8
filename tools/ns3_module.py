# SPDX-License-Identifier: BSD-3-Clause
"""Builds ns3/ out of tree and runs its suites: `ns3_module.py wheel|debian [RELEASE] [--slow]`.

`wheel` builds ns3/ against ns-3 3.44 from PyPI, unpacked into build/ns3, or against another release
there (3.42.post2). `debian` builds it against libns3-dev 3.37. `--slow` also runs the figures of
the papers.
"""

import os
import subprocess
import sys
from pathlib import Path

from westwood.engines import ns3_build
from westwood.errors import RunError

ROOT = Path(__file__).resolve().parent.parent

LACKING = 77


def main(which: str, release: str, slow: bool) -> int:
    try:
        requirement = f"ns3=={release}" if release else ns3_build.WHEEL
        root = ns3_build.wheel(requirement) / "ns3" if which == "wheel" else Path("/usr")
    except RunError as error:
        print(error)
        return LACKING
    folder = ROOT / "build" / "ns3" / "-".join(filter(None, (which, release)))
    test = ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error"]
    for command in (
        ["cmake", "-S", "ns3", "-B", folder, "-G", "Ninja", "-D", f"NS3_ROOT={root}"],
        ["cmake", "--build", folder],
        [*test, "-j", len(os.sched_getaffinity(0)), *(("-C", "slow") if slow else ())],
    ):
        done = subprocess.run([str(word) for word in command], cwd=ROOT)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    words = [word for word in sys.argv[1:] if word != "--slow"]
    if not words or words[0] not in ("wheel", "debian") or len(words) > 2:
        sys.exit("usage: ns3_module.py wheel|debian [RELEASE] [--slow]")
    sys.exit(main(words[0], words[1] if len(words) > 1 else "", "--slow" in sys.argv))
