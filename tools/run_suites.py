# SPDX-License-Identifier: BSD-3-Clause
"""Runs the test suites and prints a summary: `python -m tools.run_suites [--all] [NAME...]`.

`lint` means every lint-*; --help says what each suite proves. Suites run side by side
(tools/suites/declared.py says which). A suite that passed is skipped until one of its inputs
changes, except with --all; a suite whose tool is missing is skipped, too, and the summary says how
to install it. build/logs/ has each suite's output, and a failing suite prints the end of it.
SIGTERM and Ctrl-C end everything that runs.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import sysconfig
import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from tools.suites.declared import (
    ALONE,
    BUILD,
    BUILDERS,
    PYTHON,
    REAL_TIME,
    TOOLS,
    Command,
    Suite,
    again,
)
from tools.suites.inputs import ROOT
from tools.suites.processes import Commands, Ended
from tools.suites.second_tries import History, Report, dearest, read, second_tries
from tools.suites.unchanged import Passed

FAILED_TESTS = 1  # pytest's exit code
LACKING = 77  # exit code of a suite that can't run on this machine
IN_THE_BACKGROUND, IN_REAL_TIME = 10, -10  # niceness; only root may set the second


@dataclass(frozen=True)
class Outcome:
    verdict: str  # PASS, FAIL or SKIPPED
    note: str


class Runner:
    """Runs suites side by side and collects their outcomes."""

    def __init__(
        self, names: Sequence[str] = (), *, everything: bool = False, build: Path = BUILD
    ) -> None:
        self.commands = Commands()
        self.outcomes: dict[str, Outcome] = {}
        self.reports: dict[str, Report] = {}  # of the suites with tests that ran
        self._names = set(names)
        self._everything = everything
        self._logs = build / "logs"
        self._logs.mkdir(parents=True, exist_ok=True)
        self._passed = Passed(build / "passed")
        self._lock = threading.Lock()  # of the history
        self._ready: dict[str, threading.Event] = {}

    def chosen(self, suites: Iterable[Suite]) -> list[Suite]:
        """Returns the named suites, or all; the package is installed in any case."""
        wanted = self._names | {"package"}
        return [
            suite
            for suite in suites
            if not self._names or {suite.name, suite.name.split("-")[0]} & wanted
        ]

    def start(
        self, suites: Sequence[Suite], pool: ThreadPoolExecutor, niceness: int = 0
    ) -> list[Future[None]]:
        """Starts the suites in this order, as the pool has room."""
        self._ready |= {suite.name: threading.Event() for suite in suites}
        return [pool.submit(self._run, suite, niceness) for suite in suites]

    def _run(self, suite: Suite, niceness: int) -> None:
        for name in suite.after:
            if name in self._ready:
                self._ready[name].wait()
        try:
            self.outcomes[suite.name] = outcome = self._outcome(suite, niceness)
            print(f"{suite.name}: {outcome.verdict} ({outcome.note})", flush=True)
        finally:
            self._ready[suite.name].set()

    def _outcome(self, suite: Suite, niceness: int) -> Outcome:
        if missing := [tool for tool in suite.needs if not TOOLS[tool][0]()]:
            packages = " ".join(TOOLS[tool][1] for tool in missing)
            return Outcome("SKIPPED", f"no {', '.join(missing)}: apt-get install {packages}")
        package = self.outcomes.get("package")
        if "package" in suite.after and package and package.verdict != "PASS":
            return Outcome("FAIL", "without the package")
        if suite.inputs is None:
            return self._tested(suite, niceness)
        digest = suite.inputs.digest(ROOT, *map(" ".join, suite.commands))
        if (when := self._passed.when(suite.name, digest)) and not self._everything:
            return Outcome("SKIPPED", f"unchanged since it passed on {when}: {suite.inputs}")
        self._passed.forget(suite.name)
        outcome = self._tested(suite, niceness)
        if outcome.verdict == "PASS":
            self._passed.remember(suite.name, digest)
        return outcome

    def _tested(self, suite: Suite, niceness: int) -> Outcome:
        start = time.monotonic()
        log, report = (self._logs / f"{suite.name}.{kind}" for kind in ("log", "xml"))
        report.unlink(missing_ok=True)  # that of an earlier run
        with log.open("wb", buffering=0) as output:
            ended = self._all(suite, suite.commands, niceness, output)
            code, cpu_s, notes = ended.code, ended.cpu_s, []
            if suite.tries_again and code == FAILED_TESTS:
                ended = self._all(suite, [again(suite)], niceness, output)
                note, are_too_many = self._judged(suite)
                output.write("\n".join([*note, ""]).encode())
                print(f"{suite.name}: " + "\n".join(note), flush=True)
                notes = note[:1]
                code = ended.code or int(are_too_many)
                cpu_s += ended.cpu_s
            elif suite.tries_again and code == 0:
                self._history(suite, ())
        self.reports[suite.name] = read(report)
        verdict = {0: "PASS", LACKING: "SKIPPED"}.get(code, "FAIL")
        if verdict != "PASS":
            tail = "\n".join(log.read_text(errors="replace").splitlines()[-60:])
            print(f"--- {suite.name}: the end of {log}\n{tail}\n---")
        times = f"{time.monotonic() - start:.1f} s, {cpu_s:.1f} s of CPU time"
        return Outcome(verdict, "; ".join((times, *notes)))

    def _all(
        self, suite: Suite, commands: Sequence[Command], niceness: int, output: FileIO
    ) -> Ended:
        """Runs commands until one fails; returns its exit code and the CPU time of all."""
        cpu_s = 0.0
        for command in commands:
            output.write(f"$ {' '.join(command)}\n".encode())
            ended = self.commands.run(
                command,
                output.fileno(),
                suite.cpu_limit_s,
                niceness=niceness,
                restores=suite.restores,
            )
            cpu_s += ended.cpu_s
            if ended.code != 0:
                return Ended(ended.code, cpu_s)
        return Ended(0, cpu_s)

    def _judged(self, suite: Suite) -> tuple[list[str], bool]:
        """Returns what is said of the second tries, and whether they are too many."""
        reports = (read(self._logs / f"{suite.name}{which}.xml") for which in ("", "-again"))
        tries = second_tries(*reports)
        return tries.lines(), tries.are_too_many(self._history(suite, tries.reasons))

    def _history(self, suite: Suite, names: Iterable[str]) -> set[str]:
        with self._lock:
            return History(self._logs.parent / "second_tries.json").add(suite.name, names)


def run_all(runner: Runner) -> None:
    """Runs the chosen suites; at the end, and alone, the tests that read clocks."""
    with ThreadPoolExecutor(2) as real_time, ThreadPoolExecutor(2) as builders:
        started = runner.start(runner.chosen(BUILDERS), builders, IN_THE_BACKGROUND)
        started += runner.start(runner.chosen(REAL_TIME), real_time, IN_REAL_TIME)
    with ThreadPoolExecutor(1) as alone:
        started += runner.start(runner.chosen(ALONE), alone)
    for suite in started:
        suite.result()  # raises what a suite's thread has raised


def summary(outcomes: dict[str, Outcome], reports: Mapping[str, Report]) -> list[str]:
    """Returns a line for each suite, the dearest tests, and last the line that counts suites."""
    verdicts = [outcome.verdict for outcome in outcomes.values()]
    passed, failed, skipped = (verdicts.count(verdict) for verdict in ("PASS", "FAIL", "SKIPPED"))
    total = f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else "")
    lines = [
        f"  {name:<20} {outcome.verdict:<8} {outcome.note}" for name, outcome in outcomes.items()
    ]
    if tests := dearest(reports):
        lines += ["", "The dearest tests, by the wall clock", *tests]
    return ["Summary", *lines, "", total]


def main(arguments: Sequence[str] | None = None, build: Path = BUILD) -> int:
    proofs = (
        f"  {builder.name:<21}{builder.proves}" for builder in (*BUILDERS, *REAL_TIME, *ALONE)
    )
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="What each suite proves that no other does:\n" + "\n".join(proofs),
    )
    parser.add_argument("--all", action="store_true", help="run unchanged suites, too")
    parser.add_argument("names", nargs="*", metavar="NAME")
    options = parser.parse_args(arguments)
    runner = Runner(options.names, everything=options.all, build=build)

    def stop(number: int, _: object) -> None:
        runner.commands.end()
        os.write(1, f"stopped by {signal.Signals(number).name}\n".encode())
        os._exit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    signal.signal(signal.SIGINT, stop)
    for name in ("CC", "CXX"):  # the compilers of the package, so that the cache has their objects
        if command := sysconfig.get_config_var(name):
            os.environ.setdefault(name, command.split()[0])
    os.environ["PATH"] = f"{os.path.dirname(PYTHON)}{os.pathsep}{os.environ['PATH']}"
    run_all(runner)
    lines = summary(runner.outcomes, runner.reports)
    print("\n" + "\n".join(lines))
    (build / "summary.txt").write_text(lines[-1] + "\n")
    return int(any(outcome.verdict == "FAIL" for outcome in runner.outcomes.values()))


if __name__ == "__main__":
    sys.exit(main())
