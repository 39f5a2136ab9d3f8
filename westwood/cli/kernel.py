# SPDX-License-Identifier: BSD-3-Clause
"""The group `kernel`: our congestion controls in this machine's kernel."""

from __future__ import annotations

import shlex
from json import dumps
from pathlib import Path
from typing import Annotated

import typer

from westwood import extras
from westwood.cli.layout import command, group
from westwood.cli.options import control_settings, option, several
from westwood.cli.streams import next_step
from westwood.errors import InputError, UnavailableError
from westwood.units import option_seconds

app = group("westwood kernel load && westwood kernel status")
_CAVEAT = (
    "ww_plus: no default for a machine. It pays on paths that lose packets without a queue, gets "
    "less than CUBIC on clean long ones, and takes from CUBIC in short queues: docs/linux.md"
)
BootOption = Annotated[bool, option(None, None, "Also load at every boot, by systemd.", "--boot")]

PortOption = Annotated[
    int | None, option(None, "N", "Only connections with this port at either end.")
]
CcOption = Annotated[list[str] | None, several(None, "NAME,...", "Only these controls.", "--cc")]
NetnsOption = Annotated[
    str | None, option(None, "NAME|PID", "A network namespace: its name, or a process in it.")
]


@command(app, "westwood kernel doctor")
def doctor() -> None:
    """Say what this machine lacks, with the remedy (exit code 77)."""
    from westwood.kernel import doctor

    doctor.check_all(print)
    next_step("westwood kernel load")


@command(app, "westwood kernel load && iperf3 -c HOST -C ww_plus")
def load(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE.c]", help="Also a control of your own.")
    ] = None,
    boot: BootOption = False,
    setting: Annotated[
        list[str] | None,
        option(None, "cc.KEY=VALUE", "Set a parameter of FILE.c; may be repeated.", "--set"),
    ] = None,
    allow_users: Annotated[
        list[str] | None,
        several(
            None, "NAME,...", "Controls that any user may choose, not root alone.", "--allow-users"
        ),
    ] = None,
) -> None:
    """Load the family, so that root's programs may choose it.

    FILE.c becomes ww_FILE beside them.
    """
    from westwood.control.catalogue import PROTOCOLS
    from westwood.kernel import boot as booting
    from westwood.kernel import defaults, users, ww_kernel

    opened = allow_users or []
    if file is not None:
        _load_own(file, setting, opened, boot=boot)
        return
    if setting:
        raise InputError("expected FILE.c, whose parameter it is", key="--set", value=setting[0])
    users.check(opened, ww_kernel.CONTROLS)
    if boot:
        booting.unit(opened)  # raises an error before anything is loaded
    with users.staying(opened):
        print(ww_kernel.load())
    print(_CAVEAT)
    for protocol in PROTOCOLS.values():
        if protocol.ours and protocol.warning:
            print(f"{protocol.kernel}: {protocol.warning}")
    _say_who()
    defaults.renew()
    stays = [name for name in ww_kernel.CONTROLS if name in users.allowed()]
    for line in booting.enable(opened=stays) if boot else ():
        print(line)
    next_step("westwood path compare HOST")


def _say_who() -> None:
    """Says who may choose the controls that are loaded."""
    from westwood.kernel import users, ww_kernel

    opened = [name for name in sorted(users.allowed()) if name.startswith(ww_kernel.PREFIX)]
    print(
        f"any user may choose {', '.join(opened) or 'none of them'}, and root all ({users.OPTION})"
    )


def _load_own(file: str, setting: list[str] | None, opened: list[str], *, boot: bool) -> None:
    from westwood.engines import kernel_loading
    from westwood.kernel import defaults, user_controls, users, ww_kernel

    if boot:
        problem = "loads at boot only ours, expected no FILE.c"
        raise InputError(problem, key="--boot", value=file)
    users.check(opened, [*ww_kernel.CONTROLS, user_controls.name_of(file)])
    with users.staying(opened):
        lines = kernel_loading.load(file, control_settings(setting))
    for line in lines:
        print(line)
    _say_who()
    defaults.renew()
    next_step(f"westwood path compare HOST --cc cubic,{user_controls.name_of(file)}")


@command(app, "westwood kernel unload")
def unload(
    boot: Annotated[bool, option(None, None, "Also stop loading at boot.", "--boot")] = False,
) -> None:
    """Unload the controls and restore the default."""
    from westwood.kernel import boot as booting
    from westwood.kernel import defaults, ww_kernel

    for line in booting.disable() if boot else ():
        print(line)
    for line in defaults.before_unload():
        print(line)
    print(ww_kernel.unload())


@command(app, "westwood kernel default ww_plus --route 203.0.113.0/24")
def default(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A control; without it, show what is set.")
    ] = None,
    netns: NetnsOption = None,
    route: Annotated[
        str | None, option(None, "PREFIX", "Only for connections by this route of the main table.")
    ] = None,
    restore: Annotated[
        bool,
        option(
            None,
            None,
            "Put back what was there, everywhere or for this --netns or --route.",
            "--restore",
        ),
    ] = False,
) -> None:
    """Make a control the default of new sockets, until --restore."""
    from westwood.kernel import defaults

    if restore and name is not None:
        raise InputError("expected a name or --restore, not both", key="NAME", value=name)
    if restore:
        lines = defaults.restore(netns, route)
    elif name is None:
        lines = defaults.lines(netns, route)
    else:
        lines = defaults.choose(name, netns, route)
    for line in lines:
        print(line)


