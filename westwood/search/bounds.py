# SPDX-License-Identifier: BSD-3-Clause
"""What a control must reach, in figures: once, for what searches and for what judges."""

CLEAN_MEDIAN = 0.98  # goodput over CUBIC's on clean paths
CLEAN_TENTH = 0.9  # the same in the worst tenth
CLEAN_QUEUE = 1.0  # at most: mean queue over CUBIC's, median
LOSS_MEDIAN = 0.98  # goodput over BBR's under random loss of 0.01 to 2 %
LOSS_TENTH = 0.7
LOSS_BINDS = 0.85  # the same in the median of the paths where loss binds:
BINDS = 2.0  # BBR has so many times CUBIC's goodput there
UPLINK_MBPS = 8.0  # at 10 Mb/s, 90 ms, 0.5 %
CUBIC_KEEPS = 0.85  # of what it has beside another CUBIC
OWN_SHARE = 0.5  # of an even share, beside CUBIC
AMONG = 0.95  # Jain's index among its own flows
DISTANT = 1.0  # Jain's index over CUBIC's at round trips of 10 to 160 ms
SHORT = 1.03  # at most: completion of short transfers over CUBIC's
COLLAPSE = 1.0  # at most: loss over CUBIC's of 100 flows over 100 packets a round trip

# On the wide population: issue 26 of November 2026, before anything was searched on it.
ALONE_MEDIAN = 0.99  # goodput over CUBIC's where the wire loses nothing
ALONE_TENTH = 0.95
DEEP_BDP = 0.1  # a queue from which on loss of the link can be told from congestion
WIRE_BINDS = 0.9  # goodput over BBR's where uniform loss binds, and the queue is as deep
BURSTS = 1.0  # goodput over the larger of Westwood+'s and this part of BBR's, in bursts of loss:
BURSTS_OF_BBR = 0.8
KEEPS_MEDIAN = 0.95  # what CUBIC keeps, path by path
KEEPS_TENTH = 0.8
KEEPS_WORST = 0.5
KEEPS_ITSELF = 0.9  # of what it has beside CUBIC on other seeds, worst tenth: the judge's own noise
RESENT = 1.5  # at most: resent, less what the wire lost, over CUBIC's, in the worst seed
RESENT_LEAST = 0.001  # added to both: what is less is chance on most paths
RUNAWAY = 0.2  # who resends more, beyond what the wire lost and RESENT of CUBIC's, has collapsed
RUNAWAYS = 0.0  # at most: runs that do
CROWD = -0.05  # Jain's index among its own flows, less CUBIC's
LATE_MEDIAN, LATE_TENTH = KEEPS_MEDIAN, KEEPS_TENTH  # of what a flow gets that joins CUBIC's late
BRIEF_MEDIAN = 1.05  # at most: completion of CUBIC's transfers over that beside CUBIC,
BRIEF_TENTH = 1.25  # which is what CUBIC keeps, as a time
