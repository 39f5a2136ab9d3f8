# SPDX-License-Identifier: BSD-3-Clause
"""The command `path compare`: says which congestion control pays on a path."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from itertools import chain, count
from json import dumps
from pathlib import Path
from shutil import get_terminal_size
from typing import TYPE_CHECKING, Annotated

import typer

from westwood import extras, stopping
from westwood.cli import path_fit
from westwood.cli.options import (
    OUTPUT,
    SCENARIO,
    JsonOption,
    blamed_on_options,
    option,
    refuse_idle,
    several,
    value_of,
)
from westwood.cli.path_fit import FitOption
from westwood.cli.streams import next_step, say
from westwood.errors import InputError, Interrupted, RunError, WestwoodError
from westwood.units import option_seconds

if TYPE_CHECKING:
    from westwood.campaign.trying import Trial, TrialPlan
    from westwood.results.folder import Folder
    from westwood.scenario import Scenario

CANNOT_TELL = 3  # exit code
_PATH = ("rate", "delay", "loss", "queue", "scenario")
_KEYS = {"loss": "loss.rate", "queue": "queue.limit"}  # of the scenario, by option


_EMULATED = "Emulated path"

ControlOption = Annotated[
    list[str] | None,
    several(
        SCENARIO,
        "NAME,...",
        "Compare these, also C files, instead of ww_plus: with the default if it "
        "is one of several, else with the first.",
        "--cc",
    ),
]
ForOption = Annotated[
    str,
    option(SCENARIO, "TIME", "Longest time of uploads, if no interval decides before.", "--for"),
]
UploadOption = Annotated[
    str | None,
    option(
        SCENARIO, "TIME", "Length of each upload; default: 2 to 20 s, and 10 s with --emulated."
    ),
]
WorthOption = Annotated[str, option(SCENARIO, "SHARE", "Least gain that is worth a change.")]
SeedOption = Annotated[int, option(SCENARIO, "N", "Seed of the order and of emulated losses.")]
NewFolderOption = Annotated[
    Path | None, option(OUTPUT, "DIR", "Results folder; default: a new path-compare.")
]
EmulatedOption = Annotated[
    bool,
    option(
        _EMULATED, None, "Rehearse over a path in this machine instead of a server.", "--emulated"
    ),
]
RateOption = Annotated[str | None, option(_EMULATED, "RATE", "Its rate; default: 10Mbps.")]
DelayOption = Annotated[str | None, option(_EMULATED, "TIME", "Its delay one way; default: 20ms.")]
LossOption = Annotated[
    str | None, option(_EMULATED, "SHARE", "Share of data packets lost; default: 1%.")
]
QueueOption = Annotated[
    str | None,
    option(_EMULATED, "LENGTH", "Its queue limit, such as 64p, 64KiB or 5ms; default: 100p."),
]
PathOption = Annotated[
    str | None,
    option(_EMULATED, "FILE|PRESET", "Emulate a scenario's path, with its cross traffic."),
]


def compare(
    context: typer.Context,
    host: Annotated[
        str | None, typer.Argument(metavar="HOST[:PORT]", help="An iperf3 server.")
    ] = None,
    cc: ControlOption = None,
    for_: ForOption = "10m",
    upload: UploadOption = None,
    worth: WorthOption = "5%",
    seed: SeedOption = 1,
    emulated: EmulatedOption = False,
    rate: RateOption = None,
    delay: DelayOption = None,
    loss: LossOption = None,
    queue: QueueOption = None,
    scenario: PathOption = None,
    out: NewFolderOption = None,
    fit: FitOption = None,
    json: JsonOption = False,
) -> None:
    """Say which controls pay on the path to a server."""
    extras.need("numpy", "path compare")
    from westwood.campaign import preparing, rehearsal, trying
    from westwood.campaign.next_step import after, of_harm
    from westwood.campaign.plan import server_of
    from westwood.results.folder import Folder
    from westwood.results.kinds import ResultKind

    if emulated == (host is not None):
        problem = "expected either an iperf3 server, HOST or HOST:PORT, or --emulated"
        raise InputError(problem, key="HOST")
    if not emulated:
        refuse_idle(context, *_PATH, why="without --emulated")
    for_s = option_seconds("--for", for_, 0.0)
    upload_s = None if upload is None else option_seconds("--upload", upload, 0.0)
    controls, files = preparing.controls_of(cc or ()), preparing.files_of(cc or ())
    if emulated and upload_s is None:
        upload_s = rehearsal.upload_s(for_s, len(controls))
    server = rehearsal.SERVER if host is None else server_of(host)
    plan = trying.plan(server, controls, for_s, upload_s, worth, seed)
    options = {"scenario": scenario, "rate": rate, "delay": delay, "loss": loss, "queue": queue}
    typed = {name: value for name, value in options.items() if value is not None}
    path = _rehearsed(typed, for_s) if emulated else None
    path_fit.check(fit, "--fit")
    preparing.check(controls, files)
    folder = Folder(_new("path-compare") if out is None else out, kind=ResultKind.TRIAL, tell=say)
    code, trial = _carry_out(plan, path, folder, fit, files, json=json)
    if not json:
        chosen = tuple(files.get(name, name) for name in controls) if cc else ()
        if harm := of_harm(trial, chosen):
            print(f"What others lose: {harm}")
        next_step(after(trial, host, folder.path, chosen, typed))
    raise typer.Exit(code)


def _rehearsed(typed: Mapping[str, str], for_s: float) -> Scenario:
    """Returns the emulated path, after a check that this machine can emulate it."""
    from westwood.campaign import rehearsal

    of_link = {name: text for name, text in typed.items() if name != "scenario"}
    given = {_KEYS.get(name, name): value_of(text) for name, text in of_link.items()}
    with blamed_on_options(()):
        path = rehearsal.path(typed.get("scenario"), given)
    rehearsal.check(path, for_s)
    return path


def _carry_out(
    plan: TrialPlan,
    path: Scenario | None,
    folder: Folder,
    fit: Path | None,
    files: Mapping[str, str],
    *,
    json: bool,
) -> tuple[int, Trial]:
    """Uploads, restores the machine and prints the verdicts; returns exit code and trial."""
    from westwood.campaign import preparing, trial_page, trying

    about = {"plan": plan.settings(), "machine": preparing.machine()}
    about |= {"emulated": path.resolved()} if path is not None else {}
    trial, is_interrupted = trying.Trial(plan), False
    is_default = plan.controls[0] == about["machine"].get("tcp_congestion_control")
    against = f"{plan.controls[0]}{', the default here' if is_default else ''}"
    _say(f"{_intro(plan, path)}, against {against}, results in {folder.path}")
    try:
        with _place(plan, path) as there:
            trial.plan = trying.with_address(there)
            with preparing.controls(plan.controls, files):
                trying.run(trial, folder, about, _tell)
    except KeyboardInterrupt:
        is_interrupted = True
    except WestwoodError as error:  # restoring the machine may fail; finished rounds stay valid
        if not trial.rounds:
            raise
        trial.problem = "; ".join(filter(None, (trial.problem, str(error))))
    with stopping.keeping():
        _print(trial, json=json)  # first, because it needs no disk
        if trial.rows:
            trial_page.write_data(trial, folder, about)
    if is_interrupted:
        kept = f"what was finished is in {folder.path}" if trial.rows else "nothing was finished"
        raise Interrupted(f"interrupted; {kept}")
    print(trial_page.write_page(trial, folder, about), file=sys.stderr if json else sys.stdout)
    path_fit.after(folder.path, fit, json=json)
    if trial.problem:
        before = f"{trial.rounds} pairs" if trial.rounds > 1 else "pair"
        raise RunError(f"{trial.problem}; the verdict uses the {before} before")
    return CANNOT_TELL if not trial.is_decided else 0, trial


@contextmanager
def _place(plan: TrialPlan, path: Scenario | None) -> Iterator[TrialPlan]:
    """Provides the emulated path and its server, if there is a path."""
    from westwood.campaign import rehearsal

    if path is None:
        yield plan
        return
    with rehearsal.server(path, plan.port, plan.seed) as make:
        yield replace(plan, make=make)


def _intro(plan: TrialPlan, path: Scenario | None) -> str:
    from westwood.campaign.verdict import duration
    from westwood.scenario.summary import summarise

    where = f"rehearsal on an emulated path, {summarise(path)}: " if path else ""
    names = f"{', '.join(plan.controls[:-1])} and {plan.controls[-1]}"
    rounds = int(plan.for_s / plan.upload_s / len(plan.controls))
    lasts = f"for at most {duration(plan.for_s)}, up to {rounds} rounds"
    return f"{where}{names} in turn, {plan.upload_s:g} s each, {lasts}"


def _tell(trial: Trial) -> None:
    """Prints the state after a round."""
    rows = {row["cc"]: row["goodput_bps"] / 1e6 for row in trial.rows[-len(trial.plan.controls) :]}
    rates = ", ".join(f"{cc} {_rate(rows[cc])}" for cc in trial.plan.controls)
    verdicts = trial.verdicts()
    gains = ", ".join(
        f"{verdict.cc if verdicts[1:] else 'so far'} {verdict.gain()}" for verdict in verdicts
    )
    word = "round" if verdicts[1:] else "pair"
    _say(f"{word} {trial.rounds}: {rates} Mb/s; {gains}")


def _rate(mbps: float) -> str:
    return f"{mbps:.3g}" if mbps < 1000 else f"{mbps:.0f}"


def _print(trial: Trial, *, json: bool) -> None:
    from westwood.campaign import trial_page

    entries = trial_page.entries(trial)
    if json:
        print(
            dumps({"verdicts": entries, "uploads": trial.json_rows()}, allow_nan=False), flush=True
        )
        return
    for entry in entries:
        text = entry["sentence"]
        if sys.stdout.isatty():
            text = textwrap.fill(text, get_terminal_size().columns, break_on_hyphens=False)
        print(text, flush=True)


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _new(name: str) -> Path:
    """Returns the first folder of NAME, NAME-2, NAME-3 and so on that does not exist."""
    names = chain([name], (f"{name}-{number}" for number in count(2)))
    return next(path for path in map(Path, names) if not path.exists())
