/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The contract between a host (simulator, ns-3, Linux, a QUIC stack) and a congestion control.
 *
 * The host owns sockets, clocks, retransmission and the window in force; it tells the core what each
 * ACK brought and what was lost, and the core says what cwnd and ssthresh become. The core keeps no
 * clock, allocates nothing, uses no floating point and no signed division.
 *
 *   windows    segments
 *   data       bytes
 *   time       microseconds of the host's monotonic clock (64 bit), spans in 32 or 64 bit
 *   bandwidth  bytes/s with WW_BW_FRACTION fractional bits, because a filter without them sticks
 *              several units low. At most WW_BW_MAX = 2^45, which is 1.1 Tb/s.
 */
#ifndef WW_CONTRACT_H
#define WW_CONTRACT_H

#include "settings.h"

#define WW_BW_FRACTION 8u
#define WW_BW_UNIT (UINT64_C(1) << WW_BW_FRACTION)
#define WW_BW_MAX (UINT64_C(1) << 45)
#define WW_SSTHRESH_INFINITE UINT32_C(0x7fffffff)
#define WW_CWND_MAX (UINT32_C(1) << 28)
#define WW_STATE_MAX 104u /* bytes: Linux's ICSK_CA_PRIV_SIZE */

/* The host says what it is doing when it reports an ACK, in RFC 5681's terms. */
enum ww_phase {
    WW_OPEN,     /* no loss suspected */
    WW_DISORDER, /* duplicate ACKs seen, fewer than the threshold */
    WW_RECOVERY, /* fast recovery: the host's recovery owns the window */
    WW_LOSS,     /* after a timeout, until the data outstanding at it is acknowledged */
};

/* The host fills one of these for each ACK, to say what the ACK brought. */
struct ww_sample {
    uint64_t now_us;
    uint32_t mss;            /* payload bytes of a full segment */
    uint32_t acked_segments; /* newly and cumulatively acknowledged, rounded up; 0 on a duplicate */
    uint32_t in_flight;      /* segments sent and not cumulatively acknowledged, after this ACK */
    uint32_t rtt_us; /* RTT of the newest segment acknowledged and never retransmitted; 0: none */
    uint8_t phase;   /* enum ww_phase */
    bool is_dupack;  /* RFC 5681, section 2 */
    bool is_cwnd_limited;     /* the window was full when this ACK arrived */
    uint32_t newly_delivered; /* segments this ACK says have arrived, cumulatively or by SACK. On a
                                 duplicate 0 means 1; on any other ACK only controls for which
                                 ww_needs_rate is true read it */
    /* Only controls for which ww_needs_rate is true read what follows; others may find 0. */
    bool is_app_limited;       /* the rate sample was taken while the sender had nothing to send */
    uint32_t newly_lost;       /* segments found lost with this ACK */
    uint32_t pipe;             /* segments in flight without those SACKed or lost, after this ACK */
    uint32_t rate_segments;    /* delivery rate sample: delivered in rate_interval_us */
    uint32_t rate_interval_us; /* 0: no sample */
    uint32_t
        rate_rtt_us;    /* RTT of the segment that the rate sample is of: the one sent last of those
                                 that this ACK says have arrived, by SACK as well; 0: it was retransmitted */
    uint32_t delivered; /* segments delivered since the start, this ACK's among them; wraps */
    uint32_t prior_delivered; /* `delivered` when the newest segment delivered now was sent */
};

struct ww_window {
    uint32_t cwnd;     /* segments, without the inflation of fast recovery */
    uint32_t ssthresh; /* segments */
    uint64_t pacing;   /* bytes/s << WW_BW_FRACTION; 0: not paced */
};

/*
 * What a host may pass: X(name, least, most), for the fields above and the arguments of the same names. Any
 * of these values may come in any call, after any others. No host produces more: an IP packet has less
 * than 2^16 bytes, and numbers of segments and times are whatever their types hold.
 */
#define WW_SAMPLE_RANGES(X)            \
    X(now_us, 0, UINT64_MAX)           \
    X(mss, 1, UINT16_MAX)              \
    X(acked_segments, 0, UINT32_MAX)   \
    X(in_flight, 0, UINT32_MAX)        \
    X(rtt_us, 0, UINT32_MAX)           \
    X(phase, WW_OPEN, WW_LOSS)         \
    X(is_dupack, 0, 1)                 \
    X(is_cwnd_limited, 0, 1)           \
    X(newly_delivered, 0, UINT32_MAX)  \
    X(is_app_limited, 0, 1)            \
    X(newly_lost, 0, UINT32_MAX)       \
    X(pipe, 0, UINT32_MAX)             \
    X(rate_segments, 0, UINT32_MAX)    \
    X(rate_interval_us, 0, UINT32_MAX) \
    X(rate_rtt_us, 0, UINT32_MAX)      \
    X(delivered, 0, UINT32_MAX)        \
    X(prior_delivered, 0, UINT32_MAX)
#define WW_WINDOW_RANGES(X)              \
    X(cwnd, 1, WW_CWND_MAX)              \
    X(ssthresh, 0, WW_SSTHRESH_INFINITE) \
    X(pacing, 0, WW_BW_MAX)

/* Every congestion control remembers this; the state of each begins with it. */
struct ww_common {
    uint32_t cwnd_count;     /* ACKs (or segments) to the next increment of cwnd, or its fraction */
    uint32_t prior_cwnd;     /* segments, before the last loss, for an undo */
    uint32_t prior_ssthresh; /* segments, before the last loss, for an undo */
};

/* ww_observe returns this to a host that traces. */
struct ww_observation {
    uint64_t bandwidth;  /* filtered, bytes/s << WW_BW_FRACTION */
    uint64_t raw;        /* last sample, bytes/s << WW_BW_FRACTION */
    uint32_t rtt_min_us; /* UINT32_MAX before the first RTT */
    uint32_t samples;    /* bandwidth samples so far, of BBR round trips; 0: no estimate */
};

#endif
