/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * HyStart++ (RFC 9406): leaves the first slow start when the round trips grow, before packets are lost.
 *
 *   RttThresh  = clamp(lastRoundMinRTT / 8, 4 ms, 16 ms)                                     4.2
 *   slow start   with 8 samples in the round and currentRoundMinRTT >= lastRoundMinRTT +
 *                RttThresh: conservative slow start (CSS), cssBaselineMinRtt = currentRoundMinRTT
 *   CSS          cwnd grows at a quarter of slow start's pace; with 8 samples and
 *                currentRoundMinRTT < cssBaselineMinRtt back to slow start; after 5 rounds
 *                ssthresh = cwnd, here at least min_cwnd: a window may start with one segment
 *
 * A round ends when what was sent at its start is acknowledged (windowEnd). The quarter is kept by
 * growing on every fourth ACK. L, the limit of the growth an ACK, is ww_grow's (1, or 2 by RFC 3465).
 */
#ifndef WW_HYSTART_H
#define WW_HYSTART_H

#include "rounds.h"

struct ww_hystart_state {
    struct ww_rounds rounds;
    uint32_t last_min_rtt_us;    /* smallest RTT of the last round; UINT32_MAX: none */
    uint32_t current_min_rtt_us; /* smallest RTT of this round; UINT32_MAX: none */
    uint32_t baseline_us;        /* cssBaselineMinRtt; UINT32_MAX outside of CSS */
    uint8_t samples;             /* RTT samples in this round, saturating */
    uint8_t css_rounds;          /* rounds of conservative slow start so far */
    bool done;                   /* slow start was left for good */
};

#define WW_HYSTART_FRESH \
    { {0, 0}, UINT32_MAX, UINT32_MAX, UINT32_MAX, 0, 0, false }

enum {
    WW_HYSTART_SAMPLES = 8,
    WW_HYSTART_DIVISOR = 4,
    WW_HYSTART_ROUNDS = 5,
    WW_HYSTART_LEAST_US = 4000,
    WW_HYSTART_MOST_US = 16000,
};

static inline bool ww_hystart_in_css(const struct ww_hystart_state *state) {
    return state->baseline_us != UINT32_MAX;
}

/* Takes an ACK for new data in slow start. It may set ssthresh, which ends slow start. */
static inline void ww_hystart_on_ack(const struct ww_config *config, struct ww_hystart_state *state,
                                     struct ww_window *window, const struct ww_sample *sample) {
    if (state->done) return;
    if (ww_round_ends(&state->rounds, sample)) {
        state->last_min_rtt_us = state->current_min_rtt_us;
        state->current_min_rtt_us = UINT32_MAX;
        state->samples = 0;
        if (ww_hystart_in_css(state) && ++state->css_rounds >= WW_HYSTART_ROUNDS) {
            state->done = true;
            window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
            return;
        }
    }
    if (sample->rtt_us == 0) return;
    state->current_min_rtt_us = ww_min_u32(state->current_min_rtt_us, sample->rtt_us);
    if (state->samples < WW_HYSTART_SAMPLES) state->samples++;
    if (state->samples < WW_HYSTART_SAMPLES) return;
    if (ww_hystart_in_css(state)) {
        if (state->current_min_rtt_us >= state->baseline_us) return;
        state->baseline_us = UINT32_MAX; /* it was no congestion */
        state->css_rounds = 0;
    } else if (state->last_min_rtt_us != UINT32_MAX) {
        const uint32_t threshold = ww_min_u32(
            ww_max_u32(state->last_min_rtt_us / 8, WW_HYSTART_LEAST_US), WW_HYSTART_MOST_US);
        if (state->current_min_rtt_us >= state->last_min_rtt_us + threshold)
            state->baseline_us = state->current_min_rtt_us;
    }
}

/* Says whether an ACK may grow the window: in CSS every fourth may. `count` is 0..3 between them. */
static inline bool ww_hystart_may_grow(const struct ww_hystart_state *state, uint32_t *count) {
    if (state->done || !ww_hystart_in_css(state)) return true;
    if (++*count < WW_HYSTART_DIVISOR) return false;
    *count = 0;
    return true;
}

#endif
