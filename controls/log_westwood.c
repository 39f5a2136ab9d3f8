/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * LogWestwood+: Westwood+ that returns quickly to the window where the last loss was (Kliazovich 2008)
 *
 *   an ACK, cwnd < Wmax   cwnd += max((Wmax - cwnd) / (alpha cwnd), 1 / cwnd)   per segment acknowledged
 *   an ACK, otherwise     cwnd += 1 / cwnd
 *   a loss                Wmax = cwnd; cwnd = ssthresh = max(2, BWE RTTmin / MSS), as Westwood+
 *   a timeout             as Westwood+
 *
 * In a round trip the distance to Wmax shrinks by a factor e^(-1 / alpha), so the way up is logarithmic in Wmax.
 *
 * Source: D. Kliazovich, F. Granelli, D. Miorandi: Logarithmic window increase for TCP Westwood+ for improvement in
 *   high speed, long distance networks, Computer Networks 52, 2008. The equation was read in two models for ns-3,
 *   which agree on it.
 * Deviations: alpha is constant. The models change it, in different ways, and the paper's rule could not be read.
 *   Everything else, with the estimator, is that of westwood+ in core/.
 */
#define WW_STATE log_westwood
#define WW_PARAMETERS(X) \
    X(alpha, 2, 1, 1000, "Round trips in which the distance to Wmax shrinks to 37 %")
#define WW_QUANTITIES(X) X(w_max, "segments", "cwnd at the last loss")
#include "control.h"
#include "westwood_family.h"

struct log_westwood {
    union {
        struct ww_common common;
        struct ww_westwood_state westwood;
    };
    uint32_t w_max;    /* 0: no loss so far */
    uint32_t fraction; /* of cwnd, in 2^-32 segments */
};

static void init(const struct ww_config *config, struct log_westwood *state) {
    WW_WESTWOOD_INIT(&state->westwood);
}

static void on_ack(const struct ww_config *config, struct log_westwood *state,
                   struct ww_window *window, const struct ww_sample *ack) {
    const bool is_below = window->cwnd >= window->ssthresh && window->cwnd < state->w_max;
    if (!is_below) {
        WW_WESTWOOD_ON_ACK(config, &state->westwood, window, ack);
        return;
    }
    ww_estimator_on_ack(config, &state->westwood, ack);
    if (!ww_may_grow(ack) || (config->validate_cwnd && !ack->is_cwnd_limited)) return;
    const uint64_t wanted = (uint64_t)(state->w_max - window->cwnd) << 32; /* below 2^60 */
    const uint64_t share = ww_div(wanted, (uint64_t)ww_parameters(config)->alpha * window->cwnd);
    const uint64_t each = ww_max_u64(share, ww_div(UINT64_C(1) << 32, window->cwnd));
    const uint64_t sum = state->fraction + ww_min_u64(each, UINT64_C(1) << 40) *
                                               ww_min_u32(ack->acked_segments, UINT16_MAX);
    window->cwnd = (uint32_t)ww_min_u64(window->cwnd + (sum >> 32), state->w_max);
    state->fraction = (uint32_t)sum;
}

static void on_loss(const struct ww_config *config, struct log_westwood *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    state->w_max = window->cwnd;
    state->fraction = 0;
    WW_WESTWOOD_ON_LOSS(config, &state->westwood, window, now_us, in_flight, mss);
}

static void on_recovery_exit(const struct ww_config *config, struct log_westwood *state,
                             struct ww_window *window, uint64_t now_us, uint32_t mss) {
    WW_WESTWOOD_ON_RECOVERY_EXIT(config, &state->westwood, window, now_us, mss);
}

static void on_rto(const struct ww_config *config, struct log_westwood *state,
                   struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss,
                   bool repeated) {
    if (!repeated) state->w_max = window->cwnd;
    WW_WESTWOOD_ON_RTO(config, &state->westwood, window, now_us, in_flight, mss, repeated);
}

static void on_undo(const struct ww_config *config, struct log_westwood *state,
                    struct ww_window *window) {
    WW_WESTWOOD_ON_UNDO(config, &state->westwood, window);
}

static struct ww_observation estimate(const struct ww_config *config,
                                      const struct log_westwood *state, uint64_t now_us) {
    return WW_WESTWOOD_OBSERVE(config, &state->westwood, now_us);
}

static void observe(const struct ww_config *config, const struct log_westwood *state,
                    uint64_t now_us, struct ww_quantities *seen) {
    seen->w_max = state->w_max;
}

WW_CONTROL("LogWestwood+", WW_WESTWOOD_TRAITS, .like = WW_PROTOCOL_WESTWOOD_PLUS, .init = init,
           .on_ack = on_ack, .on_loss = on_loss, .on_recovery_exit = on_recovery_exit,
           .on_rto = on_rto, .on_undo = on_undo, .estimate = estimate, .observe = observe)
