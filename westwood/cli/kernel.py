# SPDX-License-Identifier: BSD-3-Clause
"""`westwood kernel`: our congestion controls in this machine's kernel. Reads options, prints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="The family as congestion controls of this machine's kernel.",
)
BootOption = Annotated[bool, typer.Option("--boot", help="At every boot, too, by systemd.")]


@app.command(epilog="Example: westwood kernel doctor")
def doctor() -> None:
    """Say what this machine lacks to load the controls and to emulate paths, and what helps.

    Exit code 77 if something is missing.
    """
    from westwood.kernel import doctor

    doctor.check_all(print)


@app.command(epilog="Example: westwood kernel load && iperf3 -c HOST -C ww_plus")
def load(boot: BootOption = False) -> None:
    """Register ww_plus and its family until unload or the next boot.

    Any program may then choose one for its sockets. Another version that is loaded is replaced;
    its connections go on with it.
    """
    from westwood.kernel import boot as booting
    from westwood.kernel import ww_kernel

    if boot:
        booting.unit()  # refuses before anything is loaded
    print(ww_kernel.load())
    for line in booting.enable() if boot else ():
        print(line)


@app.command(epilog="Example: westwood kernel unload")
def unload(
    boot: Annotated[bool, typer.Option("--boot", help="Not at boot either.")] = False,
) -> None:
    """Take the controls' names away. Connections that use one go on with it until they end."""
    from westwood.kernel import boot as booting
    from westwood.kernel import ww_kernel

    for line in booting.disable() if boot else ():
        print(line)
    print(ww_kernel.unload())


@app.command(epilog="Example: westwood kernel status --json")
def status(
    json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show what is registered and how many sockets use it, in all network namespaces."""
    from json import dumps

    from westwood.kernel import ww_kernel

    state = ww_kernel.status()
    if json:
        print(dumps(state))
    elif not state["loaded"]:
        print("nothing is loaded")
    else:
        recorder = f", recorded by process {state['recorder']}" if state["recorder"] else ""
        print(f"version {state['version']}{recorder}, {state['dropped']} events dropped so far")
        for one in state["controls"]:
            name = one["name"] if one["registered"] else f"{one['name']} (not registered)"
            print(f"{name:<12} {one['sockets']} sockets, {one['total']} since it was loaded")


@app.command(epilog="Example: westwood kernel record --out day.parquet --port 443")
def record(
    out: Annotated[Path, typer.Option(metavar="FILE", help="A .parquet or .csv file.")],
    port: Annotated[
        int | None, typer.Option(metavar="N", help="Only connections with this port at either end.")
    ] = None,
    duration: Annotated[
        str | None, typer.Option(metavar="TIME", help="End after so long; else with Ctrl-C.")
    ] = None,
) -> None:
    """Record every connection of our controls: windows, estimate, round trips, losses, timeouts.

    A row a bandwidth sample and decision, in the format of westwood trace, which draws it:
    westwood trace FILE --plot.
    """
    from westwood.kernel import recording

    for line in recording.record(out, port, duration):
        print(line, flush=True)
