/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* The state of a Westwood-CUBIC connection; westwood_cubic.h has the equations. */
#ifndef WW_WESTWOOD_CUBIC_STATE_H
#define WW_WESTWOOD_CUBIC_STATE_H

#include "cubic_curve.h"
#include "hystart_plus_plus.h"

/* What the losses of this recovery have led to so far. */
enum ww_wc_answer {
    WW_WC_WATCHES, /* nothing yet in this round */
    WW_WC_KEEPS,   /* the round's first losses left the window as it was */
    WW_WC_CUTS,    /* a reduction just now; the next ACK begins a round */
    WW_WC_WAITS,   /* a reduction less than a round ago: losses are of data sent before it */
    WW_WC_PRR,     /* a reduction more than a round ago */
};

/* How the window grows. */
enum ww_wc_start {
    WW_WC_DOUBLES, /* the first slow start */
    WW_WC_HOLDS,   /* the first slow start, waiting for the queue to build up or to drain */
    WW_WC_STARTED, /* the first slow start has ended */
    WW_WC_GROWS,   /* likewise, and the last ACK added a share of the window */
};

/* Why the window may have to be reduced. */
enum ww_wc_cause { WW_WC_LOSS, WW_WC_MANY, WW_WC_MARK };

enum {
    WW_WC_RATE_SHIFT = 13,           /* bandwidths are kept without this many low bits */
    WW_WC_FEW_LOST = 4,              /* up to so many losses in a round are few */
    WW_WC_DELAY_MAX = (1 << 20) - 1, /* us; longer queueing delays count as this */
    WW_WC_SAMPLES_MAX = 4095,        /* counted delays per round: their sum is below 2^32 */
    WW_WC_ROUNDS = 16,               /* rounds over which mean and deviation are taken */
    WW_WC_FEW_SCORES = 4,            /* no score has a weight above 1 / WW_WC_FEW_SCORES */
    WW_WC_NOISE_US = 16,             /* smaller distances from the mean are noise */
    WW_WC_CALM_PARTS = 512,          /* and this part of RTTmin where no packet waits */
    WW_WC_CAPACITY_MAX = 65535,      /* larger capacities count as this */
    WW_WC_SCORES = 32,               /* rounds with losses that the evidence covers */
    WW_WC_ZERO = 128,                /* score 0; -1 is 0 and 1 is 255 */
    WW_WC_HALF = 192,                /* score 1/2 */
    WW_WC_ONE = 128 << 8,            /* the score 0 as evidence; the score 1 is twice this */
};

struct ww_westwood_cubic_state {
    struct ww_common common; /* cwnd_count: segments << 8 that PRR still owes, below 1 */
    uint32_t last_ms;        /* time of the last ACK */
    struct ww_cubic_curve curve;
    uint32_t max_bw;       /* B, bandwidth >> WW_WC_RATE_SHIFT */
    uint32_t rtt_min_us;   /* UINT32_MAX: none */
    uint32_t srtt_us;      /* RTT of deliveries, smoothed by 7/8; 0: none */
    uint32_t round_end;    /* `delivered` that ends this round */
    uint32_t lost;         /* segments found lost in this round */
    uint32_t round_rtt_us; /* smallest RTT of this round; 0: none */
    uint32_t last_rtt_us;  /* smallest RTT of the last round */
    uint32_t mean_us;      /* mean of SRTT over WW_WC_ROUNDS rounds; 0: none */
    uint32_t dev_us;       /* mean distance of SRTT from mean_us */
    uint32_t delay_sum_us; /* sum of SRTT - RTTmin in this round */
    uint32_t away_sum_us;  /* sum of |SRTT - mean_us| in this round */
    uint32_t mistaken;     /* segments: largest window before doubtful reductions; 0: none */
    uint16_t samples;      /* RTTs in these sums */
    uint16_t evidence;     /* mean score << 8 */
    uint8_t scores;        /* number of scores in the evidence, at most WW_WC_SCORES */
    uint8_t rounds;        /* number of rounds in mean_us, at most WW_WC_ROUNDS */
    uint8_t answer;        /* enum ww_wc_answer */
    uint8_t start;         /* enum ww_wc_start */
};

static inline void ww_wc_init(struct ww_westwood_cubic_state *wc) {
    /* clang-format off */
    const struct ww_westwood_cubic_state fresh = {
        {0, 0, 0}, 0, {0, 0, 0, 0, 0, 0, false, false, 0}, 0, UINT32_MAX, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        WW_WC_ONE + WW_WC_ONE / 4, 0, 0, WW_WC_WATCHES, WW_WC_DOUBLES};
    /* clang-format on */
    *wc = fresh;
}

#endif
