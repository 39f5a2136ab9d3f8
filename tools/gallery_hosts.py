# SPDX-License-Identifier: BSD-3-Clause
"""Runs the gallery in the simulator, ns-3 and this kernel.

python -m tools.pages gallery-hosts [HOST...]

HOST is linux or ns3; without one, both. docs/gallery-hosts.json keeps the goodputs, and
docs/gallery.md shows them. The simulator runs twice, with the profile of each other host, and loses
the same packets. It takes ten minutes. linux loads the controls, and unloads them at the end.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence

from tools.gallery_page import CLEAN, LOSSES
from tools.pages import DOCS, Numbers, Page, Sample, table
from westwood import Scenario, engines
from westwood.control import gallery
from westwood.draw.style import MBPS
from westwood.engines.contract import Engine, Job
from westwood.engines.listed_losses import listing
from westwood.engines.pool import run_jobs, sorted_rows
from westwood.engines.simulator import SIMULATOR
from westwood.kernel import user_controls, ww_kernel
from westwood.scenario.one_link import one_link

HOSTS = {"linux": "kernel", "ns3": "ns-3"}
NEAR = 0.07
PATHS = {"lossy": (1, 2, 3), "clean": (1,)}  # and their seeds
_TOGETHER = 6  # controls of files in the kernel, which has room for eight
_PARALLEL = 4  # paths in real time


def scenario(cc: str, path: str, profile: str) -> Scenario:
    """Returns 20 Mb/s, 60 ms, 100 packets of queue; the lossy path loses 0.1 % of the packets."""
    link = CLEAN | LOSSES if path == "lossy" else CLEAN
    flow = {"name": "tcp", "cc": cc, "packet": "1500B"}
    return one_link("gallery", "20s", link, flow, profile=profile)


def _goodputs(engine: Engine, profile: str, ccs: Sequence[str]) -> Numbers:
    """Returns the goodput of each run in Mb/s, by control and path."""
    places = [(cc, path) for cc in ccs for path in PATHS]
    jobs = [Job(scenario(cc, path, profile), PATHS[path]) for cc, path in places]
    workers = _PARALLEL if engine.real_time else 1
    rows = iter(sorted_rows(run_jobs(jobs, listing(engine).prepare, workers=workers)))
    goodputs: Numbers = {cc: {} for cc in ccs}
    for cc, path in places:
        goodputs[cc][path] = [round(next(rows)["goodput_bps"] / MBPS, 3) for _ in PATHS[path]]
    return goodputs


def _in_kernel(engine: Engine) -> Numbers:
    goodputs: Numbers = {}
    names = gallery.names()
    for start in range(0, len(names), _TOGETHER):
        some = names[start : start + _TOGETHER]
        with ww_kernel.borrowed():
            for cc in some:
                user_controls.load(cc, {})
            goodputs |= _goodputs(engine, engine.profile, some)
    return goodputs


def measured(stored: Numbers, words: Sequence[str]) -> Iterator[Numbers]:
    """Runs the controls in these hosts, or in both."""
    for host in words or HOSTS:
        engine = engines.find(host)
        if engine.real_time:
            theirs = _in_kernel(engine)
        else:
            theirs = _goodputs(engine, engine.profile, gallery.names())
        ours = _goodputs(SIMULATOR, engine.profile, gallery.names())
        stored[host] = {"simulator": ours, "host": theirs}
        yield stored


def off(stored: Numbers, host: str, cc: str, path: str) -> float:
    """Returns how far the simulator's median is from the host's."""
    ours, theirs = (statistics.median(stored[host][who][cc][path]) for who in ("simulator", "host"))
    return ours / theirs - 1


def tables(stored: Numbers) -> dict[str, str]:
    """Returns the page's table."""
    places = [(host, path) for host in HOSTS for path in PATHS]
    heads = ["`cc`", *(f"{HOSTS[host]}, {path}:" for host, path in places)]
    rows = [
        (f"`{cc}`", *(_cell(stored, host, cc, path) for host, path in places))
        for cc in gallery.names()
    ]
    return {"hosts": table(" | ".join(heads), rows)}


def _cell(stored: Numbers, host: str, cc: str, path: str) -> str:
    if host not in stored:
        return "not run"
    theirs, share = statistics.median(stored[host]["host"][cc][path]), off(stored, host, cc, path)
    differs = f"**{share:+.1%}**" if abs(share) > NEAR else f"{share:+.1%}"
    return f"{theirs:.2f}, {differs}"


def figures(stored: Numbers) -> Numbers:
    """Returns what the page's sentences quote: how many rows of each host are near."""
    places = [(cc, path) for cc in gallery.names() for path in PATHS]
    near = {
        host: sum(abs(off(stored, host, *place)) <= NEAR for place in places) for host in stored
    }
    return {"hosts": {"rows": len(places), **near}}


def clean_sample(cc: str, profile: str) -> Callable[[Numbers], Sample]:
    """Returns what runs a control in the simulator again, on the clean path."""

    def sample(stored: Numbers) -> Sample:
        run = listing(SIMULATOR).prepare(Job(scenario(cc, "clean", profile), [1]))
        kept = stored[profile.partition("-")[0]]["simulator"][cc]["clean"][0]
        return round(run(1)[0]["goodput_bps"] / MBPS, 3), kept

    return sample


PAGE = Page(
    DOCS / "gallery.md",
    DOCS / "gallery-hosts.json",
    tables,
    figures,
    measured,
    {
        f"{cc} {profile}": clean_sample(cc, profile)
        for cc in gallery.names()
        for profile in ("linux", "ns3-3.44")
    },
)
