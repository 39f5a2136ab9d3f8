# SPDX-License-Identifier: BSD-3-Clause
"""Compares CUBIC of quinn, of noq, ours inside them and ours in the simulator, on 40 paths.

`python -m bench.quic` writes the tables of docs/quic.md. A path has one flow that fills it, and in
a second run transfers of 100 kB at 1 Mb/s in the mean. Speeds are in CPU time.
"""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Iterator, Sequence
from pathlib import Path

from westwood import Scenario, simulate

PAGE = Path(__file__).resolve().parent.parent / "docs" / "quic.md"
MARKER = "<!-- quic tables -->"
# Whose CUBIC: the label, the engine, and `cc`.
ALL = (
    ("quinn's", "quinn", "quinn:cubic"),
    ("noq's", "noq", "noq:cubic"),
    ("ours in quinn", "quinn", "cubic"),
    ("ours in noq", "noq", "cubic"),
    ("ours in TCP", "sim", "cubic"),
)
RATES, DELAYS = ("2Mbps", "5Mbps", "10Mbps", "20Mbps", "50Mbps"), ("10ms", "50ms")
QUEUES, LOSSES = ("0.5bdp", "2bdp"), (0.0, 0.005)
_TRANSFERS = {"every": "800ms", "size": "100kB"}
_CLOSE = 0.1


def path(rate: str, delay: str, queue: str, loss: float, cc: str, **flow: object) -> Scenario:
    """Returns a path of 20 s with one flow."""
    link = {"name": "path", "between": ["a", "b"], "rate": rate, "delay": delay}
    link |= {"queue": {"limit": queue}, "loss": {"rate": loss}}
    ends = {"name": "one", "from": "a", "to": "b", "cc": cc, **flow}
    return Scenario(name="quic", duration="20s", link=[link], flow=[ends])


def measured(engine: str, cc: str) -> Iterator[tuple[float, float, float]]:
    """Yields the goodput, the share resent and the p95 of completion for each path."""
    for place in itertools.product(RATES, DELAYS, QUEUES, LOSSES):
        (bulk,) = simulate(path(*place, cc), engine=engine).flow_rows
        (short,) = simulate(path(*place, cc, arrivals=_TRANSFERS), engine=engine).flow_rows
        yield bulk["goodput_bps"], bulk["retransmission_ratio"], short["completion_p95_s"]


def _ratios(ones: Sequence[float], others: Sequence[float]) -> str:
    """Returns the median of the ratios, how many are within 10 %, and the extremes."""
    ratios = sorted(one / other for one, other in zip(ones, others, strict=True) if other > 0)
    close = sum(abs(ratio - 1) <= _CLOSE for ratio in ratios)
    middle = statistics.median(ratios)
    return f"{middle:.2f}; {close} of {len(ratios)}; {ratios[0]:.2f} to {ratios[-1]:.2f}"


def paths_table() -> str:
    """Returns the table of the 40 paths."""
    seen = {label: list(zip(*measured(engine, cc), strict=True)) for label, engine, cc in ALL}
    goodput, _, completion = seen[ALL[-1][0]]
    lines = [
        "| CUBIC | goodput | resent, median | p95 of completion |",
        "| --- | --- | ---: | --- |",
    ]
    for label, (rates, resent, completed) in seen.items():
        share = f"{100 * statistics.median(resent):.2f} %"
        is_base = label == ALL[-1][0]
        cells = (
            ("1", share, "1")
            if is_base
            else (_ratios(rates, goodput), share, _ratios(completed, completion))
        )
        lines.append(f"| {label} | {' | '.join(cells)} |")
    return "\n".join(lines)


def speed_table() -> str:
    """Returns how much faster than real time a connection at 100 Mb/s and at 1 Gb/s runs."""
    lines = ["| `cc` | 100 Mb/s | 1 Gb/s |", "| --- | ---: | ---: |"]
    for engine, cc in (
        *(("quinn", "quinn:cubic"), ("quinn", "quinn:bbr"), ("quinn", "cubic")),
        *(("noq", "noq:cubic"), ("noq", "noq:bbr3"), ("noq", "cubic"), ("noq", "bbr3")),
    ):
        cells = []
        for rate, simulated_s in (("100Mbps", 10), ("1Gbps", 3)):
            # The window keeps slow start from losing so much that quinn's receiver gives up.
            filled = path(rate, "20ms", "1bdp", 0, cc, receive_window="8MB")
            one = filled.with_settings({"duration": f"{simulated_s}s"})
            costs = [simulate(one, engine=engine).flow_rows[0]["cpu_s"] for _ in range(3)]
            cells.append(f"{simulated_s / statistics.median(costs):.0f}")
        lines.append(f"| `{cc}`{' in ' + engine if ':' not in cc else ''} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main() -> None:
    """Writes the tables into the page."""
    tables = f"\n{paths_table()}\n\n{speed_table()}\n"
    before, rest = PAGE.read_text(encoding="utf-8").split(MARKER)
    after = rest[re.search(r"<!-- / -->", rest).start() :]  # type: ignore[union-attr]
    PAGE.write_text(before + MARKER + tables + after, encoding="utf-8")


if __name__ == "__main__":
    main()
