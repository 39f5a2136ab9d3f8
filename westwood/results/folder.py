# SPDX-License-Identifier: BSD-3-Clause
"""Writes results folders: scenario.toml, runs.parquet, traces/, manifest.json, figures.

Every file appears whole or not at all. A folder that holds something else is never written into.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood import __version__
from westwood.errors import InputError, RunError

if TYPE_CHECKING:
    import polars as pl

FORMAT = 1
_MANIFEST = "manifest.json"
_MAKER = "westwood"
_LOCK = ".lock"
_PARTIAL = ".partial-"  # begins the names of what is being written


class Folder:
    """Is a results folder, which is made when its first file is written."""

    def __init__(self, path: str | Path, option: str = "--out") -> None:
        self.path = Path(path)
        self._option = option
        try:
            self._check()
        except OSError as error:
            raise self.error(f"can't be used: {error.strerror or error}") from None

    @classmethod
    def current(cls) -> Folder:
        """Takes the current folder, whatever is in it, for a figure whose place was not chosen."""
        folder = cls.__new__(cls)
        folder.path, folder._option = Path(), ""
        return folder

    @classmethod
    def beside(cls, file: Path) -> Folder:
        """Takes the folder of a file that the user names."""
        folder = cls.current()
        folder.path = file.parent
        return folder

    def _check(self) -> None:
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise self.error("is a file, expected a folder")
        # What a kill left before there was a manifest, a lock or half a file, is nobody else's.
        others = any(not file.name.startswith((_LOCK, _PARTIAL)) for file in self.path.iterdir())
        if others and not self._is_ours():
            raise self.error("holds files that westwood did not write, expected a new folder")

    def _is_ours(self) -> bool:
        try:
            manifest = json.loads((self.path / _MANIFEST).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return False
        return isinstance(manifest, dict) and manifest.get("made_by") == _MAKER

    def error(self, problem: str) -> InputError:
        """Makes an error about this folder, under the option that named it."""
        return InputError(problem, key=self._option, value=str(self.path))

    def holds(self, what: str, file: str, state: object, *, resume: bool, differs: str) -> bool:
        """Tells whether `what` was begun here with this state, so that it can go on.

        Raises an error without `resume`, and one that says `differs` if the state is another.
        """
        path = self.path / file
        if not path.exists():
            return False
        if not resume:
            raise self.error(f"holds a {what}, expected --resume or a new folder")
        try:
            found = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            found = None
        if found != json.loads(json.dumps(state)):
            raise self.error(differs)
        return True

    @contextlib.contextmanager
    def locked(self, what: str) -> Iterator[None]:
        """Keeps others out while the block writes `what`."""
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunError(f"{self.path}: can't be written: {error.strerror or error}") from None
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                problem = f"another {what} is writing into it, expected another folder"
                raise self.error(problem) from None
            yield
        finally:
            os.close(lock)

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """Lets `write` fill a temporary file and moves it to `name`; the file's path."""
        path = self.path / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryDirectory(dir=path.parent, prefix=_PARTIAL) as part:
                temporary = Path(part) / path.name  # the ending tells the format
                write(temporary)
                os.replace(temporary, path)
        except OSError as error:
            raise RunError(f"{path}: can't be written: {error.strerror or error}") from None
        return path

    def text(self, name: str, content: str) -> Path:
        """Writes a text file."""
        return self.file(name, lambda path: path.write_text(content, encoding="utf-8"))

    def json(self, name: str, content: object) -> Path:
        """Writes a JSON file."""
        return self.text(name, json.dumps(content, indent=2, allow_nan=False) + "\n")

    def frame(self, name: str, frame: pl.DataFrame) -> Path:
        """Writes a Parquet or CSV file, by the name's ending."""
        if name.endswith(".csv"):
            return self.file(name, frame.write_csv)
        return self.file(name, frame.write_parquet)

    def manifest(self, settings: Mapping[str, Any], *, complete: bool = True) -> Path:
        """Writes what made this folder. Written first, it also marks the folder as ours."""
        return self.json(
            _MANIFEST,
            {
                "made_by": _MAKER,
                "format": FORMAT,
                "version": __version__,
                "commit": _commit(),
                "created": datetime.now(UTC).isoformat(timespec="seconds"),
                "python": platform.python_version(),
                "machine": platform.machine(),
                "complete": complete,
                **settings,
            },
        )


def _commit() -> str | None:
    """Asks git for the commit of the source tree this package runs from; None without one."""
    here = Path(__file__).resolve().parent
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        done = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty", "--abbrev=12"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
        tracked = subprocess.run(
            ["git", "-C", str(here), "ls-files", "--error-unmatch", Path(__file__).name],
            capture_output=True,
            timeout=5,
            check=False,
        )
        return done.stdout.strip() if tracked.returncode == 0 else None
    return None
