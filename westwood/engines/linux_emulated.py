# SPDX-License-Identifier: BSD-3-Clause
"""Runs plans on Debian's kernel in an emulated machine, for controls that this kernel lacks.

The machine (westwood/kernel/emulated.py) receives ww-path and its plan, and prints the report. Its
clock counts instructions, so the load of this machine has no effect. It returns no trace.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from westwood.errors import RunError, UnavailableError
from westwood.kernel import emulated

# The controls of Debian's kernel.
_BUILT_IN = frozenset({"reno", "cubic"})
MODULES = frozenset({"bbr", "vegas", "veno", "westwood"})
REMEDY = f"{emulated.FETCH}, for an emulated kernel that has it"
_TUN = "kernel/drivers/net/tun.ko"
_TOOLS = ("tc",)  # for queue disciplines
_MOST_S = 1800.0  # the longest run on a busy machine


def missing_reason(controls: Iterable[str]) -> str | None:
    """Returns why the machine can't run these controls; None if it can."""
    others = sorted(set(controls) - _BUILT_IN - MODULES)
    if others:
        return f"Debian's kernel has no {', '.join(others)}"
    return emulated.missing_reason()


def execute(
    program: Path, plan: str, controls: Iterable[str], disciplines: Iterable[str], what: str
) -> list[list[str]]:
    """Runs ww-path with this plan in the machine; returns the words of its output lines."""
    wanted = [f"kernel/net/ipv4/tcp_{name}.ko" for name in sorted(MODULES & set(controls))]
    wanted += [f"kernel/net/sched/sch_{name}.ko" for name in sorted(disciplines)]
    programs = [program, *(Path(tool) for tool in map(emulated.find, _TOOLS) if tool)]
    script = "\n".join(
        (
            "cat > /plan <<'END_OF_PLAN'",
            f"{plan}END_OF_PLAN",
            'echo "## report"',
            f"{program.name} < /plan 2>&1",
            'echo "## code $?"',
        )
    )
    modules = [_TUN, *wanted]
    try:
        printed = emulated.run(f"{script}\n", _MOST_S, programs=programs, modules=modules)
    except RunError as error:
        raise RunError(f"{what}: {error}") from None
    # The kernel's messages begin with a time in brackets.
    report = [line for line in emulated.after(printed, "report") if not line.startswith("[")]
    if "## code 0" not in printed:
        problem = report[-1] if report else "no report"
        raise UnavailableError(f"{what}, in the emulated machine: {problem}")
    return [line.split() for line in report]
