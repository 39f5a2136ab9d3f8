# SPDX-License-Identifier: BSD-3-Clause
"""Makes a folder from which others repeat the results of a paper, and repeats them there.

A list of commands runs inside the folder, one after the other, next to copies of the files that
they name. The folder keeps what they write and print, with checksums and CPU time, and
reproduce.sh, README.md and a Dockerfile. `repeated` runs the commands in a new folder and compares.

Compared are the data: not manifests, which say when and where they were written, not journals,
whose order depends on the number of workers, not the time that a run took, and not drawings and
pages, which fonts and versions of libraries change. What a command prints is compared if it writes
no data.
"""

from __future__ import annotations

import json
import os
import re
import resource
import shlex
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from westwood import markup, programs, stopping
from westwood.errors import InputError, RunError
from westwood.results import disk
from westwood.results.folder import Damaged, Folder
from westwood.results.kinds import ResultKind
from westwood.results.store import Store

if TYPE_CHECKING:
    import polars as pl

PRINTED = "printed"  # the folder of what the commands print
_PROGRAM = "westwood"
_SCRIPT, _README, _DOCKERFILE = "reproduce.sh", "README.md", "Dockerfile"
_NO_DATA = re.compile(
    r"(?:.*/)?(?:manifest\.json|SHA256SUMS|journal\.jsonl|\.[^/]*)|.*\.(?:png|svg|pdf|html|log)"
)
_COST = {"cpu_s", "wall_s"}  # columns of rows that differ each time
_SEPARATORS = re.compile(r"[,=]")  # `--cc ./mine.c,cubic`, `--set loss.packets=list.csv`


@dataclass(frozen=True)
class Step:
    """Holds a command of the list, and what it left when the folder was made."""

    command: str
    files: Mapping[str, str]  # SHA-256 of the data that it wrote, and of what it printed, by name
    cpu_s: float

    @property
    def data(self) -> list[str]:
        """Returns the names of the files that are compared."""
        written = [name for name in self.files if not name.startswith(f"{PRINTED}/")]
        return written or list(self.files)


@dataclass(frozen=True)
class Repeated:
    """Holds what became of a repeated command: `differences` is empty if all data are equal."""

    step: Step
    differences: tuple[str, ...]

    def entry(self) -> dict[str, Any]:
        """Returns the command's row for --json."""
        return {
            "command": self.step.command,
            "files": self.step.data,
            "differences": list(self.differences),
        }


def read_commands(file: Path) -> list[str]:
    """Reads a list of commands, one a line; `#` begins a comment, and a backslash joins lines.

    Raises InputError for a line that is no command of westwood.
    """
    try:
        text = disk.read_regular(file).decode()
    except (OSError, UnicodeError) as error:
        problem = "is not UTF-8" if isinstance(error, UnicodeError) else error.strerror or error
        raise InputError(f"can't be read: {problem}", source=str(file)) from None
    commands = []
    for number, line in enumerate(text.replace("\\\n", "  ").split("\n"), 1):
        source = f"{file}:{number}"
        try:
            words = shlex.split(line, comments=True)
        except ValueError as error:
            raise InputError(f"{error}".lower(), source=source, value=line.strip()) from None
        if words and (words[0] != _PROGRAM or len(words) == 1):
            problem = 'expected a command such as "westwood run table1 --out table1"'
            raise InputError(problem, source=source, value=line.strip())
        if words:
            commands.append(shlex.join(words))
    if not commands:
        raise InputError("has no command, expected one a line", source=str(file))
    return commands


def inputs_of(commands: list[str], place: Path) -> list[str]:
    """Returns the files that the commands name, relative to the folder of their list.

    Raises InputError for a file elsewhere, which the artifact could not hold under its name.
    """
    names: dict[str, None] = {}
    for command in commands:
        for word in shlex.split(command)[1:]:
            for part in filter(None, _SEPARATORS.split(word)):
                if not (place / part).is_file():
                    continue
                name = os.path.normpath(part)
                if os.path.isabs(name) or name.startswith(".."):
                    problem = "expected a file next to the list of commands, or in a folder there"
                    raise InputError(problem, key=command, value=part)
                names[name] = None
    return list(names)


