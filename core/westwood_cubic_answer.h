/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * How Westwood-CUBIC answers a loss: westwood_cubic.h has the equations, the state machine and the sources.
 */
#ifndef WW_WESTWOOD_CUBIC_ANSWER_H
#define WW_WESTWOOD_CUBIC_ANSWER_H

#include "westwood_cubic_evidence.h"

/* Returns B RTTmin in segments, rounded up; 0 if either is unknown. */
static inline uint32_t ww_wc_bdp(const struct ww_westwood_cubic_state *wc, uint32_t mss) {
    if (wc->rtt_min_us == UINT32_MAX) return 0;
    const uint64_t bytes = ww_bytes_in(ww_wc_bandwidth(wc), wc->rtt_min_us);
    return (uint32_t)ww_min_u64(ww_div(bytes + mss - 1, mss), WW_CWND_MAX);
}

/* Keeps what the path holds now as the window that growth by a share may reach. */
static inline void ww_wc_note_capacity(struct ww_westwood_cubic_state *wc, uint32_t mss) {
    wc->curve.capacity = (uint16_t)ww_min_u32(ww_wc_bdp(wc, mss), WW_WC_CAPACITY_MAX);
}

/* Returns true if the window was reduced in this recovery. */
static inline bool ww_wc_is_reduced(const struct ww_westwood_cubic_state *wc) {
    return wc->answer >= WW_WC_CUTS;
}

/* Returns true if the first slow start has ended. */
static inline bool ww_wc_has_started(const struct ww_westwood_cubic_state *wc) {
    return wc->start >= WW_WC_STARTED;
}

/* Returns the state that follows when a round ends. */
static inline uint8_t ww_wc_after_round(uint8_t answer) {
    if (answer == WW_WC_KEEPS) return WW_WC_WATCHES;
    if (answer == WW_WC_WAITS) return WW_WC_PRR;
    return answer;
}

/* Returns the new ssthresh: at most cwnd, at least min_cwnd. */
static inline uint32_t ww_wc_target(const struct ww_config *config,
                                    const struct ww_westwood_cubic_state *wc, uint32_t cwnd,
                                    uint32_t mss, enum ww_wc_cause cause) {
    uint64_t target = (uint64_t)cwnd * 7 / 10;
    const bool full = cause == WW_WC_MARK || ww_wc_is_congested(config, wc) ||
                      (cause == WW_WC_MANY && ww_wc_is_overload(config, wc));
    if (cwnd < config->wc_small && (full || ww_wc_has_started(wc))) {
        target = cwnd / 2;
    } else if (!full && cause == WW_WC_LOSS && !ww_wc_queue_stands(config, wc)) {
        target = cwnd;
    } else if (!full) {
        const uint64_t gain = config->wc_gain_permille;
        target = ww_max_u64(target, ww_wc_bdp(wc, mss) * gain / 1000);
        if (cause == WW_WC_MANY) target = ww_min_u64(target, cwnd * gain / 1000);
    }
    return ww_max_u32((uint32_t)ww_min_u64(cwnd, target), config->min_cwnd);
}

/* Ends the curve's stage with a reduction from cwnd: RFC 9438, 4.6 and 4.7. */
static inline void ww_wc_end_stage(struct ww_cubic_curve *curve, uint32_t cwnd) {
    const uint32_t scaled = cwnd << WW_CUBIC_FRACTION;
    curve->epoch_open = false;
    curve->cwnd_prior = cwnd;
    curve->w_max = scaled < curve->w_max ? (uint32_t)((uint64_t)scaled * 17 / 20) : scaled;
}

/*
 * Returns the window from which a further reduction starts: in recovery cwnd may be far below it
 * for a while.
 */
static inline uint32_t ww_wc_standing(const struct ww_westwood_cubic_state *wc,
                                      const struct ww_window *window) {
    const uint32_t cwnd =
        ww_wc_is_reduced(wc) ? ww_max_u32(window->cwnd, window->ssthresh) : window->cwnd;
    return ww_min_u32(cwnd, WW_CUBIC_CWND_MAX);
}

/* Keeps the largest window before doubtful reductions: the loss came at a low score. */
static inline void ww_wc_note_reduction(const struct ww_config *config,
                                        struct ww_westwood_cubic_state *wc, uint32_t cwnd,
                                        enum ww_wc_cause cause) {
    const bool is_doubtful = cause != WW_WC_MARK && ww_wc_score(wc) < WW_WC_HALF;
    wc->mistaken = is_doubtful && cwnd >= config->wc_small ? ww_max_u32(wc->mistaken, cwnd) : 0;
}

/* Restores the window from before reductions that the evidence no longer supports. */
static inline void ww_wc_take_back(const struct ww_config *config,
                                   struct ww_westwood_cubic_state *wc, struct ww_window *window) {
    if (ww_wc_is_reduced(wc) || !ww_wc_is_link(config, wc)) return;
    window->ssthresh = ww_max_u32(window->ssthresh, wc->mistaken);
    wc->mistaken = 0;
}

/*
 * Answers losses or a mark. In one recovery, CUBIC's stage ends only once, with the window at its
 * beginning.
 */
static inline void ww_wc_answer(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, uint32_t mss, enum ww_wc_cause cause) {
    const uint32_t cwnd = ww_wc_standing(wc, window);
    const bool was_reduced = ww_wc_is_reduced(wc);
    const uint32_t most = was_reduced ? window->ssthresh : WW_SSTHRESH_INFINITE;
    const uint32_t wanted = ww_min_u32(ww_wc_target(config, wc, cwnd, mss, cause), most);
    const uint32_t target = ww_max_u32(wanted, config->min_cwnd);
    if (cause == WW_WC_MANY) ww_wc_note_capacity(wc, mss);
    if (target >= cwnd) {
        if (cause != WW_WC_LOSS) {
            wc->answer = WW_WC_CUTS; /* min_cwnd allows no further reduction */
        } else if (!was_reduced) {
            wc->answer = WW_WC_KEEPS;
        }
        return;
    }
    ww_wc_note_reduction(config, wc, cwnd, cause);
    if (!was_reduced) ww_wc_end_stage(&wc->curve, cwnd);
    wc->answer = WW_WC_CUTS;
    wc->start = WW_WC_STARTED;
    window->ssthresh = target;
    window->cwnd = ww_min_u32(window->cwnd, target);
}

#endif
