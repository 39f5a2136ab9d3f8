# SPDX-License-Identifier: BSD-3-Clause
"""Checks the Rust code of quic/: format, lints, tests, and that the crate can be published."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "build" / "quic" / "checks"
OURS = ("--locked", "--quiet", "--package", "westwood", "--package", "ww-stacks")
CHECKS = (
    ("fmt", "--all", "--check"),
    ("clippy", *OURS, "--all-features", "--", "-D", "warnings"),
    ("test", *OURS, "--all-features", "--lib"),
    ("publish", "--dry-run", "--no-verify", "--allow-dirty", *OURS[:4]),
)


def main() -> int:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    for check in CHECKS:
        done = subprocess.run(["cargo", *check], cwd=ROOT / "quic", env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