@command(app, "westwood kernel status --json")
def status(
    json: Annotated[bool, option(None, None, "Print one JSON object.", "--json")] = False,
) -> None:
    """Show which controls are loaded, in use, or a default."""
    from westwood.kernel import defaults, users, ww_kernel

    state = {**ww_kernel.status(), "defaults": defaults.standing()}
    for entry in (*state.get("controls", ()), *state.get("own", ())):
        entry["any_user"] = entry["name"] in users.allowed()
    if json:
        print(dumps(state))
        return
    if not state["loaded"]:
        print("nothing is loaded")
    else:
        recorder = f", recorded by process {state['recorder']}" if state["recorder"] else ""
        print(f"version {state['version']}{recorder}, {state['dropped']} events dropped so far")
        for entry in (*state["controls"], *state["own"]):
            name = entry["name"] if entry["registered"] else f"{entry['name']} (not registered)"
            who = "; any user may choose it" if entry["any_user"] else ""
            print(
                f"{name:<12} {entry['sockets']} sockets, {entry['total']} since it was loaded{who}"
            )
    for line in defaults.lines_of_ours():
        print(line)


@command(app, "westwood kernel record --out day.parquet --port 443")
def record(
    out: Annotated[Path, option(None, "FILE", "A .parquet or .csv file.")],
    port: PortOption = None,
    cc: CcOption = None,
    for_: Annotated[
        str | None, option(None, "TIME", "Stop after this time; default: at Ctrl-C.", "--for")
    ] = None,
) -> None:
    """Record windows, round trips and losses of connections."""
    from westwood.kernel import recording

    for line in recording.record(out, port, for_, cc or ()):
        print(line, flush=True)
    next_step(f"westwood trace {shlex.quote(str(out))} --plot")


@command(app, "westwood kernel machine")
def machine() -> None:
    """Fetch Debian's 6.1 kernel, for controls that this one lacks."""
    from westwood.kernel import emulated

    if problem := emulated.missing():
        raise UnavailableError(problem)
    emulated.fetch()
    print(emulated.image())
    next_step("westwood compare --engine linux --duration 10s --cc cubic,westwood+")


@command(app, "westwood kernel build")
def build(
    source: Annotated[
        Path | None,
        option(None, "FILE", "Source of Linux 6.12, a .tar.xz; default: Debian's package."),
    ] = None,
) -> None:
    """Build the Linux of --engine linux-um, once, in ten minutes."""
    from westwood.kernel import virtual

    print(virtual.build(source, print))
    next_step("westwood compare --engine linux-um --duration 30s --cc cubic,reno")


@command(app, "westwood kernel packetdrill tests/tcp/cubic --program ./packetdrill")
def packetdrill(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="With scripts, *.pkt.")],
    program: Annotated[
        Path | None, option(None, "FILE", "packetdrill; default: that in PATH.")
    ] = None,
) -> None:
    """Run scripts of packetdrill in the Linux of --engine linux-um."""
    from westwood.kernel import packet_tests

    failed = count = 0
    for outcome in packet_tests.outcomes(folder, packet_tests.find(program)):
        count, failed = count + 1, failed + bool(outcome.problem)
        print(f"{outcome.script}  {outcome.problem or 'passes'}")
    print(f"{count - failed} of {count} scripts pass")
    if failed:
        raise typer.Exit(1)


@command(app, "westwood kernel watch --cc ww_plus --sort rtt")
def watch(
    cc: CcOption = None,
    port: PortOption = None,
    remote: Annotated[
        str | None, option(None, "ADDRESS", "Only connections to this address.")
    ] = None,
    netns: NetnsOption = None,
    sort: Annotated[
        str, option(None, "COLUMN", "goodput, cwnd, rtt, retransmitted or sent; largest first.")
    ] = "goodput",
    interval: Annotated[str, option(None, "TIME", "Time between two updates.")] = "1s",
    estimate: Annotated[
        bool,
        option(
            None,
            None,
            "Also show the bandwidth estimate of ww_*; nobody else can record meanwhile.",
            "--estimate",
        ),
    ] = False,
    once: Annotated[bool, option(None, None, "Print one table and end.", "--once")] = False,
) -> None:
    """Show the connections of every control, live."""
    extras.need("numpy", "kernel watch")
    from westwood.cli import watch as watching
    from westwood.kernel import user_controls
    from westwood.kernel.recording import check_port
    from westwood.kernel.sockets import Match
    from westwood.kernel.ww_kernel import check_names

    cc = [user_controls.kernel_name(name) for name in cc or ()]
    check_names(cc)
    check_port(port)
    every_s = option_seconds("--interval", interval, 1.0)
    if not 0.05 <= every_s <= 3600:
        raise InputError("expected a time from 50ms to 1h", key="--interval", value=interval)
    match = Match(port=port, remote=remote, cc=tuple(cc))
    watching.run(match, netns, sort, every_s, estimate=estimate, once=once)
