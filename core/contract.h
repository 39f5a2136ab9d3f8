/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The contract between a host (simulator, ns-3, Linux, a QUIC stack) and a congestion control.
 *
 * The host owns sockets, clocks, retransmission and the window in force. It tells the core what each ACK
 * brought and what was lost; the core answers with the new cwnd and ssthresh. Controls that follow packets
 * also hear of each packet that is sent or found lost. The core has no clock, allocates nothing, and uses no
 * floating point and no signed division.
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

/* Bytes of the state of a loaded control: in the other hosts as many as the largest control has. */
#ifdef __bpf__
#define WW_OWN_STATE_MAX WW_STATE_MAX
#else
#define WW_OWN_STATE_MAX 232u
#endif

/* The host's state when it reports an ACK, in RFC 5681's terms. */
enum ww_phase {
    WW_OPEN,     /* no loss suspected */
    WW_DISORDER, /* duplicate ACKs seen, fewer than the threshold */
    WW_RECOVERY, /* fast recovery: the host's recovery owns the window */
    WW_LOSS,     /* after a timeout, until the data outstanding at it is acknowledged */
};

/* The host fills in one of these per ACK. */
struct ww_sample {
    uint64_t now_us;
    uint32_t mss;            /* payload bytes of a full segment */
    uint32_t acked_segments; /* newly and cumulatively acknowledged, rounded up; 0 on a duplicate */
    uint32_t in_flight;      /* segments sent and not cumulatively acknowledged, after this ACK */
    uint32_t rtt_us;  /* RTT of the newest segment acknowledged and never retransmitted; 0: none */
    uint32_t srtt_us; /* the host's SRTT (RFC 6298), handshake included; 0: none. CUBIC reads it */
    uint8_t phase;    /* enum ww_phase */
    bool is_dupack;   /* RFC 5681, section 2 */
    bool is_cwnd_limited;     /* the window was full when this ACK arrived */
    uint32_t newly_delivered; /* segments this ACK reports as arrived, cumulatively or by SACK. On a
                                 duplicate 0 means 1; on other ACKs only controls with
                                 ww_needs_rate read it */
    uint32_t newly_marked;    /* segments that arrived with a congestion mark since the last ACK, by
                              the receiver's count (accurate ECN, QUIC); 0: the host has none */
    /* Only controls with ww_needs_rate read the following; for the others it may be 0. */
    bool is_app_limited;       /* the rate sample was taken while the sender had nothing to send */
    uint32_t newly_lost;       /* segments found lost with this ACK */
    uint32_t pipe;             /* segments in flight without those SACKed or lost, after this ACK */
    uint32_t rate_segments;    /* delivery rate sample: delivered in rate_interval_us */
    uint32_t rate_interval_us; /* 0: no sample */
    uint32_t rate_rtt_us; /* RTT of the segment behind the rate sample: the last-sent segment that
                                 this ACK reports as arrived, also by SACK; 0: it was retransmitted */
    uint32_t delivered;   /* segments delivered since the start, including this ACK's; wraps */
    uint32_t prior_delivered; /* `delivered` when the newest segment delivered now was sent */
    /* Only controls with ww_follows_packets read the following; for the others it may be 0. */
    uint32_t prior_pipe; /* `pipe` when the newest segment delivered now had just been sent */
    uint32_t lost_since; /* segments found lost after that segment was sent */
};

/* The host fills in one of these before it sends a segment, for controls with ww_follows_packets. */
struct ww_sent {
    uint64_t now_us;
    uint32_t mss;
    uint32_t srtt_us;    /* as in ww_sample */
    uint32_t pipe;       /* segments in flight without this one */
    uint32_t delivered;  /* segments delivered since the start; wraps */
    bool is_app_limited; /* the sender has run out of data, and what was in flight then has not all
                            arrived */
};

/* The host fills in one of these for each segment that it finds lost, for the same controls. */
struct ww_lost {
    uint64_t now_us;
    uint32_t mss;
    uint32_t pipe;            /* segments in flight, without those found lost so far */
    uint32_t delivered;       /* segments delivered since the start; wraps */
    uint32_t prior_delivered; /* `delivered` when this segment was sent */
    uint32_t prior_pipe;      /* `pipe` when this segment had just been sent */
    uint32_t lost_since;      /* segments found lost after this one was sent, itself included */
    bool is_app_limited;      /* the sender had run out of data when it sent this segment */
    bool continues;           /* it directly follows the segment that was reported before it */
};

struct ww_window {
    uint32_t cwnd;     /* segments, without the inflation of fast recovery */
    uint32_t ssthresh; /* segments */
    uint64_t pacing;   /* bytes/s << WW_BW_FRACTION; 0: not paced */
};

