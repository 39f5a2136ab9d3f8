/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * HyStart++ (RFC 9406): leaves the first slow start when round trips grow, before packets are lost.
 *
 *   RttThresh  = clamp(lastRoundMinRTT / 8, 4 ms, 16 ms)                                     4.2
 *   slow start   with 8 samples in the round and currentRoundMinRTT >= lastRoundMinRTT +
 *                RttThresh: conservative slow start (CSS), cssBaselineMinRtt = currentRoundMinRTT
 *   CSS          cwnd grows at a quarter of slow start's pace; with 8 samples and
 *                currentRoundMinRTT < cssBaselineMinRtt back to slow start; after 5 rounds
 *                ssthresh = cwnd, here at least min_cwnd: a window may start with one segment
 *
 * A round ends when what was sent at its start is acknowledged (windowEnd). CSS grows on every fourth ACK,
 * which gives the quarter. L, the limit of the growth per ACK, is that of ww_grow (1, or 2 by RFC 3465).
 */
#ifndef WW_HYSTART_PLUS_PLUS_H
#define WW_HYSTART_PLUS_PLUS_H

#include "rounds.h"

/* A zeroed state is the start. */
struct ww_hystart_plus_plus_state {
    struct ww_rounds rounds;
    uint32_t last_min_rtt_us;    /* smallest RTT of the last round; 0: none */
    uint32_t current_min_rtt_us; /* smallest RTT of this round; 0: none */
    uint32_t baseline_us;        /* cssBaselineMinRtt; 0 outside of CSS */
    uint8_t samples;             /* RTT samples in this round, saturating */
    uint8_t css_rounds;          /* rounds of conservative slow start so far */
    bool done;                   /* HyStart++ has ended slow start */
};

enum {
    WW_HYSTART_SAMPLES = 8, /* HyStart has the same */
    WW_HYSTART_LEAST_US = 4000,
    WW_HYSTART_MOST_US = 16000,
    WW_CSS_DIVISOR = 4,
    WW_CSS_ROUNDS = 5,
};

/* Returns by how much the round trip must exceed this one to show a queue. */
static inline uint32_t ww_hystart_threshold(uint32_t rtt_us) {
    return ww_min_u32(ww_max_u32(rtt_us / 8, WW_HYSTART_LEAST_US), WW_HYSTART_MOST_US);
}

static inline bool ww_in_css(const struct ww_hystart_plus_plus_state *state) {
    return state->baseline_us != 0;
}

/* Takes an ACK for new data in the first slow start. It may set ssthresh, which ends slow start. */
static inline void ww_hystart_plus_plus_on_ack(const struct ww_config *config,
                                               struct ww_hystart_plus_plus_state *state,
                                               struct ww_window *window,
                                               const struct ww_sample *sample) {
    if (state->done) return;
    if (ww_round_ends(&state->rounds, sample)) {
        state->last_min_rtt_us = state->current_min_rtt_us;
        state->current_min_rtt_us = 0;
        state->samples = 0;
        if (ww_in_css(state) && ++state->css_rounds >= WW_CSS_ROUNDS) {
            state->done = true;
            window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
            return;
        }
    }
    if (sample->rtt_us == 0) return;
    state->current_min_rtt_us = ww_least_rtt(state->current_min_rtt_us, sample->rtt_us);
    if (state->samples < WW_HYSTART_SAMPLES) state->samples++;
    if (state->samples < WW_HYSTART_SAMPLES) return;
    if (ww_in_css(state)) {
        if (state->current_min_rtt_us >= state->baseline_us) return;
        state->baseline_us = 0; /* it was not congestion */
        state->css_rounds = 0;
    } else if (state->last_min_rtt_us != 0 &&
               state->current_min_rtt_us >= (uint64_t)state->last_min_rtt_us +
                                                ww_hystart_threshold(state->last_min_rtt_us)) {
        state->baseline_us = state->current_min_rtt_us;
    }
}

/*
 * Returns true if an ACK may grow the window: in CSS, every fourth one. `count` is 0..3 in between.
 */
static inline bool ww_css_may_grow(const struct ww_hystart_plus_plus_state *state,
                                   uint32_t *count) {
    if (state->done || !ww_in_css(state)) return true;
    if (++*count < WW_CSS_DIVISOR) return false;
    *count = 0;
    return true;
}

#endif
