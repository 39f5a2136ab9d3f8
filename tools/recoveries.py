# SPDX-License-Identifier: BSD-3-Clause
"""Looks for recoveries that last too long: python -m tools.recoveries [--paths N] [--cc NAME,...].

--links looks at other links than drop-tail: queue disciplines, a policer, thinned and bunched ACKs,
changing delays, a slow way back.

Each control with SACK runs over the same random paths. In full round trips, which include a full
queue, no recovery may last longer than RECOVERY_MOST, and no repair may hold up in-order delivery
for longer than PAUSE_MOST, unless a timeout ends it or `reason` explains it. The exit code is 1 if
there is one.

The paths have no jitter. On 1728 further runs with jitter, three recoveries of Westwood-CUBIC and
westwood-ns3 and four pauses of westwood-ns3 were too long (up to nine round trips). There the
queue held ten packets, and a control that keeps its window sent more repairs than that at once.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from westwood import Scenario, simulate
from westwood.control.catalogue import PROTOCOLS, RECOVERIES

RECOVERY_MOST, PAUSE_MOST = 6, 3  # full round trips
DURATION_S = 20
STARTUP_MOST = 12  # full round trips, BBRv1's STARTUP with its last recovery
PACKET_BITS, ACK_BITS = 12_000, 800  # an ACK with SACK blocks
SHALLOWEST = 3  # packets of queue


@dataclass(frozen=True)
class Path:
    """One link, by default with a drop-tail queue; a quarter of the paths reorder."""

    number: int
    rate_bps: float
    delay_s: float
    queue: int
    loss: float
    reordering: float
    link: str = "droptail"

    @property
    def bdp(self) -> float:
        return self.rate_bps * 2 * self.delay_s / PACKET_BITS

    @property
    def hold_s(self) -> float:
        """How long a reordered packet is held back: a quarter of the shortest round trip."""
        return self.delay_s / 2 if self.reordering else 0

    @property
    def full_s(self) -> float:
        """A round trip through a full queue and the transmitter, with the link's further delay."""
        queued_s = (self.queue + 2) * PACKET_BITS / self.rate_bps
        return 2 * self.delay_s + self.hold_s + queued_s + LINKS[self.link].more_s(self)

    def scenario(self, cc: str) -> Scenario:
        settings = {
            "duration": f"{DURATION_S}s",
            "path.rate": f"{self.rate_bps / 1e6:.4f}Mbps",
            "path.delay": f"{self.delay_s * 1e3:.3f}ms",
            "path.queue.limit": f"{self.queue}p",
            "path.loss.rate": self.loss,
            "tcp.cc": cc,
        }
        if self.reordering:
            held = f"{self.hold_s * 1e3:.3f}ms"
            settings["path.reorder"] = {"rate": self.reordering, "delay": held}
        settings |= LINKS[self.link].settings(self)
        return Scenario.preset("path").with_settings(settings)


@dataclass(frozen=True)
class Link:
    """A kind of link: its settings, and the delay that it adds to a full round trip at most."""

    settings: Callable[[Path], Mapping[str, object]]
    more_s: Callable[[Path], float] = lambda path: 0.0


def _queue(kind: str, **settings: object) -> Link:
    def limited(path: Path) -> Mapping[str, object]:
        return {"path.queue": {"kind": kind, "limit": f"{path.queue}p", **settings}}

    return Link(limited)


def _ms(seconds: float) -> str:
    return f"{seconds * 1e3:.3f}ms"


LINKS = {
    "droptail": Link(lambda path: {}),
    **{kind: _queue(kind) for kind in ("codel", "fq_codel", "pie", "fq_pie", "cake", "dualpi2")},
    "red": _queue("red", min=5, max=15),
    "policer": Link(
        lambda path: {
            "path.policer": {
                "rate": f"{0.8 * path.rate_bps / 1e6:.4f}Mbps",
                "burst": f"{path.queue * PACKET_BITS // 8}B",
            }
        }
    ),
    "ack_filter": Link(
        lambda path: {"path.ack_filter": {"batch": "4ms", "on": "backward"}}, lambda path: 0.004
    ),
    "aggregation": Link(
        lambda path: {"path.aggregation": {"time": "10ms", "on": "backward"}}, lambda path: 0.01
    ),
    "reroute": Link(
        lambda path: {
            "path.reroute": {
                "at": ["5s", "12s"],
                "delay": [_ms(1.5 * path.delay_s), _ms(path.delay_s)],
            }
        },
        lambda path: path.delay_s,
    ),
    "slow way back": Link(
        lambda path: {"path.backward_rate": f"{path.rate_bps / 20 / 1e6:.4f}Mbps"},
        lambda path: path.queue * ACK_BITS * 20 / path.rate_bps,
    ),
}


@dataclass(frozen=True)
class Spell:
    """A recovery, or a pause of in-order delivery."""

    kind: str
    start_s: float
    round_trips: float
    repairs: int  # segments sent again in it
    window: int  # segments: ssthresh when it began

    @property
    def is_long(self) -> bool:
        return self.round_trips > (RECOVERY_MOST if self.kind == "recovery" else PAUSE_MOST)


