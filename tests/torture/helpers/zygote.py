# SPDX-License-Identifier: BSD-3-Clause
"""Starts command lines quickly, under strace if requested: everything is imported already.

Reads a JSON object per line, and answers each with one:
    {"start": ARGUMENTS, "in": FOLDER, "to": FILE, "strace": OPTIONS} -> {"process": NUMBER}
    {"wait": NUMBER} -> {"code": EXIT CODE, or minus the signal}
Output goes to FILE.out and FILE.err. Everything that could make two runs differ is fixed: the
time, the commit and uploads, which are invented. Figures and the judgements of `infer` are fixed,
too, since they take longer than everything else.
"""

from __future__ import annotations

import ctypes
import datetime
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import polars as pl
import small_studies
from matplotlib.figure import Figure

from westwood import engines
from westwood.campaign import preparing, trying, uploads
from westwood.cli import call, path_compare
from westwood.experiments import sweep
from westwood.papers.infer import study
from westwood.papers.infer.evaluate import ClaimOutcome
from westwood.results import folder
from westwood.results.traces import TRACE_COLUMNS

_LATE = """
cmaes optuna polars._utils.parquet rich.table westwood.campaign.trial_page westwood.cli.campaign
westwood.cli.commands westwood.cli.control westwood.cli.deliver westwood.cli.report
westwood.cli.reproduce westwood.cli.validate westwood.cli.path westwood.cli.runs westwood.cli.trace
westwood.cli.tracing westwood.draw.bars westwood.draw.over_time westwood.experiments.readback
westwood.search.stress.hunter westwood.search.stress.report westwood.evaluation.paths
westwood.papers.infer.study westwood.evaluation.page westwood.experiments.validation.page
westwood.papers.reproduce westwood.search.page westwood.search.study
"""
_LONGEST_S = 120
_PR_SET_PTRACER, _ANYBODY = 0x59616D61, -1
_traced: dict[int, subprocess.Popen[bytes] | None] = {}


class _Noon(datetime.datetime):
    @classmethod
    def now(cls, tz: datetime.tzinfo | None = None) -> _Noon:
        return cls(2026, 1, 1, 12, tzinfo=tz)


def _upload(plan: Any, turn: uploads.Turn) -> tuple[dict[str, Any], pl.DataFrame]:
    names = ("target", "size_bytes", "number", "cc")
    numbers = ("goodput_bps", "mean_cwnd", "mean_srtt_s", "min_rtt_s", "sent", "retransmitted")
    row = dict(zip(names, turn.key, strict=True)) | dict.fromkeys(numbers, 1.5 + turn.number)
    row |= {"retransmission_ratio": 0.01, "mss": 1448, "seconds": 2.0, "begun": "now"}
    states = {name: [0.0, 1.0] for name in TRACE_COLUMNS if name != "state"}
    return row, pl.DataFrame(states).with_columns(pl.lit("open").alias("state"))


def _measured(plan: Any, cc: str) -> tuple[dict[str, Any], pl.DataFrame, pl.DataFrame]:
    turn = SimpleNamespace(key=("there", 0, 0, cc), number=len(cc))  # one control is faster
    row, trace = _upload(None, turn)
    counts = ("acked_bytes", "timeouts", "losses")
    times = ("busy_s", "rwnd_limited_s", "sndbuf_limited_s", "stood_still_s", "full_rtt_s")
    trace = trace.with_columns(delivered_bytes=pl.lit(1))
    return row | dict.fromkeys(counts, 0) | dict.fromkeys(times, 0.0), trace, trace.clear()


def _outcomes(self: Any, tests: Any, chosen: Any) -> Iterator[tuple[int, ClaimOutcome]]:
    for place, case in enumerate(chosen):
        failures = dict.fromkeys(tests.claims, len(str(case)) % 2)
        yield place, ClaimOutcome(failures, {}, dict.fromkeys(failures, "why"))


def _figure(figure: Figure, path: Path, **options: Any) -> None:
    path.write_bytes(b"<svg/>" * 3000)


def prepare():
    """Fixes what differs from run to run, and loads lazily imported modules."""
    for name in _LATE.split():
        importlib.import_module(name)
    folder.datetime = _Noon  # type: ignore[attr-defined]
    folder._commit = lambda: "commit"
    sweep._A_PART = 2
    uploads.check = lambda plan: None
    uploads.upload = _upload  # type: ignore[assignment]
    path_compare._say = lambda text: None  # progress is no error
    preparing.machine = dict
    trying.with_address = lambda plan: plan
    trying._measure = _measured
    study.InferenceStudy._outcomes = _outcomes  # type: ignore[method-assign]
    Figure.savefig = _figure  # type: ignore[method-assign, assignment]
    engines.find("sim")
    small_studies.shrink(setattr, "")
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()  # of the looks that `evaluate` notes


def start(request: dict[str, Any]) -> int:
    """Starts a command line, which waits until strace is attached."""
    ready, wake = os.pipe()
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
    # They are open before strace is attached, so that no fault meets them.
    printed = [os.open(f"{request['to']}.{ending}", flags, 0o666) for ending in ("out", "err")]
    process = os.fork()
    if process == 0:
        os.close(wake)
        signal.alarm(_LONGEST_S)
        ctypes.CDLL(None).prctl(_PR_SET_PTRACER, _ANYBODY, 0, 0, 0)
        for number, file in enumerate(printed, start=1):
            os.dup2(file, number)
        os.chdir(request["in"])
        os.read(ready, 1)
        code = 70
        try:
            code = call(request["start"])
        except BaseException:
            traceback.print_exc()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    for file in (ready, *printed):
        os.close(file)
    tracer = None
    if request.get("strace") is not None:
        tracer = subprocess.Popen(["strace", "-p", str(process), *request["strace"]])
        while b"TracerPid:\t0\n" in _status(process) and tracer.poll() is None:
            time.sleep(0.001)
    os.close(wake)
    _traced[process] = tracer
    return process


def _status(process: int) -> bytes:
    with open(f"/proc/{process}/status", "rb") as file:
        return file.read()


def wait(process: int) -> int:
    """Waits for the end of a command line."""
    _, status = os.waitpid(process, 0)
    tracer = _traced.pop(process)
    if tracer is not None:
        tracer.wait()
    return os.waitstatus_to_exitcode(status)


def main():
    """Serves requests until standard input ends."""
    prepare()
    print("{}", flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "start" in request:
            answer = {"process": start(request)}
        else:
            answer = {"code": wait(request["wait"])}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
