/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Reno: slow start, congestion avoidance and multiplicative decrease.
 *
 *   slow start            cwnd < ssthresh: cwnd += 1 an ACK                 RFC 5681, 3.1, eq. 2
 *   congestion avoidance  cwnd += 1 a window's worth of ACKs                RFC 5681, 3.1
 *   byte counting         slow start += min(acked, L), L = 2, after a timeout L = 1;
 *                         congestion avoidance += 1 a window of data        RFC 3465, 2.1 - 2.3
 *   batched ACKs          slow start += acked up to ssthresh, the rest of them to congestion
 *                         avoidance, += 1 a window of them                  Linux, tcp_cong.c
 *   loss                  ssthresh = max(flight / 2, 2), cwnd = ssthresh    RFC 5681, 3.1, eq. 4
 *   timeout               the same ssthresh, cwnd = 1; a second timeout of one segment holds ssthresh
 *
 * The growth is the family's as well: "cwnd increases as stated in RFC 2581" (Dell'Aera 2003, 2.1). Windows
 * are whole segments; the fraction is a counter, as in 4.4BSD and Linux.
 * The inflation by duplicate ACKs (RFC 5681, 3.2) belongs to the host's recovery.
 */
#ifndef WW_RENO_H
#define WW_RENO_H

#include "arith.h"

/* Only an ACK for new data opens the window, and in fast recovery the host's recovery owns it. */
static inline bool ww_may_grow(const struct ww_sample *sample) {
    return !sample->is_dupack && sample->acked_segments != 0 && sample->phase != WW_RECOVERY;
}

/*
 * For hosts that merge ACKs (GRO), where growth once an ACK, or by at most 2, is next to none. Each
 * segment opens the window by no more than an ACK of its own would have.
 */
static inline void ww_grow_by_batch(struct ww_state *state, struct ww_window *window,
                                    uint32_t segments) {
    segments = ww_min_u32(segments, WW_CWND_MAX);
    if (window->cwnd < window->ssthresh) {
        const uint32_t opened = ww_min_u32(segments, window->ssthresh - window->cwnd);
        window->cwnd = ww_min_u32(window->cwnd + opened, WW_CWND_MAX);
        segments -= opened;
    }
    if (state->cwnd_count >= window->cwnd) { /* counted towards a larger window than this one */
        state->cwnd_count = 0;
        window->cwnd = ww_min_u32(window->cwnd + 1, WW_CWND_MAX);
    }
    state->cwnd_count += segments; /* below 2 * WW_CWND_MAX */
    const uint32_t steps = (uint32_t)ww_div(state->cwnd_count, window->cwnd);
    state->cwnd_count -= steps * window->cwnd;
    window->cwnd = ww_min_u32(window->cwnd + steps, WW_CWND_MAX);
}

static inline void ww_grow(const struct ww_config *config, struct ww_state *state,
                           struct ww_window *window, const struct ww_sample *sample) {
    if (config->validate_cwnd && !sample->is_cwnd_limited) return;
    if (config->batched_acks) {
        ww_grow_by_batch(state, window, sample->acked_segments);
        return;
    }
    const bool slow_start = window->cwnd < window->ssthresh;
    uint32_t credit = 1;
    if (config->byte_counting) {
        const uint32_t limit = sample->phase == WW_LOSS ? 1 : 2;
        credit = slow_start ? ww_min_u32(sample->acked_segments, limit) : sample->acked_segments;
    }
    if (slow_start) {
        window->cwnd = ww_min_u32(window->cwnd + credit, WW_CWND_MAX);
        return;
    }
    state->cwnd_count += ww_min_u32(credit, WW_CWND_MAX); /* below 2 * WW_CWND_MAX */
    if (state->cwnd_count >= window->cwnd) {
        state->cwnd_count -= window->cwnd;
        /* An ACK that covers several windows grows by one: RFC 5681 allows one segment a round trip. */
        if (state->cwnd_count >= window->cwnd) state->cwnd_count = 0;
        window->cwnd = ww_min_u32(window->cwnd + 1, WW_CWND_MAX);
    }
}

static inline uint32_t ww_reno_ssthresh(const struct ww_config *config, uint32_t in_flight) {
    return ww_max_u32(ww_min_u32(in_flight / 2, WW_CWND_MAX), config->min_cwnd);
}

#endif
