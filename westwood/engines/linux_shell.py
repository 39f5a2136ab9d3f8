# SPDX-License-Identifier: BSD-3-Clause
"""Runs a program behind an emulated path: its packets cross a scenario's links in real time.

ww-path replaces this process and runs the program in its own network, as linux/path/shell.hpp
describes.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NoReturn

from westwood.control.arguments import checked, whole
from westwood.engines import linux, linux_queues, wire
from westwood.errors import InputError, UnavailableError
from westwood.scenario import Scenario, named_links

PATH = "path"  # the link's name, for --set
_FASTEST = "1000Gbps"
_PROGRAM = replace(linux.PROGRAM, needed="westwood path emulate needs linux/ww-path")
_ABOUT = "WESTWOOD_SHELL"  # inside, it describes the nested paths, outermost first
_SEPARATOR = " | "


@dataclass(frozen=True)
class EmulatedPath:
    """Describes the emulated path: the route of a scenario's first flow, in both directions."""

    scenario: Scenario
    about: str  # short description for a prompt
    left_out: str | None = None  # a note on the parts of the scenario that are not run

    @classmethod
    def of_link(
        cls,
        rate: str | None,
        delay: str | None,
        loss: object,
        queue: str | None,
        settings: Mapping[str, Any],
        named: str | None = None,
    ) -> EmulatedPath:
        """Makes a path of one link, by name or with the same settings in both directions.

        COMMAND is at the user's end of a link by name.
        """
        link: dict[str, Any] = {"name": PATH, "between": ["inside", "outside"]}
        if named is None:
            link |= {"rate": _FASTEST, "delay": "0s", "queue": {"limit": "100p"}}
        else:
            link |= {named_links.KIND: named}
            if named in named_links.names() and named_links.get(named).is_downstream:
                link["between"].reverse()
        given = {"rate": rate, "delay": delay, "queue": queue and {"limit": queue}}
        link |= {key: value for key, value in given.items() if value}
        if loss is not None:
            link["loss"] = {"rate": loss, "on": "both"}
        recorded = {
            key: settings[key] for key in settings if f"{key}.".startswith(f"{PATH}.trace.")
        }
        if recorded:
            link["trace"] = _table(recorded, f"{PATH}.trace")
            if rate is None and len(link["trace"]) == 2:  # both directions
                link.pop("rate", None)
        traffic = {"kind": "udp", "rate": "1Mbps"}
        flow = {"name": "command", "from": "inside", "to": "outside", "app": traffic}
        scenario = Scenario(name="shell", duration="1s", link=[link], flow=[flow])
        others = (key.removeprefix(f"{PATH}.") for key in settings)
        words = (named, rate, delay, None if loss is None else str(loss), queue, *others)
        return cls(scenario.with_settings(settings), " ".join(str(word) for word in words if word))

    @classmethod
    def of_scenario(cls, file_or_preset: str, settings: Mapping[str, Any]) -> EmulatedPath:
        """Makes a path of a scenario's links, or of those in a sweep's first point."""
        scenario = Scenario.load(file_or_preset).with_settings(settings)
        _, first = next(scenario.points())
        return cls(first, scenario.name, _left_out(scenario))


def default_seed() -> int:
    """Returns a different seed for each nesting depth, so that nested losses are independent."""
    outer = os.environ.get(_ABOUT)
    return 1 if outer is None else 2 + outer.count(_SEPARATOR)


@checked(seed=whole(0, 2**64 - 1))
def plan(path: EmulatedPath, seed: int) -> str:
    """Returns the plan of the path for ww-path."""
    linux_queues.refuse_held(path.scenario)
    return wire.passage(path.scenario) + wire.conclusion(seed, None)


def run(
    path: EmulatedPath, command: Sequence[str] = (), *, seed: int | None, has_meter: bool = False
) -> NoReturn:
    """Replaces this process by ww-path, which runs the command or the user's shell."""
    text = plan(path, default_seed() if seed is None else seed).encode()
    program = _PROGRAM.find()
    file = os.memfd_create("plan")
    with open(file, "wb", closefd=False) as written:
        written.write(text)
    os.set_inheritable(file, True)
    meter = ["--meter"] if has_meter else []
    words = [str(program), str(file), *meter, *(command or [_shell()])]
    environment = _environment(path.about, is_shell=not command)
    sys.stdout.flush()
    sys.stderr.flush()
    for ignored in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them; exec would keep that
        signal.signal(ignored, signal.SIG_DFL)
    try:
        os.execve(program, words, environment)
    except OSError as error:
        raise UnavailableError(f"{program}: {error.strerror}") from None


def _table(settings: Mapping[str, Any], name: str) -> Any:
    """Returns the table `name` that these settings give, as a whole or by its keys."""
    whole = settings.get(name, {})
    keys = {key.removeprefix(f"{name}."): settings[key] for key in settings if key != name}
    return {**whole, **keys} if isinstance(whole, dict) else whole


def _shell() -> str:
    return os.environ.get("SHELL") or "/bin/sh"


def _environment(about: str, *, is_shell: bool) -> dict[str, str]:
    """Returns the command's environment; a shell gets a prompt that describes the path."""
    outer = os.environ.get(_ABOUT)
    variables = {**os.environ, _ABOUT: f"{outer}{_SEPARATOR}{about}" if outer else about}
    if is_shell and Path(_shell()).name == "bash":  # ~/.bashrc would overwrite PS1
        variables["PROMPT_COMMAND"] = f'PS1="[${_ABOUT}] $PS1" PROMPT_COMMAND='
    elif is_shell:
        variables["PS1"] = f"[{variables[_ABOUT]}] $ "
    return variables


def _left_out(scenario: Scenario) -> str | None:
    first, *others = scenario.flow
    parts = []
    if others or first.count > 1:
        parts.append(f"the route of {first.name}, from {first.from_} to {first.to}; no flow is run")
    if scenario.sweep:
        parts.append(f"the first point of its sweep ({', '.join(scenario.sweep)})")
    return f"{scenario.name}: COMMAND's packets take {', and '.join(parts)}" if parts else None


def check(rate_of_loss: object, written: str | None) -> None:
    """Raises InputError for `--loss 1`, which may mean 1 % or 100 %."""
    if rate_of_loss in (1, 1.0) and "%" not in (written or ""):
        raise InputError("expected 1% or 100%", key="--loss", value=written)
