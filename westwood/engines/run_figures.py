# SPDX-License-Identifier: BSD-3-Clause
"""Selects the data for figures of traced runs; westwood/draw, which draws them, has no scenario."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import polars as pl

from westwood.control.catalogue import QUEUES, UDP, PlotStyle, label, style_of
from westwood.draw import panel
from westwood.draw.over_time import TracedRun, over_time
from westwood.draw.style import PALETTE, nothing
from westwood.draw.views import VIEWS, TracedFlow, TracedFlows, View, check_view
from westwood.draw.window import Span, sawteeth, span_text
from westwood.results import queues, traces
from westwood.scenario.summary import summarise
from westwood.units import PS_PER_S

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from westwood.engines.result import Result
    from westwood.scenario.flows import Flow
    from westwood.scenario.links import Link
    from westwood.scenario.topology import Direction

_CAPACITY_STEP_S = 0.25  # averaging interval for the rate of delivery opportunities


def draw(
    results: Sequence[Result], view: str, span_s: Span | None = None, link: str | None = None
) -> Figure:
    """Draws one traced run, or several of the same path on top of each other.

    `link` is the one whose queue is shown; None: the busiest of the first run.
    """
    check_view(view)
    first = results[0]
    whole_s = (0.0, first.scenario.duration / PS_PER_S)
    shown, side = _shown_link(first, link)
    title = _title(first, shown)
    if view == "windows" and len(results) == 1:
        return panel.draw(panel_of(first, span_s, link))
    flows = [flow for result in results for flow in _flows(result, several=len(results) > 1)]
    if not flows:
        return nothing(title, "no flow is a single TCP connection")
    if view == "windows":
        runs = [
            TracedRun(
                flow.cc.written,
                name,
                result.trace.filter(flow=flow.name),
                _queue(result, shown, side, whole_s),
            )
            for result, flow, name, _ in flows
        ]
        return over_time(runs, title, whole_s, span_s, f"Queue of {shown.name}")
    chosen = VIEWS[view]
    traced = [
        TracedFlow(name, style, flow.mss, _rows(result, chosen).filter(flow=flow.name))
        for result, flow, name, style in flows
    ]
    return chosen.draw(TracedFlows(title, traced, whole_s, span_s))


def _rows(result: Result, view: View) -> pl.DataFrame:
    return result.events if view.needs == "events" else result.trace


def _flows(result: Result, *, several: bool) -> list[tuple[Result, Flow, str, PlotStyle]]:
    """Returns the flows to draw; they have their protocols' styles unless two would match."""
    flows = [
        scenario_flow
        for scenario_flow in result.scenario.flows
        if scenario_flow.cc.name != UDP and not scenario_flow.arrivals
    ]
    shown = flows[: panel.MOST_FLOWS]
    alike = len({scenario_flow.cc.written for scenario_flow in shown}) < len(shown)
    curves = []
    for number, flow in enumerate(shown):
        cc = flow.cc.written
        style = PlotStyle(PALETTE[number], "o", "-") if alike and not several else style_of(cc)
        name = label(cc) if len(shown) == 1 else f"{flow.name}: {label(cc)}"
        curves.append((result, flow, name, style))
    return curves


def panel_of(result: Result, span_s: Span | None = None, named: str | None = None) -> panel.Panel:
    """Returns the panel's data, with the queue of the named link or of the busiest one."""
    scenario = result.scenario
    link, side = _shown_link(result, named)
    flows = [(f.name, f.cc.written) for f in scenario.flows if f.cc.name != UDP and not f.arrivals]
    shown = pl.col("flow").is_in([name for name, _ in flows[: panel.MOST_FLOWS]])
    packets = link.queue.limit.count if link.queue.limit.unit == "p" else None
    whole_s = (0.0, scenario.duration / PS_PER_S)
    raw = result.raw
    trace = traces.seen(traces.windows(scenario, raw), shown, span_s or whole_s)
    if span_s is None and (span := sawteeth([trace], whole_s)) != whole_s:
        return panel_of(result, span, named)  # selects all rows of that span
    shown_s = span_s or whole_s
    return panel.Panel(
        title=_title(result, link) + span_text(shown_s, whole_s),
        flows=flows,
        trace=trace,
        queue=_queue(result, link, side, shown_s),
        drops=pl.concat(frame.filter(_is_at(link, side)) for frame in traces.drops(scenario, raw)),
        link=link.name,
        capacity=_capacity(result, link, side),
        queue_limit=packets,
        span_s=shown_s,
        decides=_decides(link, side),
    )


def _title(result: Result, link: Link) -> str:
    scenario = result.scenario
    return f"{scenario.name}: {summarise(scenario, link=link)}, seed {result.seed}"


def _shown_link(result: Result, named: str | None) -> tuple[Link, Direction]:
    """Returns the named link or the busiest one, and its busier direction."""
    links = result.links if named is None else result.links.filter(link=named)
    busiest = links.sort("utilisation", descending=True, maintain_order=True).row(0, named=True)
    link = next(link_ for link_ in result.scenario.link if link_.name == busiest["link"])
    return link, busiest["direction"]


def _decides(link: Link, side: Direction) -> str:
    """Returns what drops or marks packets before the queue is full."""
    policer: Any = getattr(link, "policer", None)
    names = [QUEUES[link.queue.kind].title] if link.queue.kind in QUEUES else []
    if policer is not None and policer.on in (side, "both"):
        names.append("the policer")
    return " or ".join(names) or "the queue"


def _is_at(link: Link, side: Direction) -> pl.Expr:
    return (pl.col("link") == link.name) & (pl.col("direction") == side)


def _queue(result: Result, link: Link, side: Direction, span_s: Span) -> pl.DataFrame:
    return traces.seen(queues.lengths(result.scenario, result.raw), _is_at(link, side), span_s)


def _capacity(result: Result, link: Link, side: Direction) -> pl.DataFrame:
    """Returns the link's capacity over time in payload of the first flow."""
    scenario = result.scenario
    length_s = scenario.duration / PS_PER_S
    flow = scenario.flows[0]
    share = flow.mss / (flow.packet + link.overhead)
    times = link.opportunities(side)
    if not times:
        rate = share * link.mean_rate_bps(side)
        return pl.DataFrame({"time_s": [0.0, length_s], "bps": [rate, rate]})
    return traces.offered_rate(times, length_s, _CAPACITY_STEP_S).with_columns(
        pl.col("bps") * share
    )
