/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood and Westwood+: after a loss the window becomes what the path was measured to carry.
 *
 *   3 DUPACKs   ssthresh = max(2, BWE * RTTmin / MSS)
 *               cwnd = min(cwnd, ssthresh)        Westwood: Mascolo 2001; Gangadhar 2013, 3.2.2 DupAck
 *               cwnd = ssthresh                   Westwood+: Dell'Aera 2003, 2.1
 *   timeout     ssthresh = max(2, BWE * RTTmin / MSS), cwnd = 1
 *   ACKs        as Reno
 *
 * Which of the two it is, is the estimator's sampler and filter: see presets.h.
 * Before the first sample there is nothing to set a window from: the floor of 2 segments, as in
 * Linux. Deviation: Mascolo 2001 states the floor for timeouts only; a window of 0 cannot be meant.
 *
 * WestwoodNR+ (Frikha 2005) replaces the fall after 3 DUPACKs by a plateau, if cwnd > ssthresh:
 *
 *   plateau = ssthresh + (cwnd - ssthresh) / cte                              equations 1 and 6
 *   counter = ssthresh                                                        equation 2
 *   a new ACK: counter += 1 / counter                                         equation 3
 *              cwnd = plateau while counter < plateau, else counter           equations 4 and 5
 *
 * The counter grows as congestion avoidance would have; once it has reached the plateau the two are
 * one and growth goes on as Reno's. Equation 4 sets cwnd on every ACK, also where recovery left it
 * lower. A timeout ends the plateau (Frikha 2005, section 2: cwnd = 1).
 *
 * Linux (tcp_westwood.c): fast recovery runs on Reno's ssthresh; when it completes, cwnd = ssthresh =
 * BWE * RTTmin, upwards too; after a timeout RTTmin starts anew: `halve_on_loss`, `set_at_exit`, `reset_rtt_min`.
 * Linux 2.4's (Dell'Aera 2003, 2.2) has `set_at_exit` only.
 */
#ifndef WW_WESTWOOD_FAMILY_H
#define WW_WESTWOOD_FAMILY_H

#include "estimator.h"
#include "reno.h"

static inline void ww_westwood_init(struct ww_westwood_state *state) {
    const struct ww_westwood_state fresh = {0,          0, 0, 0, 0, 0,     0,
                                            UINT32_MAX, 0, 0, 0, 0, false, false};
    *state = fresh;
}

/* BWE * RTTmin / MSS, rounded down: a part of a segment cannot be in flight. */
static inline uint32_t ww_westwood_pipe(const struct ww_config *config,
                                        const struct ww_westwood_state *state, uint64_t now_us,
                                        uint32_t mss) {
    if (state->samples == 0 || state->rtt_min_us == UINT32_MAX) return config->min_cwnd;
    const uint64_t pipe_bytes =
        ww_bytes_in(ww_filter_read(config, state, now_us), state->rtt_min_us);
    const uint64_t segments = ww_min_u64(ww_div(pipe_bytes, mss), WW_CWND_MAX);
    return ww_max_u32((uint32_t)segments, config->min_cwnd);
}

/* Frikha 2005, equations 3 to 5. */
static inline void ww_plateau_grow(const struct ww_config *config, struct ww_state *state,
                                   struct ww_window *window, const struct ww_sample *sample) {
    struct ww_westwood_state *const westwood = &state->westwood;
    struct ww_window counter = {westwood->counter, westwood->counter, 0};
    ww_grow(config, state, &counter, sample);
    westwood->counter = counter.cwnd;
    window->cwnd = ww_max_u32(westwood->plateau, westwood->counter);
    if (westwood->counter >= westwood->plateau) westwood->plateau = 0;
}

static inline void ww_westwood_on_ack(const struct ww_config *config, struct ww_state *state,
                                      struct ww_window *window, const struct ww_sample *sample) {
    ww_estimator_on_ack(config, &state->westwood, sample);
    if (!ww_may_grow(sample)) return;
    if (state->westwood.plateau != 0)
        ww_plateau_grow(config, state, window, sample);
    else
        ww_grow(config, state, window, sample);
}

/* The windows after 3 DUPACKs, window->ssthresh being set already. */
static inline void ww_westwood_on_loss(const struct ww_config *config, struct ww_state *state,
                                       struct ww_window *window) {
    struct ww_westwood_state *const westwood = &state->westwood;
    westwood->plateau = 0;
    if (config->cte_permille != 0 && window->cwnd > window->ssthresh) {
        const uint64_t fall = window->cwnd - window->ssthresh; /* 2^28 * 1000 < 2^38 */
        westwood->plateau = window->ssthresh + (uint32_t)ww_div(fall * 1000, config->cte_permille);
        westwood->counter = window->ssthresh;
        window->cwnd = westwood->plateau;
    } else if (config->set_cwnd_on_loss) {
        window->cwnd = window->ssthresh;
    } else {
        window->cwnd = ww_min_u32(window->cwnd, window->ssthresh);
    }
}

static inline void ww_westwood_on_rto(const struct ww_config *config,
                                      struct ww_westwood_state *state) {
    state->plateau = 0;
    state->rtt_min_stale = config->reset_rtt_min;
}

#endif
