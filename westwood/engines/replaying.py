# SPDX-License-Identifier: BSD-3-Clause
"""Repeats the recorded calls of a control in each of its hosts: `westwood control replay`.

The simulator records how its sender called the control (core/calls.h). Each host has its own build
of the control. Given the same calls, all must set the same windows.
"""

from __future__ import annotations

import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from westwood import _engine, files, programs
from westwood.control import compiling, confined, loading
from westwood.control.catalogue import PROTOCOLS, unknown_protocol
from westwood.engines import linux_um, ns3, wire
from westwood.engines.network import build
from westwood.errors import InputError, RunError, UnavailableError, WestwoodError, one_line
from westwood.kernel import user_controls
from westwood.scenario import Scenario

QUANTITIES = ("cwnd", "ssthresh", "pacing")
# Losses, timeouts, marks and spurious retransmissions.
_DEFAULT_PATH: Mapping[str, Any] = {
    "path.rate": "10Mbps",
    "path.delay": "20ms",
    "path.queue": {"kind": "codel", "limit": "200p", "ecn": True},
    "path.loss": {"kind": "blackout", "good": "2s", "bad": "60ms", "durations": "exponential"},
    "path.detour": {
        "delay": "15ms",
        "start": "6s",
        "length": "20ms",
        "every": "5s",
        "keeps_order": False,
    },
    "tcp.ecn": True,
    "duration": "30s",
}
_NATIVE = ["-std=c11", "-O2", "-fno-strict-aliasing", "-ffp-contract=off", "-w"]
_LONGEST_S = confined.LONGEST_S * programs.BUSY  # of a host, by the wall clock
_MOST_BYTES = 1 << 28  # of a recording


@dataclass(frozen=True)
class Subject:
    """Describes the control whose calls are repeated."""

    name: str
    control: loading.Control | None  # None: a protocol of the catalogue
    values: tuple[int, ...]  # of its parameters

    @property
    def key(self) -> str:
        """Returns the name by which the engine knows it."""
        return self.control.source if self.control else self.name

    @property
    def protocol(self) -> int:
        """Returns the number of the protocol in the catalogue; 0 for a file."""
        return 0 if self.control else [*PROTOCOLS].index(self.name)


def subject(name: str, settings: Mapping[str, Any]) -> Subject:
    """Returns a control with these values of its parameters; raises InputError."""
    if not loading.is_file(name):
        if name not in PROTOCOLS or name == "udp":
            raise InputError(unknown_protocol(name), key="CC", value=name)
        if settings:
            problem = "expected a file: hosts run a protocol with its own settings"
            raise InputError(problem, key="--set")
        return Subject(name, None, ())
    if name.endswith(loading.PYTHON):
        raise InputError(f"{name}: a class runs in the simulator only")
    control = loading.load(name)
    return Subject(name, control, tuple(user_controls.values_of(control, settings)))


@dataclass(frozen=True)
class Recording:
    """Holds calls and the windows after each, as texts of core/calls.h."""

    calls: tuple[str, ...]
    windows: tuple[str, ...]

    @property
    def text(self) -> str:
        """Returns what a file has of it."""
        rows = zip(self.calls, self.windows, strict=True)
        return "".join(f"{call}|{window}\n" for call, window in rows)

    @property
    def questions(self) -> str:
        """Returns the calls without the answers."""
        return "".join(f"{call}\n" for call in self.calls)


def record(asked: Subject, scenario: Scenario | None, seed: int) -> Recording:
    """Records the calls of a scenario's first flow; without one, of a path that has it all."""
    path = scenario or Scenario.preset("path").with_settings(_DEFAULT_PATH)
    path = path.with_settings({f"{path.flow[0].name}.cc": asked.name})
    with _explained():
        network = build(path)
    text = _called(asked, lambda: _engine.record_calls(network, seed, asked.key, asked.values))
    if not text:
        raise InputError(f"{path.name}: its first flow never asks its control")
    return parsed(text, path.name)


