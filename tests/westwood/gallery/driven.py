# SPDX-License-Identifier: BSD-3-Clause
"""Drives a control of the gallery with ACKs and losses, through driver.c."""

import atexit
import shutil
import subprocess
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from westwood.control import compiling, gallery

HERE = Path(__file__).parent
MSS = 1000
_FLAGS = ["-std=c11", "-O1", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all"]


@dataclass(frozen=True)
class Seen:
    """Holds what a call left: windows in segments, pacing in bytes/s, and the quantities."""

    cwnd: int
    ssthresh: int
    pacing: float
    quantities: tuple[int, ...]


@dataclass(frozen=True)
class Ack:
    """Describes an ACK for new data."""

    now_us: int
    rtt_us: int
    acked: int = 1
    flight: int = 200
    marked: int = 0

    def line(self) -> str:
        return f"ack {self.now_us} {self.rtt_us} {self.acked} {self.flight} {self.marked}"


@cache
def _folder() -> Path:
    path = Path(tempfile.mkdtemp(prefix="westwood-gallery-"))
    atexit.register(shutil.rmtree, path, ignore_errors=True)
    return path


@cache
def _program(name: str) -> Path:
    program = _folder() / name.removesuffix(".c")
    control = f'-DCONTROL="{gallery.folder() / name}"'
    headers = f"-I{compiling.headers()}"
    command = [*compiling.compiler().command, *_FLAGS, control, headers, "-o", str(program)]
    subprocess.run([*command, str(HERE / "driver.c")], check=True)
    return program


def driven(
    name: str,
    calls: Iterable[Ack | str],
    *,
    cwnd: int,
    ssthresh: int = 2,
    parameters: Mapping[int, int] | None = None,
) -> list[Seen]:
    """Returns what each call left; `parameters` are by their number."""
    lines = [f"own {index} {value}" for index, value in (parameters or {}).items()]
    lines.append(f"begin {cwnd} {ssthresh}")
    lines += [call if isinstance(call, str) else call.line() for call in calls]
    ended = subprocess.run(
        [_program(name)], input="\n".join(lines), capture_output=True, text=True, check=True
    )
    return list(_read(ended.stdout))


def _read(printed: str) -> Iterator[Seen]:
    for line in printed.splitlines():
        assert not line.startswith("refused"), line
        cwnd, ssthresh, pacing, *quantities = map(int, line.split())
        yield Seen(cwnd, ssthresh, pacing / 256, tuple(quantities))
