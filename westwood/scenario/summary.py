# SPDX-License-Identifier: BSD-3-Clause
"""Summarises a scenario in a line for titles and in tables for notebooks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from westwood import markup
from westwood.control.catalogue import LOSSES, QUEUES, SCRIPT, label
from westwood.scenario import topology
from westwood.units import PS_PER_S, format_time

if TYPE_CHECKING:
    from westwood.scenario.links import Link
    from westwood.scenario.scenario import Scenario

_MOST_IN_HTML = 50  # links, flows
_RATES = ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s"))


def summarise(scenario: Scenario, varied: Iterable[str] = (), link: Link | None = None) -> str:
    """Returns "2 Mb/s, 45 ms one way, no loss, queue 100 packets" without what varies.

    That is of the link, by default the slowest one. It is named if another could be meant.
    """
    slowest = min(scenario._parts.link, key=lambda candidate: candidate.mean_rate_bps("forward"))
    link = link or slowest
    routes = topology.routes(scenario._parts.link, scenario._parts.flow).values()
    is_path = all(len(route) == len(scenario._parts.link) for route in routes)
    varied = list(varied)
    relative = scenario.relative_limits if varied else {}  # packets may vary with them
    varies = {key.split(".")[1] for key in varied if key.startswith(f"{link.name}.")}
    parts = {
        "rate": _rate(link),
        "delay": _delay(scenario._parts.link if is_path else (link,)),
        "loss": _loss(link),
        "queue": _queue(link, relative.get(link.name, "")),
    }
    text = ", ".join(text for key, text in parts.items() if text and key not in varies)
    text = "links by name" if "kind" in varies else text  # from which all of it follows
    return text if is_path and link.name == slowest.name else f"{text} (link {link.name})".lstrip()


def _rate(link: Link) -> str:
    about = "about " if link.opportunities("forward") else ""
    back = "" if link.backward_rate is None else f", {_rate_text(link.backward_rate)} backward"
    return f"{about}{_rate_text(link.mean_rate_bps('forward'))}{back}"


def _rate_text(bps: float) -> str:
    factor, unit = next((rate for rate in _RATES if bps >= rate[0]), _RATES[-1])
    return f"{bps / factor:.3g} {unit}"


def _delay(links: Iterable[Link]) -> str:
    milliseconds = 1000 * sum(link.delay for link in links) / PS_PER_S
    return f"{milliseconds:.3g} ms one way"


def _loss(link: Link) -> str:
    loss: Any = link.loss
    if loss.kind == SCRIPT:
        return "scripted losses"
    if loss.kind not in LOSSES:
        return "no loss"
    title = LOSSES[loss.kind].title
    if loss.kind == "uniform":
        return f"{title} {100 * loss.rate:.3g} %"
    return f"{title} {loss.rate:.3g}" if loss.kind == "bits" else title


def _queue(link: Link, relative: str = "") -> str:
    limit = link.queue.limit
    packets = str(limit)
    if limit.unit == "p" and limit.count:
        packets = f"{limit.count} packet{'s' if limit.count > 1 else ''}"
    size = relative or packets
    kind = link.queue.kind
    return f"{f'{QUEUES[kind].title} ' if kind in QUEUES else ''}queue {size}"


def html(scenario: Scenario) -> str:
    """Writes HTML tables of the links, the flows and the sweep."""
    caption = (
        f"{scenario.name}: {format_time(scenario.duration)}, {scenario.seeds} seeds, "
        f"profile {scenario.profile}"
    )
    links = [
        (
            link.name,
            " - ".join(link.between),
            _rate(link),
            format_time(link.delay),
            _queue(link),
            _loss(link),
        )
        for link in scenario.link[:_MOST_IN_HTML]
    ]
    flows = [
        (flow.name, f"{flow.from_} to {flow.to}", label(flow.cc.written), format_time(flow.start))
        for flow in scenario.flow[:_MOST_IN_HTML]
    ]
    swept = [(key, ", ".join(map(str, values))) for key, values in scenario.sweep.items()]
    tables = [
        markup.table(("link", "between", "rate", "delay one way", "queue", "loss"), links, caption),
        markup.table(("flow", "from, to", "protocol", "start"), flows),
    ]
    return "".join([*tables, markup.table(("swept", "values"), swept)] if swept else tables)
