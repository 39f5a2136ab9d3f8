# SPDX-License-Identifier: BSD-3-Clause
"""Runs scripts of packetdrill in the kernel of --engine linux-um: is it the TCP that they expect?

packetdrill is a program of its own, which the user has built. Each script gets a kernel of its own,
whose files are those of this machine, read-only.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from westwood import programs
from westwood.errors import InputError, RunError, UnavailableError, one_line
from westwood.kernel import virtual

PROGRAM = "packetdrill"
_SCRIPTS = "*.pkt"
# The options of tools/testing/selftests/net/packetdrill/ksft_runner.sh for IPv4.
_OPTIONS = """--ip_version=ipv4 --local_ip=192.168.0.1 --gateway_ip=192.168.0.1
--netmask_ip=255.255.0.0 --remote_ip=192.0.2.1 -D TFO_COOKIE=3021b9d889017eeb
-D CODE=host_unreachable -D CMSG_LEVEL_IP=SOL_IP -D CMSG_TYPE_RECVERR=IP_RECVERR --send_omit_free"""
_ENDED, _DONE = "## error ", "## code "
# packetdrill writes to /tmp, which may have its scripts; /mnt still has them.
_FIRST_PROCESS = """#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc && mount --bind / /mnt &&
    mount -t tmpfs tmp /tmp && ip link set lo up &&
    cd '/mnt{folder}' || exit 1
LD_PRELOAD='/mnt{clock}' '/mnt{program}' {options} '{script}' 2>/tmp/errors
code=$?
sed 's/^/## error /' /tmp/errors
echo
echo "## code $code"
"""

# packetdrill asks times() until it changes, but virtual time passes only in who waits.
_CLOCK = """#include <sys/times.h>
#include <time.h>
clock_t times(struct tms *used) {
    const struct timespec pause = {0, 10 * 1000 * 1000};
    struct timespec now;
    (void)used;
    nanosleep(&pause, 0);
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 100 + now.tv_nsec / 10000000;
}
"""


@dataclass(frozen=True)
class Outcome:
    """What became of a script."""

    script: Path  # relative to the folder
    problem: str  # empty: it passed


def find(named: Path | None) -> Path:
    """Returns the program packetdrill; raises an error with the remedy if it is missing."""
    if named is not None:
        if not (named.is_file() and os.access(named, os.X_OK)):
            raise InputError("expected the program packetdrill", key="--program", value=str(named))
        return named.resolve()
    if program := programs.system_program(PROGRAM):
        return Path(program)
    problem = "no packetdrill, which Debian does not have: build github.com/google/packetdrill"
    raise UnavailableError(f"{problem}, and name it with --program")


def outcomes(folder: Path, program: Path) -> Iterator[Outcome]:
    """Runs the scripts in a folder and in those below it; yields what became of each."""
    machine = virtual.program()
    scripts = sorted(folder.rglob(_SCRIPTS)) if folder.is_dir() else []
    if not scripts:
        raise InputError("expected a folder with scripts of packetdrill", value=str(folder))
    with tempfile.TemporaryDirectory(prefix="westwood-") as workplace:
        clock = _compiled_clock(Path(workplace))
        for script in scripts:
            problem = _problem(machine, program, script.resolve(), clock)
            yield Outcome(script.relative_to(folder), problem)


def _compiled_clock(folder: Path) -> Path:
    source, clock = folder / "clock.c", folder / "clock.so"
    source.write_text(_CLOCK)
    compiler = programs.system_program("cc")
    if compiler is None:
        raise UnavailableError("no C compiler, cc: apt-get install gcc")
    done = programs.run([compiler, "-shared", "-fPIC", "-O1", source, "-o", clock], "")
    if done.code:
        raise RunError(f"cc: {one_line(done.problem)}")
    return clock


def _problem(machine: Path, program: Path, script: Path, clock: Path) -> str:
    """Runs a script; returns its last error, or an empty text if it passes."""
    for path in (program, script):
        if "'" in str(path):
            raise InputError("expected a path without quotes", value=str(path))
    options = " ".join(_OPTIONS.split())
    first = clock.with_name("init")
    text = {"folder": script.parent, "program": program, "script": script.name, "clock": clock}
    first.write_text(_FIRST_PROCESS.format(options=options, **text))
    first.chmod(0o755)
    done = programs.run([machine, "1", str(os.getpid()), first], "")
    lines = [line.strip() for line in done.out.splitlines()]
    code = next((line.removeprefix(_DONE) for line in lines if line.startswith(_DONE)), None)
    if code is None:
        raise RunError(f"{script}: the kernel ended with {one_line(done.problem)}")
    errors = [line.removeprefix(_ENDED) for line in lines if line.startswith(_ENDED)]
    return "" if code == "0" else ([f"exit code {code}", *errors])[-1]
