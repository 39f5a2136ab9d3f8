# SPDX-License-Identifier: BSD-3-Clause
"""Remembers what a suite that passed was run on, so that it need not run again on the same.

The digests lie in build/passed/ of the clone: a fresh clone runs everything.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

_INCLUDE = re.compile(rb'^\s*#\s*include "([^"]+)"', re.M)


@dataclass(frozen=True)
class Inputs:
    """Everything that decides a suite's result: files of the repository, and versions of tools."""

    paths: tuple[str, ...]  # files or folders, with the headers that they include
    tools: tuple[str, ...] = ()  # commands that print a version
    without: tuple[str, ...] = ()  # parts of the paths that decide nothing

    def __str__(self) -> str:
        paths = ", ".join("everything" if path == "." else path for path in self.paths)
        return f"{paths} but {', '.join(self.without)}" if self.without else paths

    def files(self, root: Path) -> list[Path]:
        """Lists the files, with all headers that they include; empty without git."""
        listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
        without = [f":(exclude){path}" for path in self.without]
        done = subprocess.run([*listed, *self.paths, *without], cwd=root, capture_output=True)
        todo = {root / name for name in done.stdout.decode().split("\0") if name}
        files: set[Path] = set()
        while todo:
            file = todo.pop()
            files.add(file)
            todo |= _headers(root, file) - files
        return sorted(files)

    def digest(self, root: Path, *more: str) -> str | None:
        """Returns the digest of all inputs; None if they can't be listed."""
        files = self.files(root)
        digest = hashlib.sha256("\0".join(more).encode())
        for file in files:
            content = hashlib.sha256(file.read_bytes() if file.is_file() else b"missing")
            digest.update(f"\0{file.relative_to(root)}\0{content.hexdigest()}".encode())
        for tool in self.tools:
            output = subprocess.run(tool, shell=True, cwd=root, capture_output=True).stdout
            digest.update(b"\0" + tool.encode() + b"\0" + output)
        return digest.hexdigest() if files else None


def _headers(root: Path, file: Path) -> set[Path]:
    """Returns the repository's headers that a file includes."""
    content = file.read_bytes() if file.is_file() else b""
    names = [name.decode(errors="replace") for name in _INCLUDE.findall(content)]
    near = {
        Path(os.path.normpath(folder / name)) for folder in (file.parent, root) for name in names
    }
    return {path for path in near if path.is_relative_to(root) and path.is_file()}


class Passed:
    """The digests of the suites that passed, and when."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def when(self, suite: str, digest: str | None) -> str | None:
        """Returns when the suite passed on these inputs; None if it never did."""
        try:
            stored = json.loads((self._folder / f"{suite}.json").read_text())
        except (OSError, ValueError):
            return None
        return str(stored["when"]) if digest and stored.get("digest") == digest else None

    def remember(self, suite: str, digest: str | None) -> None:
        """Remembers that the suite passed on these inputs."""
        if digest:
            self._folder.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"digest": digest, "when": time.strftime("%Y-%m-%d %H:%M")})
            (self._folder / f"{suite}.json").write_text(text)

    def forget(self, suite: str) -> None:
        """Forgets a suite that is about to run, so that an interrupted run proves nothing."""
        (self._folder / f"{suite}.json").unlink(missing_ok=True)
