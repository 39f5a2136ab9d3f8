# SPDX-License-Identifier: BSD-3-Clause
"""Lists the figures that a control must reach, for searching and for judging alike."""

CLEAN_MEDIAN = 0.98  # goodput over CUBIC's on clean paths
CLEAN_TENTH = 0.9  # the same in the worst tenth
CLEAN_QUEUE = 1.0  # at most: mean queue over CUBIC's, median
LOSS_MEDIAN = 0.98  # goodput over BBRv1's under random loss of 0.01 to 2 %
LOSS_TENTH = 0.7
LOSS_BINDS = 0.85  # the same in the median of the paths where loss binds, as defined by BINDS
BINDS = 2.0  # loss binds if BBRv1 has this multiple of CUBIC's goodput
UPLINK_MBPS = 8.0  # at 10 Mb/s, 90 ms, 0.5 %
CUBIC_KEEPS = 0.85  # share of what CUBIC has with another CUBIC
OWN_SHARE = 0.5  # share of an even division, with CUBIC
AMONG = 0.95  # Jain's index among its own flows
DISTANT = 1.0  # Jain's index over CUBIC's at round trips of 10 to 160 ms
SHORT = 1.03  # at most: completion of short transfers over CUBIC's
COLLAPSE = 1.0  # at most: loss over CUBIC's, with 100 flows and 100 packets per round trip

# The wide population's targets were written in November 2026, before any search on it.
ALONE_MEDIAN = 0.99  # goodput over CUBIC's where the wire loses nothing
ALONE_TENTH = 0.95
DEEP_BDP = 0.1  # from this queue on, a control can tell loss of the link from congestion
WIRE_BINDS = 0.9  # goodput over BBRv1's where uniform loss binds and the queue is that deep
BURSTS = (
    1.0  # goodput under bursty loss over the larger of Westwood+'s and BURSTS_OF_BBR of BBRv1's
)
BURSTS_OF_BBR = 0.8
KEEPS_MEDIAN = 0.95  # what CUBIC keeps, path by path
KEEPS_TENTH = 0.8
KEEPS_WORST = 0.5
# Share of what CUBIC has with CUBIC on other seeds, worst tenth: the noise of judging.
KEEPS_ITSELF = 0.9
RESENT = 1.5  # at most: packets resent beyond wire losses over CUBIC's, in the worst seed
RESENT_LEAST = 0.001  # added to both, since smaller shares are due to chance on most paths
RUNAWAY = 0.2  # resending more, beyond wire losses and RESENT of CUBIC's, counts as a collapse
RUNAWAYS = 0.0  # at most: share of collapsed runs
CROWD = -0.05  # Jain's index among its own flows, less CUBIC's
# Goodput of a late flow over that of a late CUBIC flow.
LATE_MEDIAN, LATE_TENTH = KEEPS_MEDIAN, KEEPS_TENTH
BRIEF_MEDIAN = 1.05  # at most: completion of CUBIC's transfers over that with CUBIC
BRIEF_TENTH = 1.25  # the same in the worst tenth
