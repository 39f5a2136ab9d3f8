# SPDX-License-Identifier: BSD-3-Clause
"""The command `path compare`: which congestion control pays on a path? Reads options, prints."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from westwood.cli import path_fit
from westwood.cli.options import JsonOption, refuse_idle, value_of
from westwood.cli.path_fit import FitOption

if TYPE_CHECKING:
    from westwood.campaign.trying import Plan, Trial
    from westwood.results.folder import Folder
    from westwood.scenario import Scenario

CANNOT_TELL = 3  # exit code
_PATH = ("rate", "delay", "loss", "queue", "scenario")


ControlOption = Annotated[
    list[str] | None,
    typer.Option(
        "--cc",
        metavar="NAME",
        help="Instead of ww_plus. Repeat it to compare several, with the default if it is one of "
        "them, else with the first.",
    ),
]
EmulatedOption = Annotated[
    bool, typer.Option("--emulated", help="A rehearsal: over a path in this machine.")
]
UploadOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Of each upload; 2 to 20 s if not given.")
]
WorthOption = Annotated[
    str, typer.Option(metavar="SHARE", help="The gain below which it does not pay.")
]
RateOption = Annotated[
    str | None, typer.Option(metavar="RATE", help="Of the emulated path; else 20Mbps.")
]
DelayOption = Annotated[
    str | None, typer.Option(metavar="TIME", help="Of the emulated path; else 20ms.")
]
LossOption = Annotated[
    str | None, typer.Option(metavar="SHARE", help="Of its data packets; else 1%.")
]
QueueOption = Annotated[
    str | None, typer.Option(metavar="SIZE", help="Packets or bytes; else 100p.")
]
PathOption = Annotated[
    str | None,
    typer.Option(metavar="FILE|PRESET", help="The emulated path, and its cross traffic."),
]


def compare(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Argument(metavar="HOST[:PORT]", help="An iperf3 server.")
    ] = None,
    emulated: EmulatedOption = False,
    cc: ControlOption = None,
    for_: Annotated[
        str, typer.Option("--for", metavar="TIME", help="Longest time, if nothing decides before.")
    ] = "10m",
    upload: UploadOption = None,
    worth: WorthOption = "5%",
    rate: RateOption = None,
    delay: DelayOption = None,
    loss: LossOption = None,
    queue: QueueOption = None,
    scenario: PathOption = None,
    seed: Annotated[
        int, typer.Option(metavar="N", help="Of the order, and of emulated losses.")
    ] = 1,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Results folder, instead of a new one.")
    ] = None,
    fit: FitOption = None,
    json: JsonOption = False,
) -> None:
    """Say whether ww_plus pays on the path to a server.

    Loads our controls if they are not loaded, uploads in turn with it and with the control of today
    until the interval decides or the time is up, puts everything back as it was, and says it in a
    sentence and on a page. No default is changed. Exit codes: 0 it pays or does not pay, 3 it can't
    tell yet.
    """
    from westwood import extras

    extras.need("numpy", "path compare")
    from westwood.campaign import preparing, rehearsal, trying
    from westwood.campaign.plan import server_of
    from westwood.cli.streams import say
    from westwood.errors import InputError
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind
    from westwood.units import option_seconds

    if emulated == (host is not None):
        problem = "expected an iperf3 server, HOST or HOST:PORT, or --emulated: one of the two"
        raise InputError(problem, key="HOST")
    if not emulated:
        refuse_idle(context, *_PATH, without="--emulated")
    for_s = option_seconds("--for", for_, 0.0)
    upload_s = None if upload is None else option_seconds("--upload", upload, 0.0)
    controls = preparing.controls_of(cc or ())
    server = rehearsal.SERVER if host is None else server_of(host)
    plan = trying.plan(server, controls, for_s, upload_s, worth, seed)
    given = {"rate": rate, "delay": delay, "loss.rate": loss, "queue.limit": queue}
    path = _rehearsed(scenario, given, for_s) if emulated else None
    path_fit.check(fit, "--fit")
    preparing.check(controls)
    folder = Folder(_new("path-compare") if out is None else out, kind=ResultKind.TRIAL, tell=say)
    raise typer.Exit(_carry_out(plan, path, folder, fit, json=json))


def _rehearsed(scenario: str | None, given: dict[str, str | None], for_s: float) -> Scenario:
    """Makes the path of a rehearsal, and checks that it can be."""
    from westwood.campaign import rehearsal

    path = rehearsal.path(scenario, {k: value_of(v) for k, v in given.items() if v is not None})
    rehearsal.check(path, for_s)
    return path


def _carry_out(
    plan: Plan, path: Scenario | None, folder: Folder, fit: Path | None, *, json: bool
) -> int:
    """Uploads, puts everything back, says what was found; the exit code."""
    from westwood import stopping
    from westwood.campaign import preparing, trial_page, trying
    from westwood.errors import Interrupted, RunError, WestwoodError

    about = {"plan": plan.settings(), "machine": preparing.machine()}
    about |= {"emulated": path.resolved()} if path is not None else {}
    trial, is_interrupted = trying.Trial(plan), False
    _say(f"{_intro(plan)}, results in {folder.path}")
    try:
        with _place(plan, path) as there:
            trial.plan = trying.met(there)
            with preparing.controls(plan.controls):
                trying.run(trial, folder, about, _tell)
    except KeyboardInterrupt:
        is_interrupted = True
    except WestwoodError as error:  # of what was to be put back: the rounds before it stand
        if not trial.rounds:
            raise
        trial.problem = "; ".join(filter(None, (trial.problem, str(error))))
    with stopping.keeping():
        _print(trial, json=json)  # first: it needs no disk
        if trial.rows:
            trial_page.write_data(trial, folder, about)
    if is_interrupted:
        kept = f"what was finished is in {folder.path}" if trial.rows else "nothing was finished"
        raise Interrupted(f"interrupted; {kept}")
    print(trial_page.write_page(trial, folder, about), file=sys.stderr if json else sys.stdout)
    path_fit.after(folder.path, fit, json=json)
    if trial.problem:
        before = f"{trial.rounds} pairs" if trial.rounds > 1 else "pair"
        raise RunError(f"{trial.problem}; the verdict is on the {before} before")
    return CANNOT_TELL if not trial.is_decided else 0


@contextmanager
def _place(plan: Plan, path: Scenario | None) -> Iterator[Plan]:
    """Makes the rehearsal's path and server, if it is one."""
    from westwood.campaign import rehearsal

    if path is None:
        yield plan
        return
    with rehearsal.server(path, plan.port, plan.seed) as make:
        yield replace(plan, make=make)


