# SPDX-License-Identifier: BSD-3-Clause
"""The command `path emulate`: runs any program behind an emulated path."""

from __future__ import annotations

from typing import Annotated

import typer

from westwood.cli import streams
from westwood.cli.options import blamed_on_options, option, refuse_idle, settings_of, value_of
from westwood.errors import InputError

_PathSetOption = Annotated[
    list[str] | None,
    option(
        None,
        "KEY=VALUE",
        "Change a setting of the link, such as path.jitter=2ms; may be repeated.",
        "--set",
    ),
]


def emulate(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND [ARGS]", help="The program to run; default: $SHELL."),
    ] = None,
    rate: Annotated[str | None, option(None, "RATE", "Rate each way; default: no limit.")] = None,
    delay: Annotated[str | None, option(None, "TIME", "Delay each way; default: 0s.")] = None,
    loss: Annotated[str | None, option(None, "SHARE", "Share lost each way; default: 0%.")] = None,
    queue: Annotated[
        str | None, option(None, "LENGTH", "Queue limit, such as 64p, 64KiB or 5ms; default: 100p.")
    ] = None,
    link: Annotated[
        str | None,
        option(None, "NAME", "A link of westwood list links, such as dsl, at its user's end."),
    ] = None,
    scenario: Annotated[
        str | None,
        option(None, "FILE|PRESET", "Emulate the first flow's route of a scenario instead."),
    ] = None,
    set_: _PathSetOption = None,
    seed: Annotated[
        int | None,
        option(None, "N", "Seed of losses and jitter; default: 1, or 2 on a path within a path."),
    ] = None,
    meter: Annotated[
        bool, option(None, None, "Print what the path carries, once a second.", "--meter")
    ] = False,
) -> None:
    """Run any program behind an emulated path, with root's rights."""
    from westwood.engines import linux_shell

    settings = settings_of(set_)
    if scenario is not None:
        names = ("rate", "delay", "loss", "queue", "link")
        refuse_idle(context, *names, why="with --scenario, use --set LINK.KEY=VALUE")
        path = linux_shell.EmulatedPath.of_scenario(scenario, settings)
        if path.left_out:
            streams.say(path.left_out)
    elif not (rate or delay or loss or queue or link or settings):
        options = "--rate, --delay, --loss, --queue, --link, --set or --scenario"
        raise InputError(f"expected a path: {options}")
    else:
        lost = value_of(loss) if loss else None
        linux_shell.check(lost, loss)
        with blamed_on_options(settings):
            path = linux_shell.EmulatedPath.of_link(rate, delay, lost, queue, settings, link)
    linux_shell.run(path, command or (), seed=seed, has_meter=meter)
