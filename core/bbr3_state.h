/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The state of a BBRv3 connection, named as in its draft, and its constants; bbr3.h has their sources. */
#ifndef WW_BBR3_STATE_H
#define WW_BBR3_STATE_H

#include "reno.h"

enum ww_bbr3_mode {
    WW_BBR3_STARTUP,
    WW_BBR3_DRAIN,
    WW_BBR3_DOWN,
    WW_BBR3_CRUISE,
    WW_BBR3_REFILL,
    WW_BBR3_UP,
    WW_BBR3_PROBE_RTT,
    WW_BBR3_NONE, /* undo_mode: nothing to return to */
};

/* What the ACKs tell about the last probe for bandwidth. */
enum ww_bbr3_ack_phase {
    WW_BBR3_ACKS_INIT,
    WW_BBR3_ACKS_REFILLING,
    WW_BBR3_ACKS_PROBE_STARTING,
    WW_BBR3_ACKS_PROBE_FEEDBACK,
    WW_BBR3_ACKS_PROBE_STOPPING,
};

enum ww_bbr3_flag {
    WW_BBR3_STARTED = 1,              /* the clock is known */
    WW_BBR3_PACED_BY_RTT = 2,         /* the initial pacing rate comes from a measured RTT */
    WW_BBR3_ROUND_START = 4,          /* this ACK begins a round */
    WW_BBR3_LOSS_ROUND_START = 8,     /* this ACK ends the round that began with a loss */
    WW_BBR3_LOSS_IN_ROUND = 16,       /* a loss was found in this round */
    WW_BBR3_FULL_NOW = 32,            /* full_bw_now */
    WW_BBR3_FULL_REACHED = 64,        /* full_bw_reached */
    WW_BBR3_PROBE_SAMPLE = 128,       /* is_bw_probe_sample */
    WW_BBR3_TOO_HIGH = 256,           /* prev_probe_too_high */
    WW_BBR3_PRECAUTIONARY = 512,      /* prev_probe_precautionary */
    WW_BBR3_IDLE_RESTART = 1024,      /* idle_restart */
    WW_BBR3_PROBE_RTT_EXPIRED = 2048, /* probe_rtt_expired */
    WW_BBR3_PROBE_RTT_TIMED = 4096,   /* probe_rtt_timed_us is set */
    WW_BBR3_PROBE_RTT_ROUND = 8192,   /* probe_rtt_round_done */
    WW_BBR3_CWND_LIMITED = 16384,     /* a segment of this round filled cwnd */
    WW_BBR3_WAS_CWND_LIMITED = 32768, /* a segment of the last round did */
    WW_BBR3_RECOVERING = 65536,       /* in loss recovery */
    WW_BBR3_AFTER_RTO = 131072,       /* the timer expired, and no ACK has arrived since then */
    WW_BBR3_REPORTED = 262144,        /* a lost segment was reported, but not yet the recovery */
};

/* Gains and shares are in 1/1000. */
enum {
    WW_BBR3_UNIT = 1000,
    WW_BBR3_STARTUP_GAIN = 2773, /* 4 ln 2 */
    WW_BBR3_UP_GAIN = 1250,
    WW_BBR3_CWND_GAIN = 2000,
    WW_BBR3_UP_CWND_GAIN = 2250,
    WW_BBR3_PROBE_RTT_CWND_GAIN = 500,
    WW_BBR3_HEADROOM = 150,
    WW_BBR3_BETA = 700,
    WW_BBR3_MARGIN = 99, /* pacing, in % of the rate */
    WW_BBR3_MIN_CWND = 4,
    WW_BBR3_FULL_ROUNDS = 3,
    WW_BBR3_DRAIN_ROUNDS = 3,
    WW_BBR3_EXTRA_ROUNDS = 10,
    WW_BBR3_RENO_ROUNDS = 63,
    WW_BBR3_UP_ROUNDS = 30,
};
#define WW_BBR3_PROBE_RTT_US UINT64_C(200000)
#define WW_BBR3_LONG_AGO (UINT32_C(1) << 30)    /* segments; more than are ever in flight */
#define WW_BBR3_PROBE_WAIT_US UINT32_C(2000000) /* and up to a second more */

/* A bandwidth and a volume that limit nothing: the draft's Infinity. */
#define WW_BBR3_ANY_BW WW_BW_MAX
#define WW_BBR3_ANY_VOLUME WW_CWND_MAX

