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
 *   bandwidth  bytes/s with WW_BW_FRACTION fractional bits; a filter without them sticks several
 *              units low. At most WW_BW_MAX = 2^42, which is 137 Gb/s.
 */
#ifndef WW_CONTRACT_H
#define WW_CONTRACT_H

#include <stdbool.h>
#include <stdint.h>

#define WW_BW_FRACTION 8u
#define WW_BW_MAX (UINT64_C(1) << 42)
#define WW_SSTHRESH_INFINITE UINT32_C(0x7fffffff)
#define WW_CWND_MAX (UINT32_C(1) << 28)
#define WW_STATE_MAX 104u       /* bytes: Linux's ICSK_CA_PRIV_SIZE */
#define WW_TAU_MAX_US 60000000u /* bound used in the filter's overflow proofs */
#define WW_VIRTUAL_MAX 16u      /* largest m of the virtual null samples: bounds the decay loop */

/* What the host is doing when it reports an ACK (RFC 5681 terms). */
enum ww_phase {
    WW_OPEN,     /* no loss suspected */
    WW_DISORDER, /* duplicate ACKs seen, fewer than the threshold */
    WW_RECOVERY, /* fast recovery: the host's recovery owns the window */
    WW_LOSS,     /* after a timeout, until the data outstanding at it is acknowledged */
};

enum ww_algorithm { WW_ALG_RENO, WW_ALG_WESTWOOD };

enum ww_sampler {
    WW_PER_ACK, /* one bandwidth sample an ACK: Westwood (Mascolo 2001; Gangadhar 2013, equation 2) */
    WW_PER_RTT, /* one a round trip, at least min_interval_us: Westwood+ (Dell'Aera 2003, 2.2) */
    WW_PER_RTT_TIMER /* as the 2013 ns-3 code: the ACK that opens a window counts in it, the window is
                        one last RTT long and divided by it (Gangadhar 2013, equation 3) */
};

enum ww_filter {
    WW_FILTER_NONE,
    WW_FILTER_EWMA,            /* 7/8 old + 1/8 new (Dell'Aera 2003, equation 1) */
    WW_FILTER_TUSTIN_CONSTANT, /* constant a (Gangadhar 2013, equation 1) */
    WW_FILTER_TUSTIN, /* time-varying, cut-off 1/tau, virtual null samples (Mascolo 2001) */
};

/* Read-only for the core; one object may serve any number of connections. */
struct ww_config {
    uint8_t algorithm; /* enum ww_algorithm */
    uint8_t sampler;   /* enum ww_sampler */
    uint8_t filter;    /* enum ww_filter */
    uint8_t virtual_m; /* a virtual null sample after every tau / m of silence, 2..16; 0: none */
    uint32_t tau_us;   /* time-varying Tustin: time constant, 1..WW_TAU_MAX_US */
    uint32_t min_interval_us; /* shortest window of WW_PER_RTT */
    uint16_t alpha_permille;  /* constant Tustin: a, in thousandths, 0..1000 */
    uint8_t min_cwnd;         /* floor of ssthresh, segments */
    bool byte_counting; /* RFC 3465 with L = 2 (L = 1 after a timeout) instead of once an ACK */
    bool validate_cwnd; /* grow only while the window is what limits the sender (RFC 7661) */
    bool
        set_cwnd_on_loss; /* Westwood: cwnd = ssthresh even upwards (Dell'Aera 2003); else only down */
    bool seed_filter;     /* the first sample is the first estimate; else the filter starts at 0 */
    bool literal_count; /* Mascolo 2001's DUPACK pseudo-code to the letter; see ackcount.h */
};

/* What one ACK brought. */
struct ww_sample {
    uint64_t now_us;
    uint32_t mss;            /* payload bytes of a full segment */
    uint32_t acked_segments; /* newly and cumulatively acknowledged, rounded up; 0 on a duplicate */
    uint32_t in_flight;      /* segments sent and not cumulatively acknowledged, after this ACK */
    uint32_t rtt_us; /* RTT of the newest segment acknowledged and never retransmitted; 0: none */
    uint8_t phase;   /* enum ww_phase */
    bool is_dupack;  /* RFC 5681, section 2 */
    bool is_cwnd_limited; /* the window was full when this ACK arrived */
};

struct ww_window {
    uint32_t cwnd;     /* segments, without the inflation of fast recovery */
    uint32_t ssthresh; /* segments */
};

/* A connection's private state. Zero is not a valid start: call ww_init. */
struct ww_state {
    uint64_t mark_us;        /* estimator: when the open sample interval began */
    uint64_t pending_bytes;  /* estimator: acknowledged in the open interval */
    uint64_t filter_us;      /* time-varying Tustin: when the filter last stepped */
    uint64_t bandwidth;      /* filtered estimate, bytes/s << WW_BW_FRACTION */
    uint64_t raw;            /* last sample, same unit */
    uint32_t cwnd_count;     /* ACKs (or segments) towards the next increment of cwnd */
    uint32_t accounted_for;  /* duplicate ACKs counted and not yet cumulatively acknowledged */
    uint32_t rtt_min_us;     /* UINT32_MAX before the first */
    uint32_t last_rtt_us;    /* 0 before the first */
    uint32_t samples;        /* bandwidth samples so far, saturating */
    uint32_t prior_cwnd;     /* before the last loss, for ww_on_undo */
    uint32_t prior_ssthresh; /* same */
    bool interval_open;      /* estimator: mark_us is valid */
};

#if defined(__cplusplus)
static_assert(sizeof(struct ww_state) <= WW_STATE_MAX, "state must fit Linux's private area");
#else
_Static_assert(sizeof(struct ww_state) <= WW_STATE_MAX, "state must fit Linux's private area");
#endif

/* What a host may trace. */
struct ww_observation {
    uint64_t bandwidth; /* filtered, bytes/s << WW_BW_FRACTION */
    uint64_t raw;       /* last sample, same unit */
    uint32_t rtt_min_us;
    uint32_t samples;
};

#endif