/*
 * What a host may pass: X(name, least, most), for the fields above and for arguments of the same
 * names. Any of these values may come in any call, in any order. No host exceeds them: an IP packet
 * has less than 2^16 bytes, and counts of segments and times use the full range of their types.
 */
#define WW_SAMPLE_RANGES(X)            \
    X(now_us, 0, UINT64_MAX)           \
    X(mss, 1, UINT16_MAX)              \
    X(acked_segments, 0, UINT32_MAX)   \
    X(in_flight, 0, UINT32_MAX)        \
    X(rtt_us, 0, UINT32_MAX)           \
    X(srtt_us, 0, UINT32_MAX)          \
    X(phase, WW_OPEN, WW_LOSS)         \
    X(is_dupack, 0, 1)                 \
    X(is_cwnd_limited, 0, 1)           \
    X(newly_delivered, 0, UINT32_MAX)  \
    X(newly_marked, 0, UINT32_MAX)     \
    X(is_app_limited, 0, 1)            \
    X(newly_lost, 0, UINT32_MAX)       \
    X(pipe, 0, UINT32_MAX)             \
    X(rate_segments, 0, UINT32_MAX)    \
    X(rate_interval_us, 0, UINT32_MAX) \
    X(rate_rtt_us, 0, UINT32_MAX)      \
    X(delivered, 0, UINT32_MAX)        \
    X(prior_delivered, 0, UINT32_MAX)  \
    X(prior_pipe, 0, UINT32_MAX)       \
    X(lost_since, 0, UINT32_MAX)
#define WW_SENT_RANGES(X)       \
    X(now_us, 0, UINT64_MAX)    \
    X(mss, 1, UINT16_MAX)       \
    X(srtt_us, 0, UINT32_MAX)   \
    X(pipe, 0, UINT32_MAX)      \
    X(delivered, 0, UINT32_MAX) \
    X(is_app_limited, 0, 1)
#define WW_LOST_RANGES(X)             \
    X(now_us, 0, UINT64_MAX)          \
    X(mss, 1, UINT16_MAX)             \
    X(pipe, 0, UINT32_MAX)            \
    X(delivered, 0, UINT32_MAX)       \
    X(prior_delivered, 0, UINT32_MAX) \
    X(prior_pipe, 0, UINT32_MAX)      \
    X(lost_since, 0, UINT32_MAX)      \
    X(is_app_limited, 0, 1)           \
    X(continues, 0, 1)
#define WW_WINDOW_RANGES(X)              \
    X(cwnd, 1, WW_CWND_MAX)              \
    X(ssthresh, 0, WW_SSTHRESH_INFINITE) \
    X(pacing, 0, WW_BW_MAX)

/* Traits tell a host what a control needs; each is one bit. */
enum {
    WW_NEEDS_RATE = 1, /* it reads the delivery rate part of ww_sample */
    WW_OWNS_RECOVERY =
        2,            /* it sets cwnd in fast recovery: the host's recovery only finds the losses */
    WW_ESTIMATES = 4, /* ww_observe returns an estimate */
    WW_IGNORES_MARKS = 8,    /* it does not respond to congestion marks */
    WW_FOLLOWS_PACKETS = 16, /* it hears of each packet sent or lost */
    WW_SHOWS = 32,           /* ww_show returns a mode or quantities */
};

/* The common part of every control's state, which begins with it. */
struct ww_common {
    uint32_t cwnd_count;     /* ACKs or segments counted towards the next increment of cwnd */
    uint32_t prior_cwnd;     /* segments, before the last loss, for an undo */
    uint32_t prior_ssthresh; /* segments, before the last loss, for an undo */
};

/* What ww_observe returns to a host that traces. */
struct ww_observation {
    uint64_t bandwidth;  /* filtered, bytes/s << WW_BW_FRACTION */
    uint64_t raw;        /* last sample, bytes/s << WW_BW_FRACTION */
    uint32_t rtt_min_us; /* UINT32_MAX before the first RTT */
    uint32_t samples;    /* bandwidth samples so far; for BBRv1, round trips; 0: no estimate */
};

#define WW_QUANTITIES_MAX 4u

/* Units of the quantities that a control shows. Its largest value stands for "unlimited" or "unknown". */
enum ww_unit {
    WW_BANDWIDTH, /* bytes/s << WW_BW_FRACTION, below WW_BW_MAX */
    WW_VOLUME,    /* segments, below WW_CWND_MAX */
    WW_DURATION,  /* microseconds, below UINT32_MAX */
};

/* What ww_show returns to a host that traces. */
struct ww_shown {
    uint32_t mode;                          /* its number in the control's list, from 1; 0: none */
    uint64_t quantities[WW_QUANTITIES_MAX]; /* in the order and the units of the control's list */
};

#endif
