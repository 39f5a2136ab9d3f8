# SPDX-License-Identifier: BSD-3-Clause
"""Checks the Rust code of quic/: `quic.py [--crate]`.

It checks format, lints and tests. With --crate it checks what users of the crate get instead: the
documentation, the example, what it depends on, and that the published package builds by itself.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# The folder's .cargo/config.toml is that of the runner, whose random numbers the tests need.
STACKS = ROOT / "quic" / "stacks"
CRATE = ROOT / "quic" / "westwood"
TARGET = ROOT / "build" / "cargo"
QUIET = ("--locked", "--quiet")
OURS = (*QUIET, "--package", "westwood", "--package", "ww-stacks")
STRICT = ("--", "-D", "warnings")
CHECKS = (
    ("fmt", "--all", "--check"),
    ("clippy", *OURS, "--all-features", "--all-targets", *STRICT),
    ("test", *OURS, "--all-features", "--lib"),
)
# They share compiled dependencies, without the settings of the runner.
OF_CRATE = (
    ("clippy", *QUIET, "--package", "loopback", *STRICT),
    ("doc", *QUIET, "--no-deps", "--all-features"),
    ("test", *QUIET, "--doc"),
    ("publish", *QUIET, "--dry-run", "--allow-dirty"),
)


def cargo(folder: Path, *words: str) -> int:
    """Runs cargo; returns its exit code."""
    settings = {"CARGO_TARGET_DIR": str(TARGET), "RUSTDOCFLAGS": "-D warnings"}
    environment = {**os.environ, **settings}
    return subprocess.run(["cargo", *words], cwd=folder, env=environment, check=False).returncode


def first_failure(folder: Path, checks: Iterable[Sequence[str]]) -> int:
    """Runs checks until one fails; returns its exit code, or 0."""
    codes = (cargo(folder, *check) for check in checks)
    return next((code for code in codes if code), 0)


def deny() -> int:
    """Checks licences, sources and advisories by quic/deny.toml, with what this machine has."""
    if subprocess.run(["cargo", "deny", "--version"], capture_output=True, check=False).returncode:
        print("not checked: licences and advisories, no cargo-deny (cargo install cargo-deny)")
        return 0
    failed = cargo(STACKS.parent, "deny", "check", "bans", "licenses", "sources")
    advisories = subprocess.run(
        ["cargo", "deny", "check", "advisories"],
        cwd=STACKS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    if "failed to fetch advisory database" in advisories.stderr:
        print("not checked: advisories, their database is out of reach")
        return failed
    print(advisories.stdout, advisories.stderr, sep="", end="")
    return failed or advisories.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, allow_abbrev=False)
    parser.add_argument("--crate", action="store_true")
    if not parser.parse_args().crate:
        return first_failure(STACKS, CHECKS)
    return first_failure(CRATE, OF_CRATE) or deny()


if __name__ == "__main__":
    sys.exit(main())
