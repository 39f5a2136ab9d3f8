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

enum ww_algorithm { WW_ALG_RENO, WW_ALG_WESTWOOD, WW_ALG_CUBIC, WW_ALG_VEGAS, WW_ALG_BBR };

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
    WW_FILTER_TUSTIN,     /* time-varying, cut-off 1/tau, virtual null samples (Mascolo 2001) */
    WW_FILTER_EWMA_TWICE, /* two 7/8 filters, one behind the other (Linux, tcp_westwood.c) */
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
    bool batched_acks;  /* an ACK may stand for any number of segments, and each counts (Linux) */
    bool validate_cwnd; /* grow only while the window is what limits the sender (RFC 7661) */
    bool
        set_cwnd_on_loss; /* Westwood: cwnd = ssthresh even upwards (Dell'Aera 2003); else only down */
    bool seed_filter;     /* the first sample is the first estimate; else the filter starts at 0 */
    bool literal_count;    /* Mascolo 2001's DUPACK pseudo-code to the letter; see ackcount.h */
    bool reset_rtt_min;    /* RTTmin starts anew with the first RTT after a timeout (Linux) */
    bool set_at_exit;      /* when recovery completes cwnd = ssthresh = BWE*RTTmin as it is then */
    bool halve_on_loss;    /* and until then ssthresh is Reno's half (Linux) */
    uint16_t cte_permille; /* plateau after a loss: cte in thousandths, from 1000; 0: none */
    bool hystart;          /* CUBIC: HyStart++ in the first slow start (RFC 9406) */
    bool fast_convergence; /* CUBIC: RFC 9438, 4.7 */
    uint8_t vegas_alpha;   /* Vegas: segments queued in the path, at least */
    uint8_t vegas_beta;    /* and at most */
    uint8_t vegas_gamma;   /* and at most in slow start */
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
    bool is_cwnd_limited;     /* the window was full when this ACK arrived */
    uint32_t newly_delivered; /* segments this ACK says have arrived, cumulatively or by SACK. On a
                                 duplicate 0 means 1; else only ww_needs_rate's read it */
    /* Only a control that ww_needs_rate names reads what follows; others may find 0. */
    bool is_app_limited;       /* the rate sample was taken while the sender had nothing to send */
    uint32_t newly_lost;       /* segments found lost with this ACK */
    uint32_t pipe;             /* segments in flight without those SACKed or lost, after this ACK */
    uint32_t rate_segments;    /* delivery rate sample: delivered in rate_interval_us */
    uint32_t rate_interval_us; /* 0: no sample */
    uint32_t delivered;       /* segments delivered since the start, this ACK's among them; wraps */
    uint32_t prior_delivered; /* `delivered` when the newest segment delivered now was sent */
};

struct ww_window {
    uint32_t cwnd;     /* segments, without the inflation of fast recovery */
    uint32_t ssthresh; /* segments */
    uint64_t pacing;   /* bytes/s << WW_BW_FRACTION; 0: not paced */
};

/* Westwood: estimator, filter, plateau. */
struct ww_westwood_state {
    uint64_t mark_us;       /* when the open sample interval began */
    uint64_t pending_bytes; /* acknowledged in the open interval */
    uint64_t filter_us;     /* time-varying Tustin: when the filter last stepped */
    uint64_t bandwidth;     /* filtered estimate, bytes/s << WW_BW_FRACTION */
    uint64_t raw;           /* last sample, same unit */
    uint64_t once;          /* WW_FILTER_EWMA_TWICE: what the first filter says */
    uint32_t accounted_for; /* duplicate ACKs counted and not yet cumulatively acknowledged */
    uint32_t rtt_min_us;    /* UINT32_MAX before the first */
    uint32_t last_rtt_us;   /* 0 before the first */
    uint32_t samples;       /* bandwidth samples so far, saturating */
    uint32_t plateau;       /* Newssthresh, segments; 0: not on a plateau */
    uint32_t counter;       /* New increment, whole segments */
    bool interval_open;     /* mark_us is valid */
    bool rtt_min_stale;     /* the next RTT replaces rtt_min_us */
};

/* A round trip counted in segments: it ends when all that was sent at its start is acknowledged. */
struct ww_rounds {
    uint32_t acked; /* segments cumulatively acknowledged so far; wraps */
    uint32_t end;   /* `acked` at the round's end */
};

/* HyStart++ */
struct ww_hystart_state {
    struct ww_rounds rounds;
    uint32_t last_min_rtt_us;    /* of the last round; UINT32_MAX: none */
    uint32_t current_min_rtt_us; /* of this round, same */
    uint32_t baseline_us;        /* cssBaselineMinRtt; UINT32_MAX outside of CSS */
    uint8_t samples;             /* RTT samples in this round, saturating */
    uint8_t css_rounds;          /* rounds of conservative slow start so far */
    bool done;                   /* slow start was left for good */
};

struct ww_cubic_state {
    uint64_t epoch_us;   /* when this congestion avoidance stage began, shifted by idle times */
    uint64_t last_us;    /* the last ACK */
    uint64_t w_est;      /* segments << 32 */
    uint32_t w_max;      /* segments << 8; 0: none (start, after a timeout) */
    uint32_t origin;     /* segments << 8: W_max of this stage */
    uint32_t k_ms;       /* K */
    uint32_t cwnd_prior; /* segments, before the last reduction */
    uint32_t fraction;   /* of cwnd, segments << 32 */
    uint32_t srtt_us;    /* 0 before the first */
    bool epoch_open;
    struct ww_hystart_state hystart;
};

struct ww_vegas_state {
    struct ww_rounds rounds;
    uint32_t base_rtt_us; /* smallest so far; UINT32_MAX before the first */
    uint32_t min_rtt_us;  /* smallest in this round, same */
    uint32_t rtts;        /* samples in this round */
};

struct ww_bbr_state {
    uint64_t max_bw[3]; /* best, second and third best of the window, bytes/s << WW_BW_FRACTION */
    uint64_t full_bw;   /* what STARTUP's growth is measured from, same unit */
    uint64_t rtprop_at_us;    /* when rtprop_us was measured */
    uint32_t max_bw_round[3]; /* when each of max_bw was measured, in rounds */
    uint32_t rtprop_us;       /* smallest RTT of the last 10 s; UINT32_MAX before the first */
    uint32_t rounds;          /* round trips so far */
    uint32_t round_end;       /* `delivered` that ends this round */
    uint32_t limited_until;   /* samples of what was sent before this `delivered` are no maximum */
    uint32_t cycle_at_us;     /* when this phase of PROBE_BW began; wraps */
    uint32_t probe_rtt_done_us; /* when PROBE_RTT may end; wraps */
    uint32_t conserved;         /* pipe + delivered after the last ACK: cwnd on entering recovery */
    uint8_t mode;               /* enum ww_bbr_mode */
    uint8_t cycle;              /* phase of PROBE_BW, 0..7 */
    uint8_t full_rounds;        /* rounds without growth */
    uint8_t flags;              /* enum ww_bbr_flag */
};

/* A connection's private state. Zero is not a valid start: call ww_init. */
struct ww_state {
    uint32_t cwnd_count;     /* ACKs (or segments) towards the next increment of cwnd */
    uint32_t prior_cwnd;     /* before the last loss, for ww_on_undo */
    uint32_t prior_ssthresh; /* same */
    union {
        struct ww_westwood_state westwood;
        struct ww_cubic_state cubic;
        struct ww_vegas_state vegas;
        struct ww_bbr_state bbr;
    };
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
