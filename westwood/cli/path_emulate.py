# SPDX-License-Identifier: BSD-3-Clause
"""The command `path emulate`: any program behind an emulated path."""

from __future__ import annotations

from typing import Annotated

import typer

from westwood.cli.options import SetOption, refuse_idle, settings_of, value_of


def emulate(
    context: typer.Context,
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- COMMAND [ARGS]...", help="What runs; $SHELL if left out."),
    ] = None,
    rate: Annotated[
        str | None, typer.Option(help="Each way, such as 2Mbps; no limit if not given.")
    ] = None,
    delay: Annotated[str | None, typer.Option(help="Each way; 0s if not given.")] = None,
    loss: Annotated[str | None, typer.Option(help="Each way; 0% if not given.")] = None,
    queue: Annotated[str | None, typer.Option(help="Packets or bytes; 100p if not given.")] = None,
    scenario: Annotated[
        str | None,
        typer.Option(metavar="FILE|PRESET", help="Its first flow's way, instead of one link."),
    ] = None,
    set_: SetOption = None,
    seed: Annotated[
        int | None, typer.Option(metavar="N", help="Of losses and jitter; 1, in a shell 2, and on.")
    ] = None,
    meter: Annotated[
        bool,
        typer.Option("--meter", help="Tell what the path carries, once a second."),
    ] = False,
) -> None:
    """Run any program behind an emulated path.

    Its network's only way out is the link. Real packets, in real time, with root's rights. `--set
    path.KEY=VALUE` sets all else of the link: jitter, RED, a recorded rate, fading. Shells in
    shells add up. Servers on this machine are reached at $WESTWOOD_GATEWAY. The exit code is
    COMMAND's.
    """
    from westwood.cli import streams
    from westwood.engines import linux_shell
    from westwood.errors import InputError

    settings = settings_of(set_)
    if scenario is not None:
        names = ("rate", "delay", "loss", "queue")
        refuse_idle(context, *names, without="a link of its own: --set LINK.KEY=VALUE")
        path = linux_shell.EmulatedPath.of_scenario(scenario, settings)
        if path.left_out:
            streams.say(path.left_out)
    elif not (rate or delay or loss or queue or settings):
        raise InputError("expected what the path is like: --rate, --delay, --loss or --scenario")
    else:
        lost = value_of(loss) if loss else None
        linux_shell.check(lost, loss)
        path = linux_shell.EmulatedPath.of_link(rate, delay, lost, queue, settings)
    linux_shell.run(path, command or (), seed=seed, has_meter=meter)
