# SPDX-License-Identifier: BSD-3-Clause
"""The command `trace`: runs a scenario once and records everything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from westwood.cli import figures, options
from westwood.cli.figures import FigureOption, SizeOption, TitleOption
from westwood.cli.runs import FromOption, SeedOption, ToOption
from westwood.draw.views import VIEWS, check_view
from westwood.errors import InputError

EveryOption = Annotated[
    str | None,
    options.option(
        options.OUTPUT, "TIME", "Sample the trace at this interval; default: a row per change."
    ),
]
EventsOption = Annotated[
    bool,
    options.option(
        options.OUTPUT, None, "With --out: also write every segment and decision.", "--events"
    ),
]
ViewOption = Annotated[
    str,
    options.option(
        options.FIGURE,
        "|".join(VIEWS),
        "; ".join(f"{name}: {view.shows}" for name, view in VIEWS.items()) + ".",
        "--view",
    ),
]
PcapOption = Annotated[
    Path | None,
    options.option(
        options.OUTPUT, "FILE", "Write the packets of a link, as its first node sees them."
    ),
]
AtOption = Annotated[
    str | None,
    options.option(
        options.FIGURE,
        "LINK",
        "The link whose queue is drawn, by default the busiest one; also that of --pcap.",
    ),
]
QlogOption = Annotated[
    Path | None,
    options.option(
        options.OUTPUT,
        "FILE",
        "Write the first flow as QUIC's log format, for qvis and similar tools.",
        "--qlog",
    ),
]


def trace(
    context: typer.Context,
    scenario: options.ScenarioArgument,
    cc: options.CcOption = None,
    set_: options.SetOption = None,
    engine: options.EngineOption = "sim",
    seed: SeedOption = 1,
    out: options.OutOption = None,
    every: EveryOption = None,
    events: EventsOption = False,
    pcap: PcapOption = None,
    at: AtOption = None,
    qlog: QlogOption = None,
    plot: options.PlotOption = False,
    view: ViewOption = "windows",
    from_: FromOption = None,
    to: ToOption = None,
    figure: FigureOption = None,
    title: TitleOption = None,
    size: SizeOption = None,
    yes: options.YesOption = False,
) -> None:
    from westwood.kernel.reading import is_recording

    if is_recording(scenario):
        _plot_recording(context, scenario, figures.wanted(plot, figure, title, size), (from_, to))
        return
    drawn = bool(plot or figure)
    if drawn:
        check_view(view, "--view")
    shows_links = VIEWS[view].shows_links if drawn else False
    _check_trace(context, drawn, out, (pcap, qlog), cc or (), shows_links=shows_links)
    from westwood import engines, extras

    wanted = figures.wanted(plot, figure, title, size)
    if qlog and engine != "sim":
        raise InputError("needs the simulator's events, expected --engine sim", key="--qlog")
    if out or pcap or qlog:
        extras.need("numpy", "--out" if out else "--pcap" if pcap else "--qlog")
    from westwood.cli import tracing

    runs_it = engines.find(engine)
    only_packets = not (out or wanted or qlog)
    request = tracing.Request(
        seed, events=events, pcap=pcap, at=at, qlog=qlog, only_packets=only_packets, view=view
    )
    chosen, request = tracing.requested(
        scenario, cc or (), options.settings_of(set_), request, every, (from_, to)
    )
    tracing.carry_out(chosen, request, runs_it, out, figure=wanted, yes=yes)


def _check_trace(
    context: typer.Context,
    drawn: bool,
    out: Path | None,
    of_one: tuple[Path | None, ...],
    cc: Sequence[str],
    *,
    shows_links: bool,
) -> None:
    """Raises InputError unless there is something to write; `of_one`: --pcap and --qlog."""
    if not (drawn or out or any(of_one)):
        raise InputError("nothing to do, expected --plot, --out DIR, --pcap FILE or --qlog FILE")
    if not out:
        options.refuse_idle(context, "every", "events", why="without --out")
    if not drawn:
        options.refuse_idle(context, "from_", "to", "view", why="without --plot")
    if not of_one[0] and not (drawn and shows_links):
        why = "with a view that shows no link" if drawn else "without --plot or --pcap"
        options.refuse_idle(context, "at", why=why)
    if len(cc) > 1 and (out or any(of_one)):
        problem = "expected one protocol with --out, --pcap or --qlog"
        raise InputError(problem, key="--cc", value=list(cc))


def _plot_recording(
    context: typer.Context,
    file: str,
    wanted: figures.Wanted | None,
    span: tuple[str | None, str | None],
) -> None:
    others = (
        *("cc", "set_", "engine", "seed", "every", "events", "pcap", "at", "qlog", "out", "view"),
    )
    if not wanted:
        raise InputError("a recording takes --plot, --from and --to", source=file)
    options.refuse_idle(context, *others, why="on a recording")
    from westwood.cli import recording_panel

    print(recording_panel.plot(Path(file), *span, wanted))
