/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Illinois: loss decides when the window falls, delay how fast it grows and how far it falls (Liu 2008)
 *
 *   once a round trip: da, the mean queueing time of its samples; dm, the largest of the connection
 *   alpha = 10                                                       da <= 0.01 dm
 *   alpha = 10 dm' / (dm' + da' (10 - 0.3) / 0.3)                    else; dm' = dm - 0.01 dm, da' = da - 0.01 dm
 *   beta = 1/8                                                       da <= 0.1 dm
 *   beta = (2 dm + 15 da) / (28 dm)                                  between
 *   beta = 1/2                                                       da >= 0.8 dm
 *   an ACK    cwnd += alpha / cwnd per segment acknowledged
 *   a loss    cwnd -= beta cwnd
 *   alpha = 1, beta = 1/2 below 15 segments and after a timeout
 *
 * At da = dm alpha is 0.3. Once da was above 0.01 dm, alpha returns to 10 after five round trips below it.
 *
 * Source: S. Liu, T. Basar, R. Srikant: TCP-Illinois: a loss- and delay-based congestion control algorithm for
 *   high-speed networks, Performance Evaluation 65, 2008, section 3. Read in Linux's tcp_illinois.c.
 * Deviations: an ACK counts for the segments it acknowledges. A round trip is counted in segments. ns-3 compares
 *   bytes with the window of 15 segments, and counts delays in whole milliseconds.
 */
#define WW_STATE illinois
#define WW_PARAMETERS(X)                                                      \
    X(least_window, 15, 0, 65535, "Segments; below, alpha is 1 and beta 1/2") \
    X(theta, 5, 1, 255, "Round trips without a queue before alpha is 10 again")
#define WW_QUANTITIES(X)                                                   \
    X(alpha, "thousandths", "Segments that cwnd grows by in a round trip") \
    X(beta, "thousandths", "Share of the window that a loss takes")
#include "control.h"
#include "rounds.h"

#define ONE 65536u
#define ALPHA_MOST (10 * ONE)
#define BETA_MOST (ONE / 2)

struct illinois {
    struct ww_common common;
    uint32_t fraction; /* of cwnd, in 2^-32 segments */
    struct ww_rounds rounds;
    uint64_t rtt_sum_us; /* of the samples of this round trip */
    uint32_t rtts;       /* how many */
    uint32_t rtt_min_us; /* 0: none */
    uint32_t rtt_max_us;
    uint32_t alpha, beta; /* in units of 1 / ONE */
    uint8_t low;          /* round trips without a queue */
    bool was_above;       /* the queueing time was above 0.01 dm */
};

static void init(const struct ww_config *config, struct illinois *state) {
    state->alpha = ALPHA_MOST;
    state->beta = BETA_MOST;
}

static void set_alpha(const struct ww_config *config, struct illinois *state, uint64_t da,
                      uint64_t dm) {
    const uint64_t d1 = dm / 100;
    if (da > d1) {
        state->was_above = true;
        state->low = 0;
        const uint64_t top = 3 * (dm - d1), delay = 97 * (da - d1); /* (10 - 0.3) / 0.3 = 97 / 3 */
        state->alpha = (uint32_t)ww_div(top * ALPHA_MOST, top + delay);
    } else if (!state->was_above || ++state->low >= ww_parameters(config)->theta) {
        state->low = 0;
        state->was_above = false;
        state->alpha = ALPHA_MOST;
    }
}

static uint32_t beta_of(uint64_t da, uint64_t dm) {
    if (10 * da <= dm) return ONE / 8;
    if (10 * da >= 8 * dm) return BETA_MOST;
    return (uint32_t)ww_div((2 * dm + 15 * da) * ONE, 28 * dm); /* 2^37 * 2^16 */
}

static void end_round(const struct ww_config *config, struct illinois *state, uint32_t cwnd) {
    if (cwnd < ww_parameters(config)->least_window) {
        state->alpha = ONE;
        state->beta = BETA_MOST;
    } else if (state->rtts != 0) {
        const uint64_t mean = state->rtt_sum_us / state->rtts;
        const uint64_t da = ww_minus(mean, state->rtt_min_us);
        const uint64_t dm = ww_minus(state->rtt_max_us, state->rtt_min_us);
        set_alpha(config, state, da, dm);
        state->beta = beta_of(da, dm);
    }
    state->rtt_sum_us = state->rtts = 0;
}

static void on_ack(const struct ww_config *config, struct illinois *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (ack->rtt_us != 0) {
        state->rtt_min_us = ww_least_rtt(state->rtt_min_us, ack->rtt_us);
        state->rtt_max_us = ww_max_u32(state->rtt_max_us, ack->rtt_us);
        state->rtt_sum_us += ack->rtt_us;
        state->rtts++;
    }
    if (ww_round_ends(&state->rounds, ack)) end_round(config, state, window->cwnd);
    if (!ww_may_grow(ack)) return;
    if (window->cwnd < window->ssthresh) {
        ww_grow(config, &state->common, window, ack);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    const uint64_t each = ww_div((uint64_t)state->alpha << 16, window->cwnd); /* below 2^36 */
    const uint64_t sum = state->fraction + each * ww_min_u32(ack->acked_segments, UINT16_MAX);
    window->cwnd = (uint32_t)ww_min_u64(window->cwnd + (sum >> 32), WW_CWND_MAX);
    state->fraction = (uint32_t)sum;
}

static uint32_t left_after(const struct ww_config *config, const struct illinois *state,
                           uint32_t in_flight) {
    const uint64_t flight = ww_min_u32(in_flight, WW_CWND_MAX);
    return ww_max_u32((uint32_t)(flight * (ONE - state->beta) / ONE), config->min_cwnd);
}

static void on_loss(const struct ww_config *config, struct illinois *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    state->fraction = 0;
    ww_reno_on_loss(&state->common, window, left_after(config, state, in_flight));
}

static void on_rto(const struct ww_config *config, struct illinois *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    ww_reno_on_rto(&state->common, window, left_after(config, state, in_flight), repeated);
    state->alpha = ONE;
    state->beta = BETA_MOST;
    state->low = 0;
    state->was_above = false;
    state->rtt_sum_us = state->rtts = state->fraction = 0;
}

static void observe(const struct ww_config *config, const struct illinois *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->alpha = (uint64_t)state->alpha * 1000 / ONE;
    seen->beta = (uint64_t)state->beta * 1000 / ONE;
}

WW_CONTROL("Illinois", 0, .init = init, .on_ack = on_ack, .on_loss = on_loss, .on_rto = on_rto,
           .observe = observe)