def read(path: Path) -> Recording:
    """Reads the file of a recording; raises InputError."""
    try:
        content = files.read(path, _MOST_BYTES)
    except InputError as error:
        raise InputError(f"{path}: {error.problem}") from None
    return parsed(content.decode(errors="replace"), str(path))


def parsed(text: str, name: str) -> Recording:
    """Reads a recording; raises InputError with the line that is none of its calls."""
    calls, windows = [], []
    for number, line in enumerate(text.splitlines(), 1):
        call, bar, window = line.partition("|")
        if not bar or call.split(" ")[0] not in _engine.CALLS or len(window.split()) != 3:
            expected = "expected CALL ARGUMENT...|CWND SSTHRESH PACING"
            raise InputError(f"{name}:{number}: {expected}")
        calls.append(call)
        windows.append(window)
    if not calls or not calls[0].startswith("begin "):
        raise InputError(f"{name}:1: expected a call begin")
    return Recording(tuple(calls), tuple(windows))


@dataclass(frozen=True)
class Difference:
    """Describes where a host first sets another window than the recording has."""

    call: int  # its number, from 1
    text: str
    quantity: str
    recorded: int
    found: int


@dataclass(frozen=True)
class Replayed:
    """Holds what became of the calls in a host."""

    host: str
    calls: int = 0
    difference: Difference | None = None
    not_run: str = ""  # why, and how to install what is missing


def replay(asked: Subject, recording: Recording, hosts: Sequence[str]) -> Iterator[Replayed]:
    """Yields the outcome of each host. Raises InputError for a host that does not exist."""
    for host in hosts:
        if host not in HOSTS:
            raise InputError(f"expected some of {', '.join(HOSTS)}", key="--host", value=host)
    for host in hosts:
        try:
            answers = HOSTS[host](asked, recording.questions).splitlines()
        except UnavailableError as error:
            yield Replayed(host, not_run=str(error))
        except InputError as error:
            yield Replayed(host, not_run=error.problem)
        else:
            yield Replayed(host, len(answers), first_difference(recording, answers, host))


def first_difference(recording: Recording, answers: Sequence[str], host: str) -> Difference | None:
    """Returns where the answers first differ from the recording; None if nowhere."""
    if len(answers) != len(recording.calls):
        raise RunError(f"{host}: answered {len(answers)} of {len(recording.calls)} calls")
    for number, (expected, answer) in enumerate(zip(recording.windows, answers, strict=True), 1):
        if expected == answer:
            continue
        for name, expected_value, other in zip(
            QUANTITIES, expected.split(), answer.split(), strict=True
        ):
            if expected_value != other:
                call = recording.calls[number - 1]
                return Difference(number, call, name, int(expected_value), int(other))
    return None


