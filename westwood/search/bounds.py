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