def paths(count: int, seed: int = 1) -> Iterator[Path]:
    """Draws paths from 0.5 to 50 Mb/s and 5 to 126 ms one way, half of them without random loss."""
    for number in range(count):
        choices = random.Random(f"recoveries {seed} {number}")
        rate_bps, delay_s = 10 ** choices.uniform(5.7, 7.7), 10 ** choices.uniform(-2.3, -0.9)
        bdp = rate_bps * 2 * delay_s / PACKET_BITS
        queue = max(SHALLOWEST, round(bdp * 10 ** choices.uniform(-1, 0.5)))
        loss = choices.choice((0, 10 ** choices.uniform(-4, -2)))
        reordering = choices.choice((0, 0, 0, 10 ** choices.uniform(-3, -2)))
        yield Path(number, rate_bps, delay_s, queue, loss, reordering)


def other_paths(count: int) -> Iterator[Path]:
    """Draws paths over each kind of link but drop-tail in turn."""
    others = itertools.cycle(kind for kind in LINKS if kind != "droptail")
    for path, link in zip(paths(count, seed=2), others, strict=False):
        yield replace(path, link=link)


def controls() -> list[str]:
    """Returns the protocols whose recovery in the default profile uses SACK."""
    flows = {cc: Scenario.preset("path").with_settings({"tcp.cc": cc}).flows[0] for cc in PROTOCOLS}
    return [cc for cc, flow in flows.items() if RECOVERIES[flow.recovery].uses_sack]


def spells(events: Iterable[tuple[float, str, int, int]], full_s: float) -> Iterator[Spell]:
    """Yields recoveries and pauses from (time_s, kind, segment, ssthresh).

    A recovery lasts until its end or until the window is reduced again. A pause lasts between two
    ACKs of new data, the first hole being repaired. Neither counts if a timeout ends it.
    """
    recovery: tuple[float, int, int] | None = None  # start, window, repairs before it
    advanced: tuple[float, int, int] | None = None
    una, repairs, is_repaired = 0, 0, False
    for time_s, kind, segment, ssthresh in events:
        if kind == "retransmit":
            repairs += 1
            is_repaired |= segment == una
        if kind in ("recovery", "exit", "timeout"):
            if recovery is not None and kind != "timeout":
                start_s, window, before = recovery
                yield Spell(
                    "recovery", start_s, (time_s - start_s) / full_s, repairs - before, window
                )
            recovery = (time_s, ssthresh, repairs) if kind == "recovery" else None
        if kind == "timeout":
            advanced = None
        if kind == "ack":
            if advanced is not None and is_repaired:
                start_s, window, before = advanced
                yield Spell("pause", start_s, (time_s - start_s) / full_s, repairs - before, window)
            una, is_repaired, advanced = segment, False, (time_s, ssthresh, repairs)


def reason(spell: Spell, path: Path, cc: str) -> str:
    """Returns why a spell is long, or nothing.

    The STARTUP of BBRv1 and BBRv3 sends 2.77 to 2.89 times what the path delivers until three
    rounds bring no more (draft-cardwell-iccrg-bbr-congestion-control-00, 4.3.2). Later, too, losses
    do not lower BBRv1's rate, and only two BDPs in whole packets limit it, so a queue up to one BDP
    stays full. BBRv3 answers losses of more than 2 % (draft-ietf-ccwg-bbr: BBR.LossThresh), so
    a repair may be lost in a short queue that it has filled, and be due a round trip later again.
    Westwood's estimate is low at first, and a window of two segments repairs one or two a round
    trip. On a path that reorders, RACK waits a quarter of a round trip for each loss (RFC 8985,
    6.2, step 4).
    """
    if cc in ("bbr", "bbr3") and spell.start_s < STARTUP_MOST * path.full_s:
        return "STARTUP"
    if cc == "bbr3" and path.queue < path.bdp and spell.round_trips < PAUSE_MOST + 1:
        return "BBRv3 answers few losses"
    if cc == "bbr" and path.queue < path.bdp + 1:
        return "BBRv1 answers no losses"
    if spell.kind == "recovery" and spell.round_trips < 2 + 2 * spell.repairs / spell.window:
        return "its window"
    if path.reordering and spell.kind == "pause" and spell.round_trips < PAUSE_MOST + 0.5:
        return "the reordering window"
    return ""


def long_spells(path: Path, cc: str) -> list[tuple[Spell, str]]:
    """Runs a control over a path; returns the long spells with their reasons."""
    events = simulate(path.scenario(cc), path.number + 1, events=True).events
    rows = events.select("time_s", "kind", "segment", "ssthresh").iter_rows()
    return [
        (spell, reason(spell, path, cc)) for spell in spells(rows, path.full_s) if spell.is_long
    ]


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--paths", type=int, default=500)
    parser.add_argument("--cc", default=",".join(controls()))
    parser.add_argument("--links", action="store_true")
    given = parser.parse_args(arguments)
    unexplained = 0
    for path in (other_paths if given.links else paths)(given.paths):
        for cc in given.cc.split(","):
            for spell, why in long_spells(path, cc):
                unexplained += not why
                text = (
                    f"{spell.kind} of {spell.round_trips:.1f} round trips at {spell.start_s:.2f} s"
                )
                print(f"{path.number} {path.link}, {cc}: {text}: {why or 'NO REASON'}")
    print(f"{unexplained} without a reason, over {given.paths} paths")
    return int(unexplained > 0)


if __name__ == "__main__":
    sys.exit(main())
