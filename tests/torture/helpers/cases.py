# SPDX-License-Identifier: BSD-3-Clause
"""Every command that writes files, in a form that another process can kill at a system call."""

import hashlib
import io
import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
from small_studies import SCENARIO, STUDIES, SWEPT

from westwood.results import journal

CHANGING = (
    "open,openat,openat2,creat,write,pwrite64,writev,pwritev,pwritev2,copy_file_range,sendfile,"
    "rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,truncate,ftruncate,fallocate,"
    "fsync,fdatasync,sync_file_range,link,linkat,symlink,symlinkat,utimensat,fchmod,fchmodat,flock"
)
_CALL = re.compile(r"(?:(\d+) +)?(\w+)\((.*)")  # with a thread's number if strace follows threads
_RELATIVE = ('"out', '".partial')  # names that strace prints as relative paths
_SPEED = re.compile(r"^westwood: \d+ runs in .*\n", re.M)
_WRITES = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
_LOOK_S = 1.0

PLAN = """name = "two"
cc = ["cubic", "reno"]
uploads = 1
[[target]]
name = "lab"
server = "127.0.0.1:5301"
sizes = ["300kB"]
"""


class Zygote:
    """Has all modules loaded, and starts command lines as its children."""

    def __init__(self):
        program = Path(__file__).with_name("zygote.py")
        self._process = subprocess.Popen(
            [sys.executable, str(program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        self._answer()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return self._answer()

    def start(self, words: Sequence[str], where: Path, to: Path, *strace: str) -> int:
        request = {"start": list(words), "in": str(where), "to": str(to)}
        number: int = self._ask(request | ({"strace": strace} if strace else {}))["process"]
        return number

    def wait(self, process: int) -> int:
        code: int = self._ask({"wait": process})["code"]
        return code

    def close(self):
        self._process.communicate()


@dataclass(frozen=True)
class Case:
    """A command in a folder `out`, and the command to run after it was killed."""

    name: str
    words: tuple[str, ...]
    again: tuple[str, ...] = ()  # further arguments after a kill
    before: tuple[str, ...] = ()  # a command that makes its input


_ALONE = ("--workers", "1", "--out", "out")
_SWEEP = (*STUDIES["sweep"].words.split(), *_ALONE)
_COMPARE = "path compare 127.0.0.1:5301 --cc cubic,reno --out out"
_TRACE = "trace small.toml --out out --plot --events --pcap p.pcap --at bottleneck"
_SMALL = ("small.toml", "--seeds", "2", "--workers", "1")
CASES = (
    *(
        Case(name, (*study.words.split(), *_ALONE), ("--resume",))
        for name, study in STUDIES.items()
    ),
    Case("campaign", ("path", "campaign", "plan.toml", "--out", "out"), ("--resume",)),
    Case("compare on a path", tuple(_COMPARE.split())),
    Case("run", ("run", *_SMALL, "--out", "out", "--plot")),
    Case("run in the current folder", ("run", *_SMALL, "--plot")),
    Case("compare", ("compare", "--duration", "2s", "--workers", "1", "--out", "out", "--plot")),
    Case("trace", tuple(_TRACE.split())),
    Case("report", ("report", "out", "--export"), before=_SWEEP),
)
RESUMED = tuple(case for case in CASES if case.again)
REPEATED = tuple(case for case in CASES if not case.again)


@dataclass(frozen=True)
class Call:
    """A system call that changes files: the `number`th of this name in its thread."""

    name: str
    number: int
    line: str
    in_main_thread: bool

    @property
    def changes_files(self) -> bool:
        """Returns whether it changes the contents of the disk."""
        opens = self.name.startswith("open") and "O_CREAT" not in self.line
        return not opens and self.name not in ("fsync", "fdatasync", "flock")

    def inject(self, what: str) -> tuple[str, ...]:
        """Returns the options that make strace inject a fault into this call.

        strace would inject it into the call of this number of every thread that it follows. So it
        follows the others only if one of them makes the call.
        """
        follow = () if self.in_main_thread else ("-f",)
        return (*follow, "-e", f"inject={self.name}:{what}:when={self.number}")


class Place:
    """A folder in which a case is run."""

    def __init__(self, zygote: Zygote, case: Case, path: Path) -> None:
        self._zygote, self.case, self.path = zygote, case, path
        path.mkdir()
        (path / "small.toml").write_text(SCENARIO, encoding="utf-8")
        (path / "swept.toml").write_text(SWEPT, encoding="utf-8")
        (path / "plan.toml").write_text(PLAN, encoding="utf-8")
        if case.before:
            self._zygote.wait(self.begin(case.before))

    def begin(self, words: Sequence[str], *strace: str, printed: str = "first") -> int:
        """Starts a command line in the folder; `printed` names its output files."""
        return self._zygote.start(words, self.path, Path(f"{self.path}-{printed}"), *strace)

    def call(self, *strace: str, again: bool = False, printed: str = "first") -> tuple[int, str]:
        """Runs the case; returns its exit code and error messages."""
        words = (*self.case.words, *(self.case.again if again else ()))
        process = self.begin(words, *strace, printed=printed)
        ended = os.pidfd_open(process)
        while strace and not select.select([ended], [], [], _LOOK_S)[0]:
            if self.was_misplaced():
                os.kill(process, signal.SIGKILL)
        os.close(ended)
        return self._zygote.wait(process), self.errors(printed)

    def errors(self, printed: str = "first") -> str:
        """Returns a command line's error messages, without its speed."""
        return _SPEED.sub("", Path(f"{self.path}-{printed}.err").read_text(encoding="utf-8"))

    def calls(self) -> list[Call]:
        """Runs the case; returns its calls that change, lock or sync files."""
        code, errors = self.call("-f", *self.traced)
        assert code == 0, errors
        return self._here()

    @property
    def traced(self) -> tuple[str, ...]:
        """Returns strace's options that list the calls."""
        return ("-y", "-qq", "-e", f"trace={CHANGING}", "-o", f"{self.path}.strace")

    def was_injected(self) -> bool:
        """Returns whether the fault was injected into a call on our files, and into no other."""
        return bool(self._injected()) and not self.was_misplaced()

    def was_misplaced(self) -> bool:
        """Returns whether another thread's call got the fault.

        Such a command may wait forever, since a library's wake-up of its own threads was lost.
        """
        return bool(self._injected() - {call.line for call in self._here()})

    def _injected(self) -> set[str]:
        return {line for line in self._log() if "(INJECTED)" in line}

    def ended(self) -> int:
        """Returns how many runs the journal had recorded."""
        lines = (
            call.line for call in self._here() if call.name == "write" and ".jsonl>" in call.line
        )
        return sum(re.search(r" = \d+$", line) is not None for line in lines)

    def kept(self) -> set[Any]:
        """Returns the identities of the runs on the disk."""
        out, files = self.path / "out", set[Any]()
        is_sweep = self.case.name == "sweep"
        for file in out.glob("*.jsonl"):
            for run in journal.read(file).records:
                files.add((run["point"], run["seed"]) if is_sweep else json.dumps(run))
        if is_sweep:
            for file in [*out.glob("parts/*.parquet"), *out.glob("runs.parquet")]:
                files.update(pl.read_parquet(file).select("point", "seed").rows())
        return files

    def _log(self) -> list[str]:
        log = Path(f"{self.path}.strace").read_text(encoding="utf-8", errors="replace")
        return log.splitlines()

    def _here(self) -> list[Call]:
        seen: dict[tuple[str, str], int] = {}
        main, names = None, []
        for line in self._log():
            if (match := _CALL.match(line)) is None:
                continue
            thread, name, rest = match.groups()
            main = main or thread  # it begins alone
            seen[thread, name] = number = seen.get((thread, name), 0) + 1
            reads = name.startswith("open") and not any(flag in rest for flag in _WRITES)
            ours = f"{self.path}/" in rest or f"<{self.path}>" in rest or rest.startswith(_RELATIVE)
            if ours and not reads:
                names.append(Call(name, number, line, thread == main))
        return names

    def contents(self) -> dict[str, object]:
        """Returns the files' contents without costs of runs and the order of checksums."""
        return {
            str(file.relative_to(self.path)): _content(file)
            for file in sorted(self.path.rglob("*"))
            if file.is_file() and file.name != ".lock"
        }


def _content(file: Path) -> object:
    content = file.read_bytes()
    if file.name == "SHA256SUMS":
        return None
    if file.suffix == ".jsonl":  # a resumed command may end its runs in another order
        return sorted(content.splitlines())
    if file.name == "runs.parquet" or file.parent.name == "runs":
        rows = pl.read_parquet(io.BytesIO(content))
        if "cpu_s" in rows.columns:
            return rows.drop("cpu_s", "wall_s").write_csv()
    return hashlib.sha256(content).hexdigest()
