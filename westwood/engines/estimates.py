# SPDX-License-Identifier: BSD-3-Clause
"""Joins the bandwidth estimates of our controls in the kernel with what TCP_INFO tells.

`westwood.kernel.recording` records them while a run is traced; where it can't (nothing is loaded,
somebody else records, no rights) a trace has no estimate.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, suppress

import polars as pl

from westwood.errors import RunError, UnavailableError
from westwood.kernel import ww_kernel
from westwood.kernel.recording import Recording, recording

_COLUMNS = ("estimate_bps", "sample_bps")


@contextmanager
def recording_of(controls: Iterable[str], port: int) -> Iterator[Recording]:
    """Records connections to `port` while the block runs, if one of the controls is ours."""
    with ExitStack() as stack:
        made = Recording()
        if any(control in ww_kernel.CONTROLS for control in controls):
            with suppress(RunError, UnavailableError):
                made = stack.enter_context(recording(port))
        yield made


def beside(
    trace: pl.DataFrame, recording: Recording, ends: str, established_s: float
) -> pl.DataFrame:
    """Adds its estimates to the trace of the connection ADDRESS:PORT>ADDRESS:PORT, its `ends`.

    A recording has times of its own: both have the moment when the connection was established.
    """
    seen = recording.trace
    if seen.is_empty() or trace.is_empty():
        return trace
    # @ and the namespace follow where a recording is from several.
    its = seen.filter(pl.col("flow").str.contains(f"^{re.escape(ends)}(@[0-9]+)?$"))
    its = its.sort("time_s", maintain_order=True)
    starts = its.filter(event="start")
    if starts.is_empty():
        return trace
    time_s = pl.col("time_s") - starts["time_s"][-1] + established_s
    known = its.with_columns(time_s).filter(pl.col("estimate_bps").is_not_nan())
    joined = trace.drop(_COLUMNS).join_asof(known.select("time_s", *_COLUMNS), on="time_s")
    return joined.with_columns(pl.col(_COLUMNS).fill_null(math.nan)).select(trace.columns)
