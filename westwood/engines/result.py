# SPDX-License-Identifier: BSD-3-Clause
"""Defines `Result`, a run of any engine.

Length: the docstrings are the reference of the public class.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from westwood.control.arguments import (
    check_fields,
    checked,
    has,
    instance,
    number,
    optional,
    path,
    text,
    whole,
)
from westwood.control.catalogue import label
from westwood.errors import InputError
from westwood.results.columns import Row
from westwood.results.rows import rows_frame
from westwood.results.tables import html_table
from westwood.scenario import Scenario
from westwood.scenario.topology import check_link
from westwood.units import PS_PER_S, format_time

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

    from westwood.results.raw import RawResult

_MOST_IN_REPR = 8  # flows
_FIELDS = {
    "scenario": instance(Scenario),
    "seed": whole(0, 2**64 - 1),
    "flow_rows": instance(Sequence),
    "raw": has("connections", "forward", "backward"),
}


@dataclass(frozen=True, repr=False)
class Result:
    """Holds one run, as `simulate` returns it: what became of each flow, and what was recorded.

    A frame of what was not recorded is empty. Times are seconds of simulated time.

    Parameters
    ----------
    scenario : Scenario
        What was run.
    seed : int
        The seed of the run.
    flow_rows : list of dict
        The rows of `rows`, as dicts.
    raw : RawResult
        What the engine measured and recorded; the properties make frames of it.

    Attributes
    ----------
    scenario : Scenario
        What was run.
    seed : int
        The seed of the run.
    flow_rows : list of dict
        The rows of `rows`, as dicts.
    raw : RawResult
        What the engine measured and recorded.

    Raises
    ------
    InputError
        If an argument has another type.

    Examples
    --------
    >>> from westwood import simulate
    >>> result = simulate("sawtooth", trace=True)
    >>> result
    <Result of sawtooth, 15s, seed 1: tcp (westwood+) 7.986 Mb/s>
    >>> result.scenario.name, result.seed
    ('sawtooth', 1)
    """

    scenario: Scenario
    seed: int
    flow_rows: Sequence[Row]
    raw: RawResult = field(repr=False)

    def __post_init__(self) -> None:
        check_fields(self, **_FIELDS)

    @property
    def rows(self) -> pl.DataFrame:
        """One row per flow: goodput, losses, round trips and more.

        Returns
        -------
        polars.DataFrame
            `goodput_bps` and `throughput_bps` (Float64, bit/s); `sent`, `retransmitted`,
            `timeouts`, `queue_drops` and `lost` (Int64, counts); `mean_cwnd` (Float64, segments);
            `mean_srtt_s` (Float64, s); and all others that docs/traces.md lists with their units.

        Examples
        --------
        >>> from westwood import simulate
        >>> simulate("sawtooth").rows.select("flow", "cc", "seed", "timeouts", "lost")
        shape: (1, 5)
        ┌──────┬───────────┬──────┬──────────┬──────┐
        │ flow ┆ cc        ┆ seed ┆ timeouts ┆ lost │
        │ ---  ┆ ---       ┆ ---  ┆ ---      ┆ ---  │
        │ str  ┆ str       ┆ i64  ┆ i64      ┆ i64  │
        ╞══════╪═══════════╪══════╪══════════╪══════╡
        │ tcp  ┆ westwood+ ┆ 1    ┆ 0        ┆ 8    │
        └──────┴───────────┴──────┴──────────┴──────┘
        """
        return rows_frame(self.flow_rows)

    @property
    def trace(self) -> pl.DataFrame:
        """One row per change of a sender's windows, estimate, timer or round trip.

        Returns
        -------
        polars.DataFrame
            `flow` (String), `transfer` (UInt32, from 1), `time_s` (Float64, s); `cwnd`, `ssthresh`
            and `in_flight` (Float64, segments); `estimate_bps` and `sample_bps` (Float64, bit/s);
            `rtt_s`, `srtt_s` and `rto_s` (Float64, s); `state` (Enum: open, disorder, recovery,
            loss). What is not known yet is NaN. Empty without `simulate(..., trace=True)`. With BBR
            also `pacing_bps` (Float64, bit/s), `mode` (Enum) and what docs/traces.md lists.

        Raises
        ------
        UnavailableError
            If numpy, of the extra `plot`, is not installed.

        Examples
        --------
        >>> from westwood import simulate
        >>> trace = simulate("sawtooth", trace=True).trace
        >>> trace.select("time_s", "cwnd", "rtt_s", "state").tail(2)
        shape: (2, 4)
        ┌───────────┬──────┬────────┬───────┐
        │ time_s    ┆ cwnd ┆ rtt_s  ┆ state │
        │ ---       ┆ ---  ┆ ---    ┆ ---   │
        │ f64       ┆ f64  ┆ f64    ┆ enum  │
        ╞═══════════╪══════╪════════╪═══════╡
        │ 14.979261 ┆ 90.0 ┆ 0.1056 ┆ open  │
        │ 14.996061 ┆ 91.0 ┆ 0.108  ┆ open  │
        └───────────┴──────┴────────┴───────┘
        """
        from westwood.results import traces

        return _concatenated(traces.windows(self.scenario, self.raw))

    @checked(every_s=number(0, above=True))
    def sampled(self, every_s: float) -> pl.DataFrame:
        """Returns the trace on a regular grid of times: the values in force at each time.

        Parameters
        ----------
        every_s : float
            Step of the grid, in seconds; more than 0.

        Returns
        -------
        polars.DataFrame
            The columns of `trace`; one row per flow and time 0, `every_s`, 2 `every_s`..., from
            the first record of the flow on.

        Raises
        ------
        InputError
            If the step is wrong, or so small that there would be too many rows.

        Examples
        --------
        >>> from westwood import simulate
        >>> result = simulate("sawtooth", trace=True)
        >>> result.sampled(5)["time_s"].to_list()
        [5.0, 10.0, 15.0]
        """
        from westwood.results import traces

        frames = traces.windows(self.scenario, self.raw)
        return _concatenated(traces.sampled(frames, every_s, self.scenario.duration / PS_PER_S))

    @property
    def events(self) -> pl.DataFrame:
        """One row per segment sent, ACK received and decision of a sender.

        Returns
        -------
        polars.DataFrame
            `flow` (String), `transfer` (UInt32, from 1), `time_s` (Float64, s), `kind` (Enum:
            send, ack, recovery, timeout...), `segment` (Int64), `cwnd` and `ssthresh` (UInt32,
            segments) after it. Empty without `simulate(..., events=True)`.

        Raises
        ------
        UnavailableError
            If numpy, of the extra `plot`, is not installed.

        Examples
        --------
        >>> from westwood import simulate
        >>> events = simulate("sawtooth", events=True).events
        >>> events.filter(kind="recovery").select("time_s", "cwnd", "ssthresh").head(2)
        shape: (2, 3)
        ┌───────────┬──────┬──────────┐
        │ time_s    ┆ cwnd ┆ ssthresh │
        │ ---       ┆ ---  ┆ ---      │
        │ f64       ┆ u32  ┆ u32      │
        ╞═══════════╪══════╪══════════╡
        │ 2.784016  ┆ 61   ┆ 52       │
        │ 4.8292672 ┆ 69   ┆ 62       │
        └───────────┴──────┴──────────┘
        """
        from westwood.results import traces

        return _concatenated(traces.events(self.scenario, self.raw))

    @property
    def queues(self) -> pl.DataFrame:
        """One row per change of the length of a link's queue.

        Returns
        -------
        polars.DataFrame
            `link` and `direction` (String), `time_s` (Float64, s), `packets` and `bytes` (Int64)
            that wait from then on. Empty without `simulate(..., queues=True)`.

        Raises
        ------
        UnavailableError
            If numpy, of the extra `plot`, is not installed.

        Examples
        --------
        >>> from westwood import simulate
        >>> simulate("sawtooth", queues=True).queues["packets"].max()
        21
        """
        from westwood import extras

        extras.need("numpy", "Result.queues")
        from westwood.results import queues

        return _concatenated(queues.lengths(self.scenario, self.raw))

    @property
    def queue_states(self) -> pl.DataFrame:
        """One row per change of a column of a queue discipline, such as CoDel's count.

        `westwood list queue-columns` describes the columns. Other engines than the simulator have
        no rows.

        Returns
        -------
        polars.DataFrame
            `link` and `direction` (String), `time_s` (Float64, s), `column` (String), and its
            `value` (Float64) from then on. Empty without `simulate(..., queues=True)`.

        Raises
        ------
        UnavailableError
            If numpy, of the extra `plot`, is not installed.

        Examples
        --------
        >>> from westwood import Scenario, simulate
        >>> codel = {"path.queue": {"kind": "codel", "limit": "100p"}}
        >>> result = simulate(Scenario.preset("path").with_settings(codel), queues=True)
        >>> result.queue_states["column"].unique().to_list()
        ['count']
        """
        from westwood.results import traces

        return _concatenated(traces.queue_states(self.scenario, self.raw))

    @property
    def drops(self) -> pl.DataFrame:
        """One row per packet that a queue dropped or marked, or that a wire lost.

        Returns
        -------
        polars.DataFrame
            `time_s` (Float64, s), `link`, `direction` and `flow` (String), `transfer` (UInt32, from
            1), `packet` (String: data, ack or syn), `kind` (Enum: queue, early, wire, mark). Empty
            without `simulate(..., queues=True)`.

        Raises
        ------
        UnavailableError
            If numpy, of the extra `plot`, is not installed.

        Examples
        --------
        >>> from westwood import simulate
        >>> drops = simulate("sawtooth", queues=True).drops
        >>> drops.select("link", "packet", "kind").head(1)
        shape: (1, 3)
        ┌──────┬────────┬──────┐
        │ link ┆ packet ┆ kind │
        │ ---  ┆ ---    ┆ ---  │
        │ str  ┆ str    ┆ enum │
        ╞══════╪════════╪══════╡
        │ path ┆ data   ┆ wire │
        └──────┴────────┴──────┘
        """
        from westwood.results import traces

        return _concatenated(traces.drops(self.scenario, self.raw))

    @property
    def links(self) -> pl.DataFrame:
        """One row per link and direction: what crossed it, and what its queue did.

        Returns
        -------
        polars.DataFrame
            `link` and `direction` (String); `packets`, `bytes`, `queue_drops`, `early_drops`,
            `marked`, `lost` and `in_flight` (Int64); `utilisation` (Float64, 0 to 1); `mean_wait_s`
            and `longest_wait_s` (Float64, s); `mean_queue` (Float64, packets). Never empty.

        Examples
        --------
        >>> from westwood import simulate
        >>> simulate("sawtooth").links.select("link", "direction", "queue_drops")
        shape: (2, 3)
        ┌──────┬───────────┬─────────────┐
        │ link ┆ direction ┆ queue_drops │
        │ ---  ┆ ---       ┆ ---         │
        │ str  ┆ str       ┆ i64         │
        ╞══════╪═══════════╪═════════════╡
        │ path ┆ forward   ┆ 0           │
        │ path ┆ backward  ┆ 0           │
        └──────┴───────────┴─────────────┘
        """
        from westwood.results import traces

        return traces.links(self.scenario, self.raw)

    @property
    def transfers(self) -> pl.DataFrame:
        """One row per connection; a flow with arrivals has several.

        Returns
        -------
        polars.DataFrame
            `flow` (String), `transfer` (UInt32, from 1), `start_s`, `completed_s` and
            `completion_s` (Float64, s; NaN until all data were acknowledged), and counts as in
            `rows`. Never empty.

        Examples
        --------
        >>> from westwood import Scenario, simulate
        >>> one = Scenario.preset("path").with_settings({"tcp.size": "100kB"})
        >>> simulate(one).transfers.select("flow", "delivered_bytes", "completion_s")
        shape: (1, 3)
        ┌──────┬─────────────────┬──────────────┐
        │ flow ┆ delivered_bytes ┆ completion_s │
        │ ---  ┆ ---             ┆ ---          │
        │ str  ┆ i64             ┆ f64          │
        ╞══════╪═════════════════╪══════════════╡
        │ tcp  ┆ 100000          ┆ 0.6376       │
        └──────┴─────────────────┴──────────────┘
        """
        from westwood.results import traces

        return _concatenated(traces.transfers(self.scenario, self.raw))

    @property
    def messages(self) -> pl.DataFrame:
        """One row per response or chunk of video that an `app` asked for.

        Returns
        -------
        polars.DataFrame
            `flow` (String), `transfer` (UInt32, from 1), `number` (Int64, from 1), `bytes`
            (Int64), `start_s`, `completed_s` and `completion_s` (Float64, s; NaN until all of it
            was acknowledged). Empty without such an `app`.

        Examples
        --------
        >>> from westwood import Scenario, simulate
        >>> app = {"kind": "request", "size": "100kB", "think": "20s"}
        >>> one = Scenario.preset("path").with_settings({"tcp.app": app, "duration": "30s"})
        >>> simulate(one).messages.select("number", "bytes")
        shape: (2, 2)
        ┌────────┬────────┐
        │ number ┆ bytes  │
        │ ---    ┆ ---    │
        │ i64    ┆ i64    │
        ╞════════╪════════╡
        │ 1      ┆ 101360 │
        │ 2      ┆ 101360 │
        └────────┴────────┘
        """
        from westwood.results import traces

        return traces.messages(self.scenario, self.raw)

    @checked(
        view=text,
        start_s=optional(number(0)),
        end_s=optional(number(0, above=True)),
        link=optional(text),
    )
    def plot(
        self,
        view: str = "windows",
        *,
        start_s: float | None = None,
        end_s: float | None = None,
        link: str | None = None,
    ) -> Figure:
        """Draws the run over time; a notebook shows the figure.

        Parameters
        ----------
        view : str, default "windows"
            What is drawn, as `westwood trace --help` lists it for `--view`.
        start_s : float, optional
            Start of the time axis in seconds; 0 for the whole run. If neither end is given, a part
            of a long run is drawn in which single sawteeth can be seen.
        end_s : float, optional
            End of the time axis, in seconds.
        link : str, optional
            Name of the link whose queue the view "windows" shows, by default the busiest one.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; its `savefig("a.pdf")` writes a file.

        Raises
        ------
        InputError
            If an argument is wrong, or if the run has not recorded what the view needs:
            `simulate(..., events=True)` or `trace=True`.
        UnavailableError
            If the extra `plot` is not installed.

        Examples
        --------
        >>> from westwood import simulate
        >>> figure = simulate("sawtooth", trace=True, queues=True).plot(start_s=0)
        >>> len(figure.axes)
        4
        """
        from westwood import extras

        extras.need("matplotlib", "Result.plot()")
        from westwood.draw.views import VIEWS, check_view
        from westwood.engines import run_figures

        check_view(view)
        if link is not None:
            check_link(self.scenario.link, link)
            if not VIEWS[view].shows_links:
                problem = f'expected none, since the view "{view}" shows no link'
                raise InputError(problem, key="link", value=link)
        needed = VIEWS[view].needs
        was_open = any(time_s == time_s for time_s in self.raw.connections["established_s"])
        if was_open and not self.raw.records.count(needed):
            option = "events" if needed == "events" else "trace"
            problem = f"was not recorded, expected simulate(..., {option}=True)"
            raise InputError(problem, key="view", value=view)
        span_s = None
        if start_s is not None or end_s is not None:
            whole_s = self.scenario.duration / PS_PER_S
            span_s = (start_s or 0.0, whole_s if end_s is None else min(end_s, whole_s))
            if span_s[0] >= span_s[1]:
                problem = f"expected a start before the end, {span_s[1]:g}"
                raise InputError(problem, key="start_s", value=start_s)
        return run_figures.draw([self], view, span_s, link)

    @checked(path=path)
    def write_pcap(self, path: str | os.PathLike[str]) -> int:
        """Writes the captured packets to a file that tcpdump and Wireshark read.

        Parameters
        ----------
        path : str or path
            The file; an existing one is replaced.

        Returns
        -------
        int
            The number of packets.

        Raises
        ------
        InputError
            If no packets were captured, or if a flow has a header that IPv4 and TCP cannot have.
        OSError
            If the file cannot be written.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from westwood import Scenario, simulate
        >>> one = Scenario.preset("path").with_settings({"tcp.size": "100kB"})
        >>> with TemporaryDirectory() as folder:
        ...     simulate(one, capture="path").write_pcap(Path(folder) / "one.pcap")
        108
        """
        if not self.raw.records.count("captured"):
            raise InputError("no packet was captured, expected simulate(..., capture=LINK)")
        from westwood.results import pcap

        return pcap.write(self, Path(path))

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


def _concatenated(frames: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Concatenates frames."""
    import polars as pl

    return pl.concat(frames)