def make(
    path: Path, commands: list[str], place: Path, licence: str, *, resume: bool
) -> Iterator[Step]:
    """Makes the folder and yields each command as it ends; `place` has the files they name.

    Raises RunError for a command that fails; with `resume` those before it are not run again.
    """
    folder = Folder(path, "DIR", kind=ResultKind.ARTIFACT)
    inputs = {name: disk.sha256(place / name) for name in inputs_of(commands, place)}
    state = {"commands": commands, "inputs": inputs, "licence": licence}
    steps: list[Step] = []
    store = Store(folder, lambda entry: steps.append(Step(**entry)))
    differs = "is an artifact of other commands or files, expected a new folder"
    with store.resumed(ResultKind.ARTIFACT, state, resume=resume, differs=differs):
        _copy(place, path, inputs)
        yield from tuple(steps)
        for number, command in enumerate(commands[len(steps) :], len(steps) + 1):
            _remove_unfinished(command, path, steps)
            step = _run(command, path, number)
            store.keep({"command": command, "files": dict(step.files), "cpu_s": step.cpu_s})
            yield step
        folder.texts(
            {_SCRIPT: _script(), _DOCKERFILE: _dockerfile(), _README: _readme(steps, licence)}
        )
        folder.manifest({"licence": licence, "commands": commands})


def read(path: Path) -> tuple[Folder, dict[str, str], list[Step]]:
    """Returns an artifact's folder, the checksums of its inputs, and its steps.

    Raises InputError for a folder that is no artifact, was not finished, or has changed.
    """
    folder = Folder(path, "", kind=ResultKind.ARTIFACT)
    if not (path / ResultKind.ARTIFACT.file).is_file():
        raise InputError("expected a folder that `westwood artifact` made", source=str(path))
    folder.check_format()
    state = json.loads(folder.verified(ResultKind.ARTIFACT.file).read_text("utf-8"))
    steps: list[Step] = []
    with Store(folder, lambda entry: steps.append(Step(**entry))).opened(resumes=True):
        pass
    if len(steps) < len(state["commands"]):
        problem = f"has {len(steps)} of {len(state['commands'])} commands: continue it by --resume"
        raise InputError(problem, source=str(path))
    for names in (state["inputs"], *(step.files for step in steps)):
        for name, checksum in names.items():
            if not (path / name).is_file() or disk.sha256(path / name) != checksum:
                problem = "differs from what the commands left, expected the artifact as made"
                raise Damaged(problem, source=str(path / name))
    return folder, state["inputs"], steps


def repeated(path: Path) -> Iterator[Repeated]:
    """Runs the commands of an artifact in a new folder, and yields how each one's data compare."""
    _, inputs, steps = read(path)
    with stopping.temporary_folder("westwood-artifact-") as again:
        _copy(path, again, inputs)
        for number, step in enumerate(steps, 1):
            try:
                files = _run(step.command, again, number).files
            except RunError as error:
                yield Repeated(step, (str(error),))
                continue
            differences = [
                f"{name}: {difference}"
                for name in step.data
                if (difference := _difference(path, again, name, step.files[name], files))
            ]
            more = set(files) - set(step.files)
            yield Repeated(step, (*differences, *(f"{name}: is new" for name in sorted(more))))


def _remove_unfinished(command: str, path: Path, finished: list[Step]) -> None:
    """Removes what an earlier start of this command left under --out when it was stopped."""
    words = command.replace("--out=", "--out ").split()
    out = words[words.index("--out") + 1] if "--out" in words[:-1] else ""
    others = (name for step in finished for name in step.files)
    if out and not any(name.startswith(f"{out}/") for name in others):
        shutil.rmtree(path / out, ignore_errors=True)


def _copy(source: Path, target: Path, names: Mapping[str, str]) -> None:
    for name in names:
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / name, target / name)


def _run(command: str, path: Path, number: int) -> Step:
    """Runs a command in a folder; returns what it wrote there."""
    printed = path / PRINTED / f"{number:02}.txt"
    before = _times(path)
    used_s = _cpu_s()
    words = [sys.executable, "-m", _PROGRAM, *shlex.split(command)[1:]]
    ended = programs.run(words, "", cwd=path, env={**os.environ, "COLUMNS": "100"})
    if ended.code:
        raise RunError(f"{command}: {ended.problem.removeprefix(f'{_PROGRAM}: ')}")
    printed.parent.mkdir(exist_ok=True)
    disk.write_whole(printed, lambda file: file.write_text(ended.out, encoding="utf-8"))
    after = _times(path)
    names = [name for name in sorted(after) if after[name] != before.get(name)]
    files = {name: disk.sha256(path / name) for name in names if not _NO_DATA.fullmatch(name)}
    return Step(command, files, round(_cpu_s() - used_s, 2))


def _times(path: Path) -> dict[str, int]:
    """Returns when each file below a folder was last changed, in ns."""
    files = (Path(place) / name for place, _, names in os.walk(path) for name in names)
    kept = {_README, _SCRIPT, _DOCKERFILE, ResultKind.ARTIFACT.file}
    named = ((file.relative_to(path).as_posix(), file) for file in files)
    return {name: file.stat().st_mtime_ns for name, file in named if name not in kept}


