# SPDX-License-Identifier: BSD-3-Clause
"""Fits a path to recorded uploads: rate, delay, queue and loss, with intervals, as a scenario.

The model is one link with rate R, one-way delay D, a drop-tail queue of Q packets, and independent
losses p of data packets. The sender of an upload sees:

    smallest round trip  2 D + H / R                H bits of a handshake, from the simulator
    acknowledged         at most R; R while packets always wait, and by Little's law
                         rate * (srtt - least) of them do
    round trip           at most 2 D + Q / R when the queue drops
    losses               p of what is sent while the queue is not full: n episodes among N segments
                         bound p by the Poisson quantiles of n (Garwood 1936)

These show where the parameters can lie, and whether the uploads can identify them at all.
Simulation then narrows them down: the simulator repeats the uploads over paths drawn from that
region, and parameters whose uploads resemble the recorded ones are kept. This is approximate
Bayesian computation in `inference`, on the numbers in `summary`. The result is the median and the
95 % interval. Slow start, smoothed round trips and repairs with large cumulative ACKs occur in the
simulations as in the recordings, so they cause no bias.

One sender cannot tell the direction of the delay (half is assumed each way), another queue or
bottleneck further on, or losses of ACKs, which later ACKs cover.

Sources: Gourieroux, Monfort & Renault 1993 (estimation by simulation); Beaumont, Zhang & Balding
2002, Fearnhead & Prangle 2012, Deistler, Goncalves & Macke 2022 (see `inference`); Allman & Paxson
1999 (what bulk transfers tell of a path); Robson & Whitlock 1964 (the end of a distribution).
"""

from westwood.campaign.fit.estimate import Estimate, Fit, fit
from westwood.campaign.fit.reading import uploads
from westwood.campaign.fit.recordings import Upload, of_frame, of_result
from westwood.campaign.fit.report import notes, scenario, summary, toml

__all__ = [
    "Estimate",
    "Fit",
    "Upload",
    "fit",
    "notes",
    "of_frame",
    "of_result",
    "scenario",
    "summary",
    "toml",
    "uploads",
]
