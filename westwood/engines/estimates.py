# SPDX-License-Identifier: BSD-3-Clause
"""Joins our controls' recorded bandwidth estimates with traces from TCP_INFO.

`westwood.kernel.recording` records them during a traced run. If it can't (no control is loaded,
another recorder runs, or permission is missing), the trace has no estimates.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress

import polars as pl

from westwood.errors import RunError, UnavailableError
from westwood.kernel import ww_kernel
from westwood.kernel.recording import Recording, recording

_COLUMNS = ("estimate_bps", "sample_bps")


@contextmanager
def recording_of(
    controls: Collection[str], port: int, *, any_control: bool = False
) -> Iterator[Recording]:
    """Records connections to `port` while the block runs, if one of the controls is ours.

    any_control: also records the kernel's own controls, by tracepoints.
    """
    ours = [control for control in controls if control.startswith(ww_kernel.PREFIX)]
    chosen = controls if any_control else ours
    with ExitStack() as stack:
        rebuilt = Recording()
        if chosen:
            with suppress(RunError, UnavailableError):
                rebuilt = stack.enter_context(recording(port, tuple(chosen)))
        yield rebuilt


def of_connection(recording: Recording, ends: str, established_s: float) -> pl.DataFrame:
    """Returns the recorded rows of a connection; `ends` is ADDRESS:PORT>ADDRESS:PORT.

    The recording's clock is aligned at the moment when the connection was established.
    """
    seen = recording.trace
    if seen.is_empty():
        return seen
    # A recording of several namespaces appends @ and the namespace.
    rows = seen.filter(pl.col("flow").str.contains(f"^{re.escape(ends)}(@[0-9]+)?$"))
    rows = rows.sort("time_s", maintain_order=True)
    starts = rows.filter(event="start")
    if starts.is_empty():
        return starts
    return rows.with_columns(pl.col("time_s") - starts["time_s"][-1] + established_s)


def with_estimates(
    trace: pl.DataFrame, recording: Recording, ends: str, established_s: float
) -> pl.DataFrame:
    """Returns the trace of the connection `ends` with the recorded estimates."""
    connection_rows = of_connection(recording, ends, established_s)
    if connection_rows.is_empty() or trace.is_empty():
        return trace
    known = connection_rows.filter(pl.col("estimate_bps").is_not_nan())
    joined = trace.drop(_COLUMNS).join_asof(known.select("time_s", *_COLUMNS), on="time_s")
    return joined.with_columns(pl.col(_COLUMNS).fill_null(math.nan)).select(trace.columns)
