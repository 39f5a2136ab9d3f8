# SPDX-License-Identifier: BSD-3-Clause
"""Results folders: scenario.toml, runs.parquet, traces/, manifest.json, figures, SHA256SUMS.

Files are written atomically, with checksums in SHA256SUMS that are verified on reading. One process
writes at a time; it removes partial files of processes that died. A folder with other content is
never written to. Names and links can't lead outside the folder.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import platform
import subprocess
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from westwood import __version__
from westwood.errors import InputError, RunError, show
from westwood.results import disk, kinds, sums
from westwood.results.kinds import ResultKind

if TYPE_CHECKING:
    import polars as pl

    from westwood.scenario import Scenario

FORMAT = 2
_MANIFEST = "manifest.json"
_MAKER = "westwood"
_LOCK = ".lock"


class Damaged(InputError):
    """Raised for a file of a folder that can't be used; names the file and the reason."""


class Folder:
    """A results folder, created with its first file.

    Writing the first file takes the lock, which lasts as long as this object. A folder with another
    kind of results than `kind` is refused. So is a place where no file can be made, unless `option`
    is empty: such a folder is only read. `tell` receives a line about each damaged file that is
    ignored.
    """

    def __init__(
        self,
        path: str | Path,
        option: str = "--out",
        *,
        kind: ResultKind | None = None,
        tell: Callable[[str], object] = warnings.warn,
    ) -> None:
        self.path, self.tell = Path(path), tell
        self._option, self._kind = option, kind
        self._sums: sums.Sums | None = sums.Sums(self.path)
        self._release: weakref.finalize[..., Folder] | None = None
        try:
            self._check()
        except OSError as error:
            raise self.error(f"can't be used: {error.strerror or error}") from None
        if option:
            self._check_place()

    @classmethod
    def current(cls) -> Folder:
        """Returns the current folder, whatever it holds, for a figure without a chosen place."""
        return cls.containing(Path("figure"))

    @classmethod
    def containing(cls, file: Path) -> Folder:
        """Returns the folder of a file that the user names, without lock and checksums.

        Raises InputError if the name belongs to a results folder or is not that of a file.
        """
        if file.is_symlink() or (file.exists() and not file.is_file()):
            problem = "is a link, a folder or a device, expected a file or a new name"
            raise InputError(problem, value=str(file))
        if file.exists() and sums.Sums(file.parent).of(file.name):
            raise InputError("belongs to a results folder, expected another name", value=str(file))
        folder = cls.__new__(cls)
        folder.path, folder._option, folder._kind = file.parent, "", None
        folder._sums, folder._release = None, None
        return folder

    def _check(self) -> None:
        if any("\udc80" <= character <= "\udcff" for character in str(self.path)):
            raise self.error("has bytes in its name that are not UTF-8, expected another name")
        if not self.path.exists():
            return
        if not self.path.is_dir():
            raise self.error("is a file, expected a folder")
        # A killed process may have left only these, before it wrote a manifest.
        begun = (_LOCK, disk.PARTIAL)
        others = any(not file.name.startswith(begun) for file in self.path.iterdir())
        if others and not self._is_ours():
            raise self.error("holds files that westwood did not write, expected a new folder")
        if self._kind:
            self._refuse_other(self._kind)

    def _check_place(self) -> None:
        """Raises InputError if no file can be made here, so that no run is in vain."""
        try:
            disk.check_place(self.path)
        except OSError as error:
            if error.errno not in disk.FULL:  # the disk's fault, not that of the path
                raise self.error(f"can't be written: {error.strerror or error}") from None

    def _refuse_other(self, kind: ResultKind) -> None:
        """Raises InputError if the folder holds another kind of results."""
        held = kinds.kind_in(self.path)
        if held and not kind.goes_with(held):
            raise self.error(f"holds {held}, expected a new folder")

    def _is_ours(self) -> bool:
        manifest = _json_of(self.path / _MANIFEST)
        if isinstance(manifest, dict) and manifest.get("made_by") == _MAKER:
            return True
        return self._sums is not None and self._sums.is_ours()

    def error(self, problem: str) -> InputError:
        """Returns an error about this folder, under the option that named it."""
        return InputError(problem, key=self._option, value=str(self.path))

    def holds(self, kind: ResultKind, state: object, *, resume: bool, differs: str) -> bool:
        """Returns whether the folder holds results of this kind and state, which can be resumed.

        Raises InputError without `resume`, for another kind of results, and, with the message
        `differs`, for another state; its "{keys}" become the names of what differs.
        """
        self._refuse_other(kind)
        if not os.path.lexists(self.path / kind.file):
            return False
        if not resume:
            raise self.error(f"holds {kind}, expected --resume or a new folder")
        self.check_format()
        if kind.is_computed:
            self.check_version(self._made_by("version", __version__))
        try:
            content = _json_of(self.verified(kind.file))
        except Damaged as damaged:
            self.tell(f"{damaged}; it is written again, and only runs that fit it are kept")
            return False
        if content != (asked := json.loads(json.dumps(state))):
            kept = content if isinstance(content, dict) else {}
            keys = [key for key in {**asked, **kept} if asked.get(key) != kept.get(key)]
            raise self.error(differs.format(keys=", ".join(keys)))
        return True

    def begin(
        self,
        kind: ResultKind,
        state: object,
        *,
        resume: bool,
        differs: str,
        about: Mapping[str, Any] | None = None,
        files: Mapping[str, str] | None = None,
    ) -> None:
        """Resumes results of this kind, or starts them if the folder holds none.

        about: the manifest's settings; the state by default. files: what is run, as texts by name.
        """
        begun = self.holds(kind, state, resume=resume, differs=differs)
        if not (begun and self.has(_MANIFEST)):
            self.manifest(about or {kind.title: state}, complete=False)
        if files and not (begun and all(map(self.has, files))):
            self.texts(files)
        if not begun:
            self.json(kind.file, state)

    def check_format(self) -> None:
        """Raises InputError if the folder was written in another format."""
        if (written := self._made_by("format", FORMAT)) != FORMAT:
            problem = f"was written in format {show(written)}, expected {FORMAT}: run it again"
            raise InputError(problem, source=str(self.path))

    def _made_by(self, key: str, default: object) -> object:
        manifest = _json_of(self.path / _MANIFEST)
        return manifest.get(key, default) if isinstance(manifest, dict) else default

    def check_version(self, version: object) -> None:
        """Raises InputError for results of another version, which this one may contradict."""
        if version != __version__:
            problem = f"was written by westwood {version}, expected {__version__} or a new folder"
            raise self.error(problem)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Holds the folder's lock during the block."""
        self._lock()
        try:
            yield
        finally:
            self._unlock()

    def _lock(self) -> None:
        """Takes the lock, unless this object has it, and removes leftover partial files."""
        if self._release is not None:
            return
        with _writing(self.path / _LOCK):
            self.path.mkdir(parents=True, exist_ok=True)
            if (self.path / _LOCK).is_symlink():
                raise self.error(f"has a link as {_LOCK}, expected a folder that westwood wrote")
            lock = disk.open_to_append(self.path / _LOCK)
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                os.close(lock)
                problem = "another westwood is writing into it, expected another folder"
                raise self.error(problem) from None
            except OSError:
                os.close(lock)
                raise
        self._release = weakref.finalize(self, os.close, lock)
        if self._kind:  # another process may have started since the first check
            self._refuse_other(self._kind)
        disk.remove_left(self.path)

    def _unlock(self) -> None:
        if self._release is not None:
            self._release()
            self._release = None

    def file(self, name: str, write: Callable[[Path], object]) -> Path:
        """Calls `write` with a temporary file and renames it to `name`; returns its path."""
        path = self.path / name
        with _writing(path):
            if self._sums is None:
                disk.remove_left(self.path)
                disk.write_whole(path, write)
                return path
            self._lock()
            for folder in self._folders_of(name):
                if not folder.is_dir():
                    folder.mkdir()
                    disk.folder_to_disk(folder.parent)
            with self._sums.replacing(name) as add:
                disk.write_whole(path, write, place=self.path, before=add)
        return path

    def _folders_of(self, name: str) -> Iterator[Path]:
        """Yields the folders between this one and a file; raises InputError if it is outside."""
        parts = PurePosixPath(name).parts
        if not name.isprintable() or not parts or name.startswith("/") or ".." in parts:
            raise InputError("expected a file name inside it", key=str(self.path), value=name)
        folder = self.path
        for part in parts[:-1]:
            folder /= part
            if folder.is_symlink():
                raise Damaged("is a link, expected a folder", source=str(folder))
            yield folder

    def verified(self, name: str) -> Path:
        """Returns the path of a file; raises Damaged if it has changed or can't be read."""
        path = self.path / name
        expected = self._sums.of(name) if self._sums else []
        try:
            for _ in self._folders_of(name):
                pass
            if disk.sha256(path) not in expected:
                problem = "differs from" if expected else "is not in"
                raise Damaged(f"is damaged: its checksum {problem} {sums.NAME}", source=str(path))
        except OSError as error:
            raise Damaged(f"can't be read: {error.strerror or error}", source=str(path)) from None
        return path

    def has(self, name: str) -> bool:
        """Returns whether a file is intact; otherwise reports that it is written again."""
        try:
            self.verified(name)
        except Damaged as damaged:
            self.tell(f"{damaged}; it is written again")
            return False
        return True

    def read_frame(self, name: str) -> pl.DataFrame:
        """Reads a Parquet file; raises Damaged if it has changed or can't be read."""
        import polars as pl

        path = self.verified(name)
        try:
            return pl.read_parquet(path)
        except (OSError, pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
            raise Damaged(f"can't be read: {error}", source=str(path)) from None

    def remove(self, names: Iterable[str], folder: str | None = None) -> None:
        """Removes files that others have replaced, and a folder inside if it becomes empty."""
        with _writing(self.path):
            for name in names:
                (self.path / name).unlink(missing_ok=True)
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                if folder is not None and not any((self.path / folder).iterdir()):
                    (self.path / folder).rmdir()

    def text(self, name: str, content: str) -> Path:
        """Writes a text file."""
        return self.file(name, lambda path: path.write_text(content, encoding="utf-8"))

    def texts(self, files: Mapping[str, str], place: str = "") -> Path:
        """Writes text files into a folder inside; returns the path of the last one."""
        for file, content in files.items():
            path = self.text(f"{place}/{file}" if place else file, content)
        return path

    def scenario(self, name: str, scenario: Scenario) -> Path:
        """Writes its long lists of numbers and its controls, then NAME.toml; returns its path."""
        place, _, stem = name.rpartition("/")
        return self.texts(scenario.to_files(stem), place)

    def json(self, name: str, content: object) -> Path:
        """Writes a JSON file."""
        return self.text(name, _json_text(content))

    def frame(self, name: str, frame: pl.DataFrame) -> Path:
        """Writes a Parquet or CSV file, by the name's suffix."""
        if name.endswith(".csv"):
            return self.file(name, frame.write_csv)
        from westwood.results.parquet import write_parquet

        return self.file(name, lambda path: write_parquet([frame], path))

    def manifest(self, settings: Mapping[str, Any], *, complete: bool = True) -> Path:
        """Writes the manifest. Written first, it marks the folder as ours."""
        return self.write_manifest(about(settings, complete=complete))

    def write_manifest(self, text: str) -> Path:
        """Writes the manifest's text; call it last, when all that it names is written."""
        path = self.text(_MANIFEST, text)
        if self._sums is not None:
            with _writing(self.path):
                self._sums.compact()
        return path


@contextlib.contextmanager
def _writing(path: Path) -> Iterator[None]:
    """Turns OSError into a one-line RunError."""
    try:
        yield
    except OSError as error:
        raise RunError(f"{path}: can't be written: {error.strerror or error}") from None


def about(settings: Mapping[str, Any], *, complete: bool = True) -> str:
    """Returns the manifest's text: what made a folder, and how."""
    return _json_text(
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
        }
    )


def _json_text(content: object) -> str:
    return json.dumps(content, indent=2, allow_nan=False) + "\n"


def _json_of(path: Path) -> object:
    """Reads a JSON file; returns None if it is not JSON."""
    try:
        return json.loads(disk.read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def _commit() -> str | None:
    """Returns the commit of this package's source tree, or None if git does not track it."""
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
