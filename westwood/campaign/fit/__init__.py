# SPDX-License-Identifier: BSD-3-Clause
"""Fits a path to recorded uploads: rate, delay, queue and loss, with intervals, as a scenario.

The model is one link with rate R, one-way delay D, a queue of Q packets that drops at its tail, and
independent losses p of data packets. What the sender of an upload sees of them:

    least round trip     2 D + H / R                H bits of a handshake, from the simulator
    acknowledged         at most R; R where packets wait all the time, and by Little's law
                         rate * (srtt - least) of them do
    round trip           at most 2 D + Q / R when the queue drops
    losses               p of what is sent while the queue is not full: n episodes among N segments
                         bound p by the Poisson quantiles of n (Garwood 1936)

These say where the parameters can lie, and whether the uploads can tell at all. Within that they
follow from simulation: uploads under the same controls are repeated by the simulator over paths
drawn from there, and the parameters whose uploads look as those recorded are kept: approximate
Bayesian computation, in `inference`, by the numbers in `summary`. What is given is the median and
the 95 % interval of these; the slow start of a lossy upload, the smoothing of srtt, repairs that
acknowledge many segments at once are in the simulations as they are in the recordings, so that
they bias nothing.

What one sender can't tell: which way the delay is (half each), whether another queue or a second
bottleneck is behind, and losses of ACKs, which later ACKs make good.

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
