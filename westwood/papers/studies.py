# SPDX-License-Identifier: BSD-3-Clause
"""Lists the studies that can be reproduced, with their scenarios, claims and figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from matplotlib.figure import Figure

from westwood.draw.curves import Axis
from westwood.papers import observers, pictures
from westwood.papers.checks.linux_2003 import REGIONS
from westwood.papers.observers import Observer
from westwood.papers.pictures import All


@dataclass(frozen=True)
class PaperStudy:
    """An experiment of a paper."""

    title: str
    scenarios: Mapping[str, str]  # name, and the swept key on the figure's x axis ("": none)
    claims: tuple[str, ...]
    draw: Callable[[All, str], Figure]
    observer: Observer | None = None
    shown: tuple[str, ...] = field(default=("throughput_bps",))  # columns of the data tables


_NS3, _MOBICOM, _PLATEAU, _LINUX = "2013 ns-3 paper", "MOBICOM 2001", "WestwoodNR+", "Linux 2.4"

STUDIES: dict[str, PaperStudy] = {
    "fig5": PaperStudy(
        f"Figure 5, {_NS3}: throughput over error rate",
        {"fig5": pictures.PER},
        (
            "ns3.fig5.order",
            "ns3.fig5.reno_equals_newreno",
            "ns3.fig5.westwoodplus_knee",
            "ns3.fig5.monotone",
        ),
        pictures.throughput_curves("fig5", pictures.PER_AXIS),
    ),
    "fig6": PaperStudy(
        f"Figure 6, {_NS3}: throughput over delay",
        {"fig6": "bottleneck.delay"},
        ("ns3.fig6.delay",),
        pictures.throughput_curves("fig6", pictures.DELAY, words=True),
    ),
    "fig7": PaperStudy(
        f"Figure 7, {_NS3}: throughput over bandwidth",
        {"fig7": "bottleneck.rate"},
        ("ns3.fig7.bandwidth",),
        pictures.throughput_curves("fig7", pictures.RATE, words=True),
    ),
    "original-work": PaperStudy(
        f"Figures 5 to 7, {_NS3}, and the set-ups of the original work",
        {
            "fig5": pictures.PER,
            "loss": pictures.PER,
            "fig6": "bottleneck.delay",
            "delay": "bottleneck.delay",
            "fig7": "bottleneck.rate",
            "capacity": "bottleneck.rate",
        },
        ("ns3.original_work", "ns3.fig6.reno_least_delay"),
        pictures.original_work,
    ),
    "fig8": PaperStudy(
        f"Figure 8, {_NS3}: delayed ACKs",
        {"fig8": pictures.PER},
        ("ns3.fig8.delack",),
        pictures.throughput_panels("fig8", "tcp.delayed_ack", "segments an ACK"),
    ),
    "fig9": PaperStudy(
        f"Figure 9, {_NS3}: packet sizes",
        {"fig9": pictures.PER},
        ("ns3.fig9.mtu",),
        pictures.throughput_panels("fig9", "tcp.packet", "packet"),
    ),
    "fig10": PaperStudy(
        f"Figure 10, {_NS3}: cwnd over time",
        {"fig10": ""},
        ("ns3.fig10.cwnd",),
        pictures.cwnd_over_time,
        observers.SAMPLED_CWND,
        ("throughput_bps", "sampled_cwnd"),
    ),
    "plus-fairness": PaperStudy(
        f"{_NS3}: another flow with Westwood and with Westwood+",
        {"plus-fairness": ""},
        ("ns3.plus_fairness",),
        pictures.plus_fairness,
    ),
    "fig11": PaperStudy(
        f"Figure 11, {_NS3}: estimates under ACK compression",
        {"ack-compression": ""},
        ("ns3.fig11.ack_compression",),
        pictures.ack_compression,
        observers.ESTIMATE_RANGE,
    ),
    "udp-share": PaperStudy(
        f"{_MOBICOM}: the estimate with competing UDP",
        {"udp-share": ""},
        ("mobicom.udp_share",),
        pictures.udp_share,
        observers.ESTIMATE_BESIDE_UDP,
    ),
    "fairness": PaperStudy(
        f"{_MOBICOM}: fairness, without and with RED",
        {"fairness": "bottleneck.queue", "fairness-rtt": "bottleneck.queue"},
        ("mobicom.fairness", "mobicom.fairness_red"),
        pictures.fairness,
        shown=("throughput_bps", "jain", "utilisation"),
    ),
    "friendliness": PaperStudy(
        f"{_MOBICOM}: friendliness of 20 flows",
        {"friendliness": ""},
        ("mobicom.friendliness",),
        pictures.friendliness,
        shown=("throughput_bps", "friendliness", "jain"),
    ),
    "loss-delay-capacity": PaperStudy(
        f"{_MOBICOM}: throughput over error rate, delay and capacity",
        {"loss": pictures.PER, "delay": "bottleneck.delay", "capacity": "bottleneck.rate"},
        ("mobicom.loss_delay_capacity",),
        pictures.three,
    ),
    "fading": PaperStudy(
        f"{_MOBICOM}: fading",
        {"fading": pictures.BAD_RATE.column},
        ("mobicom.fading",),
        pictures.throughput_curves("fading", pictures.BAD_RATE),
    ),
    "blackout": PaperStudy(
        f"{_MOBICOM}: blackout",
        {"blackout": pictures.BLACKOUT.column},
        ("mobicom.blackout",),
        pictures.throughput_curves("blackout", pictures.BLACKOUT, words=True),
    ),
    "satellite": PaperStudy(
        f"{_MOBICOM}: satellite link",
        {"satellite": "satellite.rate"},
        ("mobicom.satellite",),
        pictures.throughput_curves(
            "satellite", Axis("satellite.rate", "Rate of the satellite link (Mb/s)"), words=True
        ),
    ),
    "traces": PaperStudy(
        f"{_MOBICOM}: cwnd and ssthresh",
        {"traces": ""},
        ("mobicom.traces",),
        pictures.ssthresh,
        observers.SSTHRESH_OVER_PIPE,
        ("throughput_bps", "ssthresh_over_pipe"),
    ),
    "plateau-wired": PaperStudy(
        f"{_PLATEAU}: the wired path",
        {"plateau-wired": ""},
        ("plateau.wired",),
        pictures.wired,
        shown=("throughput_bps", "loss_ratio"),
    ),
    "plateau-lengths": PaperStudy(
        f"{_PLATEAU}: the wired numbers over duration and queue",
        {"plateau-lengths": ""},
        (),
        pictures.lengths,
    ),
    "plateau-wireless": PaperStudy(
        f"{_PLATEAU}: the wireless path",
        {"plateau-wireless": pictures.PER},
        ("plateau.wireless",),
        pictures.throughput_curves("plateau-wireless", pictures.PER_AXIS),
    ),
    "plateau-cte": PaperStudy(
        f"{_PLATEAU}: the height of the plateau",
        {
            "plateau-cte-wired": "tcp.cc.cte",
            "plateau-cte-wireless": "tcp.cc.cte",
            "plateau-wired": "",
        },
        ("plateau.cte", "plateau.wired_numbers"),
        pictures.cte,
    ),
    "plateau-friendly": PaperStudy(
        f"{_PLATEAU}: competition with other protocols",
        {"plateau-friendly": ""},
        ("plateau.friendly_newreno", "plateau.friendly_westwood"),
        pictures.plateau_friendly,
        shown=("throughput_bps", "friendliness"),
    ),
    "plateau-windows": PaperStudy(
        f"{_PLATEAU}: windows, ssthresh and use of the link over time",
        {"plateau-wired": "", "plateau-wireless": pictures.PER},
        ("plateau.stages", "plateau.ssthresh", "plateau.use"),
        pictures.windows_and_use,
        observers.STAGES,
        ("throughput_bps", "stages", "stage_ratio", "cwnd_swing", "ssthresh_range", "least_use"),
    ),
    "plateau-two-windows": PaperStudy(
        f"{_PLATEAU}: acknowledgements and windows of two flows",
        {"plateau-friendly": ""},
        ("plateau.windows_newreno", "plateau.windows_westwood"),
        pictures.two_windows,
        observers.TWO_WINDOWS,
        ("throughput_bps", "late_cwnd", "windows_apart", "window_rises"),
    ),
    "rate-halving": PaperStudy(
        f"{_LINUX}: fast recovery with rate halving",
        {"rate-halving": ""},
        ("linux.rate_halving", "linux.backlog"),
        pictures.rate_halving,
        observers.RECOVERIES,
        ("throughput_bps", "recoveries_seen", "longest_silence_rtts", "backlog_cleared"),
    ),
    "uploads": PaperStudy(
        f"{_LINUX}: where Table 4 and the windows agree, over rate and losses",
        {"uploads": "path.rate"},
        ("linux.ucla", "linux.uppsala", "linux.parma", "linux.ssthresh"),
        pictures.regions(list(REGIONS.values())),
        observers.WINDOWS_BY_PATH,
        ("goodput_bps", "retransmission_ratio", "ssthresh_over_pipe", "sampled_cwnd"),
    ),
    "uploads-windows": PaperStudy(
        f"{_LINUX}: windows, estimate and round trip to UCLA and Parma",
        {"uploads": "path.rate"},
        (),
        pictures.uploads,
    ),
    "uploads-series": PaperStudy(
        f"{_LINUX}: alternating uploads of 3.2 MB", {"uploads": "path.rate"}, (), pictures.series
    ),
}


def names_of(studies: Mapping[str, PaperStudy]) -> list[str]:
    """Returns what `reproduce --only` takes: the studies' names, then their claims'."""
    return [*studies, *(claim for study in studies.values() for claim in study.claims)]


def observer_of(scenario: str) -> Observer | None:
    """Returns the observer of a scenario's runs, which all studies of the scenario share."""
    observers = (study.observer for study in STUDIES.values() if scenario in study.scenarios)
    return next((observer for observer in observers if observer), None)
