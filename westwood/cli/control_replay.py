# SPDX-License-Identifier: BSD-3-Clause
"""The command `control replay`: repeats recorded calls in every host of a control."""

from __future__ import annotations

import json as writer
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from westwood.cli import options

if TYPE_CHECKING:
    from westwood.engines.replaying import Replayed

_SettingOption = Annotated[
    list[str] | None,
    options.option(
        options.SCENARIO,
        "KEY=VALUE",
        "Change a setting of the control in a file, such as cc.gain=2; may be repeated.",
        "--set",
    ),
]
_HostOption = Annotated[
    list[str] | None,
    options.several(
        options.SCENARIO,
        "NAME,...",
        "Only these: sim, gcc, clang, zig, ns3, kernel, linux-um, wasm, quic. Default: all.",
        "--host",
    ),
]
_ScenarioOption = Annotated[
    str | None,
    options.option(
        options.SCENARIO,
        "FILE|PRESET",
        "Record the calls of its first flow. Default: a path with losses, marks and timeouts.",
    ),
]
_CallsOption = Annotated[
    Path | None, options.option(options.SCENARIO, "FILE", "Read the calls from a recording.")
]
_RecordOption = Annotated[
    Path | None, options.option(options.OUTPUT, "FILE", "Keep the recording.", "--record")
]


def replay(
    context: typer.Context,
    cc: options.ControlArgument = None,
    cc_: options.ControlOption = None,
    host: _HostOption = None,
    set_: _SettingOption = None,
    scenario: _ScenarioOption = None,
    seed: Annotated[int, options.option(options.SCENARIO, "N", "Seed of the run.")] = 1,
    calls: _CallsOption = None,
    record: _RecordOption = None,
    json: options.JsonOption = False,
) -> None:
    """Say whether all hosts set the same windows for the same ACKs."""
    from westwood.control import one_command
    from westwood.engines import replaying
    from westwood.scenario import Scenario

    if calls:
        options.refuse_idle(context, "scenario", "seed", "record", why="with --calls")
    with one_command():
        control = options.control_given(cc, cc_)
        asked = replaying.subject(control, options.control_settings(set_))
        if calls:
            recording = replaying.read(calls)
        else:
            given = Scenario.load(scenario) if scenario else None
            recording = replaying.record(asked, given, seed)
        if record:
            record.write_text(recording.text, encoding="utf-8")
        replays = []
        for replayed in replaying.replay(asked, recording, host or [*replaying.HOSTS]):
            replays.append(replayed)
            if not json:
                print(_line(replayed), flush=True)
    if json:
        print(writer.dumps(_entry(control, len(recording.calls), replays)))
    if any(host_replay.difference for host_replay in replays):
        raise typer.Exit(1)


def _line(replayed: Replayed) -> str:
    if replayed.not_run:
        return f"{replayed.host:8} not run: {replayed.not_run}"
    if replayed.difference is None:
        return f"{replayed.host:8} equal in {replayed.calls} calls"
    first = replayed.difference
    differs = f"{first.quantity} {first.found}, recorded {first.recorded}"
    return f"{replayed.host:8} DIFFERS from call {first.call} on: {differs} ({first.text})"


def _entry(control: str, calls: int, replays: list[Replayed]) -> dict[str, Any]:
    from dataclasses import asdict

    return {"control": control, "calls": calls, "hosts": [asdict(replayed) for replayed in replays]}