def _cpu_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _difference(
    path: Path, again: Path, name: str, checksum: str, files: Mapping[str, str]
) -> str | None:
    """Returns how a repeated file differs from the artifact's; None if its data are equal."""
    if name not in files:
        return "is missing"
    if files[name] == checksum:
        return None
    compare: Callable[[Path, Path], str | None] = _of_text
    if name.endswith((".parquet", ".csv")):
        compare = _of_tables
    elif name.endswith(".json"):
        compare = _of_json
    return compare(path / name, again / name)


def _of_tables(first: Path, second: Path) -> str | None:
    import polars as pl

    read_table: Any = pl.read_parquet if first.suffix == ".parquet" else pl.read_csv
    expected, actual = read_table(first), read_table(second)
    if expected.columns != actual.columns:
        names = sorted(set(expected.columns) ^ set(actual.columns))
        return f"has other columns: {', '.join(names) or 'their order differs'}"
    if expected.height != actual.height:
        return f"has {actual.height} rows, expected {expected.height}"
    names = [name for name in expected.columns if name not in _COST]
    parts = [_of_columns(expected[name], actual[name]) for name in names]
    return "; ".join(filter(None, parts)) or None


def _of_columns(expected: pl.Series, actual: pl.Series) -> str | None:
    if expected.dtype != actual.dtype:
        return f"{expected.name} is {actual.dtype}, expected {expected.dtype}"
    rows = (~expected.eq_missing(actual)).arg_true()
    if not len(rows):
        return None
    row = int(rows[0])
    where = f"{len(rows)} of {len(expected)} rows, first in row {row}"
    return f"{expected.name} in {where}: {actual[row]}, expected {expected[row]}"


def _of_json(first: Path, second: Path) -> str | None:
    expected, actual = (json.loads(file.read_text("utf-8")) for file in (first, second))
    return next(_of_values(expected, actual, ""), None)


def _of_values(expected: object, actual: object, key: str) -> Iterator[str]:
    if isinstance(expected, dict) and isinstance(actual, dict) and expected.keys() == actual.keys():
        for name in expected:
            yield from _of_values(expected[name], actual[name], f"{key}.{name}")
    elif isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual):
        for number, pair in enumerate(zip(expected, actual, strict=True)):
            yield from _of_values(*pair, f"{key}[{number}]")
    elif expected != actual:
        yield f"{key.lstrip('.') or 'it'} is {json.dumps(actual)}, expected {json.dumps(expected)}"


def _of_text(first: Path, second: Path) -> str | None:
    expected, actual = (file.read_bytes().split(b"\n") for file in (first, second))
    for number, pair in enumerate(zip(expected, actual, strict=False), 1):
        if pair[0] != pair[1]:
            return f"line {number} is {_shown(pair[1])}, expected {_shown(pair[0])}"
    return f"has {len(actual)} lines, expected {len(expected)}"


def _shown(line: bytes) -> str:
    return repr(line.decode("utf-8", "replace").strip())


def _script() -> str:
    return f"""#!/bin/sh
# Repeats every command of this artifact in a temporary folder, and says what differs.
set -eu
cd "$(dirname "$0")"
exec {_PROGRAM} artifact . --check
"""


def _dockerfile() -> str:
    from westwood import __version__

    return f"""# docker build -t artifact . && docker run --rm artifact
FROM debian:12
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev python3-venv
RUN useradd --create-home author
USER author
WORKDIR /home/author/artifact
COPY --chown=author . .
# A wheel of westwood that lies in this folder is used before the package index.
RUN python3 -m venv ../venv && ../venv/bin/pip install --find-links . 'westwood[all]=={__version__}'
ENV PATH=/home/author/venv/bin:$PATH
CMD ["sh", "{_SCRIPT}"]
"""


def _readme(steps: list[Step], licence: str) -> str:
    from westwood.results import folder

    about = json.loads(folder.about({}))
    rows = [(f"`{step.command}`", f"{step.cpu_s:.1f}", len(step.data)) for step in steps]
    total_s = sum(step.cpu_s for step in steps)
    version = f"{_PROGRAM} {about['version']}"
    if about["commit"]:
        version += f" (commit {about['commit']})"
    return "\n".join(
        [
            "# Artifact",
            "",
            f"`sh {_SCRIPT}` repeats these commands and compares their data with the files here. "
            "Its exit code is 0 if all are equal. "
            f"It needs {version} and takes {total_s:.0f} s of CPU time. "
            f"With Docker: see `{_DOCKERFILE}`.",
            "",
            markup.markdown_table(("command", "CPU time, s:", "files of data:"), rows),
            "",
            f"Made by {version}, Python {about['python']}, {about['machine']}, {about['created']}.",
            "",
            f"Licence of these files: {licence}.",
            "",
        ]
    )
