/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The state of a BBRv1 connection, and its constants; bbr.h has their sources. */
#ifndef WW_BBR_STATE_H
#define WW_BBR_STATE_H

#include "bbr_policer.h"

enum ww_bbr_mode { WW_BBR_STARTUP, WW_BBR_DRAIN, WW_BBR_PROBE_BW, WW_BBR_PROBE_RTT };

enum ww_bbr_flag {
    WW_BBR_FULL = 1,          /* the pipe was filled once */
    WW_BBR_ROUND_START = 2,   /* this ACK begins a round */
    WW_BBR_CONSERVATION = 4,  /* first round of fast recovery */
    WW_BBR_RECOVERING = 8,    /* cwnd must be restored */
    WW_BBR_AT_FLOOR = 16,     /* PROBE_RTT: probe_rtt_done_us is set */
    WW_BBR_FLOOR_ROUND = 32,  /* PROBE_RTT: a round has passed */
    WW_BBR_SECOND_EXTRA = 64, /* extra_acked[1] holds the current maximum */
};

enum {
    WW_BBR_UNIT = 256,      /* gains are in 1/256 */
    WW_BBR_HIGH_GAIN = 739, /* 2 / ln 2 */
    WW_BBR_DRAIN_GAIN = 88, /* ln 2 / 2 */
    WW_BBR_CWND_GAIN = 512,
    WW_BBR_BW_ROUNDS = 10,
    WW_BBR_CYCLE = 8,
    WW_BBR_MIN_CWND = 4,
    WW_BBR_FULL_ROUNDS = 3,
    WW_BBR_MARGIN = 99, /* pacing, in % of the rate */
    WW_BBR_EXTRA_ROUNDS = 5,
    WW_BBR_EXTRA_US = 100000,
    WW_BBR_EPOCH_MAX = 1 << 20, /* segments */
};
#define WW_BBR_RTPROP_US UINT32_C(10000000)
#define WW_BBR_PROBE_RTT_US UINT32_C(200000)
#define WW_BBR_LONG_AGO (UINT32_C(1) << 30) /* segments; more than are ever in flight */

struct ww_bbr_state {
    struct ww_common common;
    uint32_t rtprop_at_us; /* when rtprop_us was measured; wraps */
    uint64_t max_bw[3]; /* best, second and third best of the window, bytes/s << WW_BW_FRACTION */
    uint64_t full_bw;   /* reference for STARTUP's growth, bytes/s << WW_BW_FRACTION */
    uint32_t rtprop_us; /* smallest RTT of the last 10 s; UINT32_MAX before the first */
    uint32_t rounds;    /* round trips so far */
    uint32_t round_end; /* `delivered` that ends this round */
    uint32_t limited_until;     /* samples of data sent before this `delivered` are limited */
    uint32_t cycle_at_us;       /* when this phase of PROBE_BW began; wraps */
    uint32_t probe_rtt_done_us; /* when PROBE_RTT may end; wraps */
    uint32_t conserved;         /* pipe + delivered after the last ACK: cwnd on entering recovery */
    uint32_t delivered;         /* `delivered` of the last ACK */
    uint32_t epoch_us;          /* when the epoch of ACK aggregation began; wraps */
    uint32_t epoch_acked;       /* segments acknowledged in this epoch */
    uint16_t max_bw_round[3];   /* the round in which each of max_bw was measured; wraps */
    uint16_t extra_acked[2];    /* most extra segments, in two adjacent windows of rounds */
    uint8_t mode;               /* enum ww_bbr_mode */
    uint8_t cycle;              /* phase of PROBE_BW, 0..7 */
    uint8_t full_rounds;        /* rounds without growth */
    uint8_t extra_rounds;       /* rounds since the windows of extra_acked changed */
    uint8_t flags;              /* enum ww_bbr_flag */
    struct ww_bbr_policer policer;
};

static inline void ww_bbr_init(struct ww_bbr_state *bbr) {
    const struct ww_bbr_state fresh = {{0, 0, 0},
                                       0,
                                       {0, 0, 0},
                                       0,
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
                                       {0, 0, 0},
                                       {0, 0},
                                       WW_BBR_STARTUP,
                                       0,
                                       0,
                                       0,
                                       0,
                                       WW_BBR_NO_POLICER};
    *bbr = fresh;
}

static inline bool ww_bbr_is(const struct ww_bbr_state *bbr, enum ww_bbr_flag flag) {
    return (WW_READ(bbr->flags) & flag) != 0;
}

static inline void ww_bbr_set(struct ww_bbr_state *bbr, enum ww_bbr_flag flag, bool on) {
    bbr->flags = (uint8_t)(on ? bbr->flags | flag : bbr->flags & ~(unsigned)flag);
}

#endif
