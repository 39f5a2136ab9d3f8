/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What the hosts report to a control of the core, of what contract.h describes. A control that needs what a host lacks
 * is not in that host: its row of the catalogue says so. The guide shows this table on the page of each host.
 *
 *   X(name, "what it is", "simulator", "ns-3", "Linux", "quinn", "noq")    its name in contract.h or westwood.h
 */
#ifndef WW_HOSTS_H
#define WW_HOSTS_H

#define WW_HOST_REPORTS(X)                                                                        \
    X(rtt_us, "round trip of an acknowledged segment", "yes",                                     \
      "yes; in older releases from the smoothed one", "yes", "yes", "yes")                        \
    X(rate_segments, "delivery rate sample", "yes", "corrected from ns-3's own", "the kernel's",  \
      "from the times of sending", "from the times of sending")                                   \
    X(is_app_limited, "whether the application limited it", "yes; for BBRv3 by its draft's rule", \
      "by ns-3's rule", "by the kernel's rule", "by quinn's rule", "by noq's rule")               \
    X(is_cwnd_limited, "whether cwnd limited the sender", "yes", "from the bytes in flight",      \
      "yes", "no: all that the application does not limit",                                       \
      "no: all that the application does not limit")                                              \
    X(prior_pipe, "flight when the newest segment was sent", "yes", "yes", "yes",                 \
      "from the times of sending", "from the times of sending")                                   \
    X(lost_since, "losses since then", "yes", "yes", "since the ACK before it was sent",          \
      "an ACK late", "an ACK late")                                                               \
    X(newly_marked, "number of segments marked", "yes", "no", "no", "no", "no")                   \
    X(ww_on_mark, "an echo of congestion marks (RFC 3168)", "yes", "yes", "yes", "yes", "yes")    \
    X(ww_on_packet_sent, "each segment sent", "yes", "yes", "once an ACK", "yes", "yes")          \
    X(ww_on_packet_lost, "each segment lost, with its flight", "yes", "yes, with SACK",           \
      "with the flight of the newest segment delivered", "no: their bytes, after the ACK",        \
      "after the ACK")                                                                            \
    X(ww_on_restart, "end of a silence", "yes", "yes", "no", "yes", "yes")                        \
    X(ww_on_undo, "a reduction was needless", "yes", "no", "yes", "no", "yes")                    \
    X(pacing, "pacing rate that the control sets", "obeyed",                                      \
      "obeyed, but for the first segment of a recovery", "obeyed", "no: 1.25 cwnd per RTT",       \
      "obeyed")                                                                                   \
    X(ww_quantum, "segments that it lets go at once", "always one", "always one",                 \
      "TSO: a millisecond of the pacing rate, at least two", "no", "no: the stack's own bursts")

#endif
