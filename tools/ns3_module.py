# SPDX-License-Identifier: BSD-3-Clause
"""Builds ns3/ out of tree and runs its test suites: `ns3_module.py wheel|debian`.

wheel: against ns-3 3.44 from PyPI, unpacked into build/ns3. debian: against libns3-dev 3.37.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "bench"))
import ns3_wheel  # noqa: E402


def main(which: str) -> int:
    try:
        root = ns3_wheel.wheel() / "ns3" if which == "wheel" else Path("/usr")
    except RuntimeError as error:
        print(error)
        return 77  # not here; the suite is skipped
    folder = ROOT / "build" / "ns3" / which
    for command in (
        ["cmake", "-S", "ns3", "-B", folder, "-G", "Ninja", "-D", f"NS3_ROOT={root}"],
        ["cmake", "--build", folder],
        ["ctest", "--test-dir", folder, "--output-on-failure", "--no-tests=error"],
    ):
        done = subprocess.run([str(word) for word in command], cwd=ROOT)
        if done.returncode != 0:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
