# SPDX-License-Identifier: BSD-3-Clause
"""Holds one run of any engine: `Result`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from westwood.arguments import check_fields, checked, has, instance, number, optional, text, whole
from westwood.catalogue import label
from westwood.errors import InputError
from westwood.results.columns import Row
from westwood.results.rows import rows_frame
from westwood.results.shown import html_table
from westwood.scenario import Scenario
from westwood.units import PS_PER_S, format_time

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from westwood.results.raw import RawResult

_MOST_IN_REPR = 8  # flows


@dataclass(frozen=True, repr=False)
class Result:
    """Holds one run: a row a flow, and, where asked for, what happened over time.

    The frames of what was not asked for are empty. docs/traces.md lists their columns.
    """

    scenario: Scenario
    seed: int
    flow_rows: list[Row]
    raw: RawResult = field(repr=False)

    def __post_init__(self) -> None:
        check_fields(
            self,
            scenario=instance(Scenario),
            seed=whole(0, 2**64 - 1),
            flow_rows=instance(list),
            raw=has("connections", "forward", "backward"),
        )

    @property
    def rows(self) -> pl.DataFrame:
        """A row a flow; docs/cli.md lists the columns and their units."""
        return rows_frame(self.flow_rows)

    @property
    def trace(self) -> pl.DataFrame:
        """A row whenever a sender's windows, estimate, timer or RTT changed (`trace`)."""
        from westwood.results import traces

        return _one(traces.windows(self.scenario, self.raw))

    @checked(every_s=number(0, above=True))
    def sampled(self, every_s: float) -> pl.DataFrame:
        """Takes the trace at 0, `every_s`, 2 `every_s`... seconds, as it stood then."""
        from westwood.results import traces

        frames = traces.windows(self.scenario, self.raw)
        return _one(traces.sampled(frames, every_s, self.scenario.duration / PS_PER_S))

    @property
    def events(self) -> pl.DataFrame:
        """A row a segment sent, ACK and decision of a sender (`events`)."""
        from westwood.results import traces

        return _one(traces.events(self.scenario, self.raw))

    @property
    def queues(self) -> pl.DataFrame:
        """A row whenever the length of a link's queue changed (`queues`)."""
        from westwood import extras

        extras.need("numpy", "Result.queues")
        from westwood.results import queues

        return _one(queues.lengths(self.scenario, self.raw))

    @property
    def drops(self) -> pl.DataFrame:
        """A row a packet dropped by a queue, lost on a wire or marked (`queues`)."""
        from westwood.results import traces

        return _one(traces.drops(self.scenario, self.raw))

    @property
    def links(self) -> pl.DataFrame:
        """A row a direction of a link: what crossed it and what its queue did. Always there."""
        from westwood.results import traces

        return traces.links(self.scenario, self.raw)

    @property
    def transfers(self) -> pl.DataFrame:
        """A row a connection, several where a flow has arrivals. Always there."""
        from westwood.results import traces

        return _one(traces.transfers(self.scenario, self.raw))

    @checked(view=text, start_s=optional(number(0)), end_s=optional(number(0, above=True)))
    def plot(
        self, view: str = "windows", *, start_s: float | None = None, end_s: float | None = None
    ) -> Figure:
        """Draws the traced run, from `start_s` to `end_s`; a notebook shows the figure.

        `view` is "windows" (cwnd, ssthresh, estimate, round trips, the queue and its losses),
        "sequence" (segments sent and acknowledged, from `events`), "delays" (the distribution of
        the round trips) or "histogram" (the same, a panel a flow). Without times the first two
        show a part in which something is to be seen; `start_s=0` is the whole run.
        `result.plot().savefig("a.pdf")` writes it. It needs the extra `plot`.
        """
        from westwood import extras

        extras.need("matplotlib", "Result.plot()")
        from westwood.engines import pictures

        pictures.check_view(view)
        needed = "events" if view == "sequence" else "windows"
        was_open = any(time_s == time_s for time_s in self.raw.connections["established_s"])
        if was_open and not self.raw.records.count(needed):
            option = "events" if view == "sequence" else "trace"
            problem = f"was not recorded, expected simulate(..., {option}=True)"
            raise InputError(problem, key="view", value=view)
        span_s = None
        if start_s is not None or end_s is not None:
            whole_s = self.scenario.duration / PS_PER_S
            span_s = (start_s or 0.0, whole_s if end_s is None else min(end_s, whole_s))
            if span_s[0] >= span_s[1]:
                problem = f"expected a start before the end, {span_s[1]:g}"
                raise InputError(problem, key="start_s", value=start_s)
        return pictures.draw([self], view, span_s)

    def __repr__(self) -> str:
        flows = ", ".join(
            f"{row['flow']} ({row['cc']}) {float(row['goodput_bps']) / 1e6:.4g} Mb/s"
            for row in self.flow_rows[:_MOST_IN_REPR]
        )
        left = len(self.flow_rows) - _MOST_IN_REPR
        more = f", and {left} more flows" if left > 0 else ""
        return f"<Result of {self._title()}: {flows}{more}>"

    def _title(self) -> str:
        length = format_time(self.scenario.duration)
        return f"{self.scenario.name}, {length}, seed {self.seed}"

    def _repr_html_(self) -> str:
        keys = list(dict.fromkeys(row["cc"] for row in self.flow_rows))
        return html_table(self.flow_rows, self._title() + ": " + ", ".join(map(label, keys)))


def _one(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Puts frames below each other."""
    import polars as pl

    return pl.concat(frames)
