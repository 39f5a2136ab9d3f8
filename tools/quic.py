# SPDX-License-Identifier: BSD-3-Clause
"""Checks the Rust code of quic/: format, lints, tests, and that the crate can be published."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The folder's .cargo/config.toml and the release profile are those of the runner, whose compiled
# dependencies the checks use.
QUIC = ROOT / "quic" / "stacks"
TARGET = ROOT / "build" / "cargo"
OURS = ("--locked", "--quiet", "--package", "westwood", "--package", "ww-stacks")
CHECKS = (
    ("fmt", "--all", "--check"),
    ("clippy", "--release", *OURS, "--all-features", "--", "-D", "warnings"),
    ("test", "--release", *OURS, "--all-features", "--lib"),
    ("publish", "--dry-run", "--no-verify", "--allow-dirty", *OURS[:4]),
)


def main() -> int:
    environment = {**os.environ, "CARGO_TARGET_DIR": str(TARGET)}
    for check in CHECKS:
        done = subprocess.run(["cargo", *check], cwd=QUIC, env=environment, check=False)
        if done.returncode:
            return done.returncode
    return 0


if __name__ == "__main__":
    sys.exit(main())