class _explained:
    """Turns the failure of a control in the engine into an error with its file and line."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, _engine.ControlFailed):
            raise loading.located(str(error)) from None
        if isinstance(error, ValueError) and not isinstance(error, WestwoodError):
            raise InputError(f"the simulator refuses it: {error}") from None


def _called(asked: Subject, work: Callable[[], str]) -> str:
    """Does work of the engine that calls the control: without rights, if it is that of a file."""
    with _explained():
        return confined.call(work, asked.control) if asked.control else work()


def _simulator(asked: Subject, calls: str) -> str:
    return _called(asked, lambda: _engine.replay_calls(asked.key, asked.values, calls))


def _compiled(command: Sequence[str], asked: Subject, folder: Path, name: str) -> Path:
    """Compiles westwood/control/replay.c with the control; returns the program."""
    program, sources = folder / name, Path(compiling.__file__).parent
    driver = folder / "replay.c"
    driver.write_bytes((sources / "replay.c").read_bytes())
    options = [] if asked.control else [f"-DWW_PROTOCOL={asked.protocol}"]
    if asked.control:
        (folder / compiling.SYMBOL).write_bytes(asked.control.code)
    words = [*command, *_NATIVE, *options, f"-I{compiling.headers()}"]
    ended = compiling.run([*words, "-o", str(program), str(driver)], asked.name)
    if ended.code != 0:
        raise InputError(compiling.first_error(ended.out, folder / compiling.SYMBOL, asked.name))
    return program


def _ran(
    command: Sequence[str | Path], asked: Subject, calls: str, host: str, **options: Any
) -> str:
    words = [*command, *map(str, asked.values)]
    try:
        ended: subprocess.CompletedProcess[str] = subprocess.run(
            words,
            input=f"{calls}end\n",
            capture_output=True,
            text=True,
            timeout=_LONGEST_S,
            check=False,
            **options,
        )
    except subprocess.TimeoutExpired:
        raise RunError(f"{host}: takes more than {_LONGEST_S} s") from None
    if ended.returncode == -signal.SIGXCPU:
        raise RunError(f"{host}: takes more than {confined.LONGEST_S} s of a CPU")
    if ended.returncode != 0:
        message = one_line(ended.stderr.strip() or "no message")
        raise RunError(f"{host}: ended with {ended.returncode}: {message}")
    return ended.stdout


def _in_program(command: Sequence[str], asked: Subject, calls: str, host: str) -> str:
    with tempfile.TemporaryDirectory(prefix="westwood-replay-") as folder:
        program = _compiled(command, asked, Path(folder), "replay")
        with confined.starting(program) as (started, options):
            return _ran([started], asked, calls, host, **options)


def _native(compiler: str, asked: Subject, calls: str) -> str:
    path = programs.system_program(compiler)
    if path is None:
        raise UnavailableError(f"needs {compiler}: apt-get install {compiler}")
    return _in_program([path], asked, calls, compiler)


def _zig() -> tuple[str, ...]:
    if command := compiling.ziglang():
        return command
    raise UnavailableError("needs ziglang: pip install ziglang")


def _of_zig(asked: Subject, calls: str) -> str:
    return _in_program(_zig(), asked, calls, "zig")


def _wasm(asked: Subject, calls: str) -> str:
    zig, node = _zig(), programs.system_program("node")
    if node is None:
        raise UnavailableError("needs node 20 or later: apt-get install nodejs")
    with tempfile.TemporaryDirectory(prefix="westwood-replay-") as folder:
        module = _compiled([*zig, "-target", "wasm32-wasi"], asked, Path(folder), "replay.wasm")
        starter = Path(compiling.__file__).with_name("replay.mjs")
        return _ran([node, "--no-warnings", starter, module], asked, calls, "wasm")


def _ns3(asked: Subject, calls: str) -> str:
    runner, words = ns3.program(), [asked.key]
    if asked.control:
        words.append(str(compiling.compiled(asked.control.code, asked.name)))
    try:
        return _ran([runner, "replay", *words], asked, calls, "ns3")
    except RunError as error:
        wire.refuse_stale(ns3.PROGRAM, str(error))
        raise


def _kernel(asked: Subject, calls: str) -> str:
    return user_controls.replay(asked.control, asked.protocol, asked.values, calls)


def _linux_um(asked: Subject, calls: str) -> str:
    control = compiling.compiled(asked.control.code, asked.name) if asked.control else None
    return linux_um.replay(asked.protocol, control, asked.values, calls)


def _quic(asked: Subject, calls: str) -> str:
    if asked.control:
        raise UnavailableError("quinn and noq take protocols of the catalogue only")
    raise UnavailableError("the crate repeats tests/golden/calls in its own tests: cargo test")


HOSTS: Mapping[str, Callable[[Subject, str], str]] = {
    "sim": _simulator,
    "gcc": partial(_native, "gcc"),
    "clang": partial(_native, "clang"),
    "zig": _of_zig,
    "ns3": _ns3,
    "kernel": _kernel,
    "linux-um": _linux_um,
    "wasm": _wasm,
    "quic": _quic,
}