def _intro(plan: Plan) -> str:
    from westwood.campaign.verdict import duration

    names = f"{', '.join(plan.controls[:-1])} and {plan.controls[-1]}"
    return f"{names} in turn, {plan.upload_s:g} s each, for at most {duration(plan.for_s)}"


def _tell(trial: Trial) -> None:
    """Says how it stands after a round."""
    rows = {row["cc"]: row["goodput_bps"] / 1e6 for row in trial.rows[-len(trial.plan.controls) :]}
    rates = ", ".join(f"{cc} {_rate(rows[cc])}" for cc in trial.plan.controls)
    found = trial.verdicts()
    gains = ", ".join(f"{one.cc if found[1:] else 'so far'} {one.gain()}" for one in found)
    _say(f"pair {trial.rounds}: {rates} Mb/s; {gains}")


def _rate(mbps: float) -> str:
    return f"{mbps:.3g}" if mbps < 1000 else f"{mbps:.0f}"


def _print(trial: Trial, *, json: bool) -> None:
    from json import dumps

    from westwood.campaign import trial_page

    found = trial_page.entries(trial)
    if json:
        print(
            dumps({"verdicts": found, "uploads": trial.plain_rows()}, allow_nan=False), flush=True
        )
        return
    for one in found:
        text = one["sentence"]
        if sys.stdout.isatty():
            text = textwrap.fill(text, get_terminal_size().columns, break_on_hyphens=False)
        print(text, flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _new(name: str) -> Path:
    """Finds a folder that is not there yet: NAME, NAME-2, NAME-3."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(path for path in map(Path, names) if not path.exists())