/* Volumes are in segments, bandwidths in bytes/s << WW_BW_FRACTION. */
struct ww_bbr3_state {
    struct ww_common common; /* prior_cwnd is the draft's */
    uint32_t flags;          /* enum ww_bbr3_flag */
    uint64_t max_bw[2];      /* of the previous cycle of ProbeBW, and of this one */
    uint64_t bw, bw_latest, bw_shortterm, full_bw, undo_bw_shortterm;
    uint64_t min_rtt_at_us, probe_rtt_min_at_us;
    uint64_t
        probe_rtt_timed_us; /* since when ProbeRTT holds the volume: probe_rtt_done_stamp - 200 ms */
    uint64_t cycle_at_us;   /* cycle_stamp */
    uint64_t extra_at_us;   /* extra_acked_interval_start */
    uint64_t extra_acked[3];                     /* max_filter.h */
    uint16_t extra_acked_round[3];               /* the round in which each was measured; wraps */
    uint8_t lost_ranges;                         /* ranges lost in this round */
    uint8_t full_bw_count;                       /* rounds without growth */
    uint32_t min_rtt_us, probe_rtt_min_delay_us; /* UINT32_MAX: none */
    uint32_t bw_probe_wait_us;
    uint32_t probe_rtt_cwnd; /* from before min_rtt expired; 0: compute it */
    uint32_t delivered;      /* C.delivered; wraps, as all that follow */
    uint32_t next_round_delivered, loss_round_delivered;
    uint32_t limited_from, limited_until; /* data sent in between is limited by ProbeRTT */
    uint32_t round_count, drain_start_round;
    uint32_t rounds_since_probe_up;
    uint32_t initial_cwnd;
    uint32_t inflight_latest, inflight_longterm, inflight_shortterm;
    uint32_t undo_inflight_longterm, undo_inflight_shortterm;
    uint32_t extra_acked_delivered;
    uint32_t bw_probe_up_acked, probe_up_acked_per_inc;
    uint8_t mode, undo_mode;    /* enum ww_bbr3_mode */
    uint8_t ack_phase;          /* enum ww_bbr3_ack_phase */
    uint8_t bw_probe_up_rounds; /* at most WW_BBR3_UP_ROUNDS */
};

/* The rate sample RS of an ACK, or of a segment found lost. */
struct ww_bbr3_sample {
    uint64_t delivery_rate;
    uint32_t delivered, tx_in_flight, lost;
    bool is_app_limited;
};

static inline bool ww_bbr3_is(const struct ww_bbr3_state *bbr, enum ww_bbr3_flag flag) {
    return (WW_READ(bbr->flags) & (uint32_t)flag) != 0;
}

static inline void ww_bbr3_set(struct ww_bbr3_state *bbr, enum ww_bbr3_flag flag, bool on) {
    const uint32_t flags = WW_READ(bbr->flags);
    bbr->flags = on ? flags | (uint32_t)flag : flags & ~(uint32_t)flag;
}

/* 5.2.1: OnInit(); 5.3.1.1: EnterStartup(); 5.5.1: InitRoundCounting(). The times follow with the first segment: ww_bbr3_start(). */
static inline void ww_bbr3_init(struct ww_bbr3_state *bbr) {
    const struct ww_bbr3_state fresh = {{0, 0, 0},
                                        0,
                                        {0, 0},
                                        0,
                                        0,
                                        WW_BBR3_ANY_BW,
                                        0,
                                        WW_BBR3_ANY_BW,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        {0, 0, 0},
                                        {0, 0, 0},
                                        0,
                                        0,
                                        UINT32_MAX,
                                        UINT32_MAX,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        0,
                                        WW_BBR3_ANY_VOLUME,
                                        WW_BBR3_ANY_VOLUME,
                                        WW_BBR3_ANY_VOLUME,
                                        WW_BBR3_ANY_VOLUME,
                                        0,
                                        0,
                                        WW_BBR3_ANY_VOLUME,
                                        WW_BBR3_STARTUP,
                                        WW_BBR3_NONE,
                                        WW_BBR3_ACKS_INIT,
                                        0};
    *bbr = fresh;
}

/* 5.3.3.9: IsInAProbeBWState() */
static inline bool ww_bbr3_in_probe_bw(const struct ww_bbr3_state *bbr) {
    return bbr->mode >= WW_BBR3_DOWN && bbr->mode <= WW_BBR3_UP;
}

/* 5.3.3.9: IsProbingBW() */
static inline bool ww_bbr3_is_probing(const struct ww_bbr3_state *bbr) {
    return bbr->mode == WW_BBR3_STARTUP || bbr->mode == WW_BBR3_REFILL || bbr->mode == WW_BBR3_UP;
}

/* 2.2: "True if the connection has fully utilized C.cwnd at any point" */
static inline bool ww_bbr3_is_cwnd_limited(const struct ww_bbr3_state *bbr) {
    return ww_bbr3_is(bbr, WW_BBR3_CWND_LIMITED) || ww_bbr3_is(bbr, WW_BBR3_WAS_CWND_LIMITED);
}

static inline uint64_t ww_bbr3_max_bw(const struct ww_bbr3_state *bbr) {
    return ww_max_u64(bbr->max_bw[0], bbr->max_bw[1]);
}

/* Returns a share, in 1/1000, of a volume. */
static inline uint32_t ww_bbr3_share(uint32_t volume, uint32_t permille) {
    return (uint32_t)((uint64_t)volume * permille / WW_BBR3_UNIT);
}

#endif
