/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Jersey: congestion sets the window to the measured rate times the round trip; other losses do not (Xu 2004)
 *
 *   each ACK    R = (Tw R' + L) / (t - t' + Tw), Tw = K RTT     L bytes acknowledged, t' and R' at the ACK before
 *   congestion  ssthresh = max(R RTT / MSS, 2), cwnd = ssthresh
 *   a loss      congestion, unless `warned`: then only marks are, and a loss leaves the window
 *   an ACK      as Reno
 *
 * The paper's routers mark all packets while their average queue is long ("congestion warning"). Where queues
 * mark, set tcp.ecn and warned = 1: an unmarked loss is then the link's.
 *
 * Source: K. Xu, Y. Tian, N. Ansari: TCP-Jersey for wireless IP communications, IEEE JSAC 22(4), 2004. The
 *   paper's equations were read in the model of V. Jain, S. Jain, M. Tahiliani for ns-3 (2017).
 * Deviations: `warned` is 0 by default, because without marks nothing else would tell of congestion. R is updated
 *   on each ACK; the model for ns-3 does so once a round trip, with the time since the last ACK.
 */
#define WW_STATE jersey
#define WW_PARAMETERS(X)                                         \
    X(k, 1, 1, 16, "Time constant of the estimate, round trips") \
    X(warned, 0, 0, 1, "1: only marks mean congestion, and losses do not")
#include "control.h"

struct jersey {
    struct ww_common common;
    uint32_t rtt_us;  /* the latest; 0: none */
    uint64_t rate;    /* R */
    uint64_t last_us; /* t' */
    uint32_t samples;
};

static void on_ack(const struct ww_config *config, struct jersey *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (ack->rtt_us != 0) state->rtt_us = ack->rtt_us;
    if (state->rtt_us != 0 && ack->acked_segments != 0) {
        const uint64_t tw_us = (uint64_t)state->rtt_us * ww_parameters(config)->k;
        const uint64_t since_us = state->samples == 0 ? 0 : ww_since(state->last_us, ack->now_us);
        const uint64_t bytes = (uint64_t)ack->acked_segments * ack->mss;
        const uint32_t span_us = (uint32_t)ww_min_u64(tw_us, UINT32_MAX);
        state->rate = ww_rate(ww_bytes_in(state->rate, span_us) + bytes,
                              tw_us + ww_min_u64(since_us, UINT32_MAX));
        state->last_us = ack->now_us;
        state->samples = ww_min_u32(state->samples, UINT32_MAX - 1) + 1;
    }
    if (ww_may_grow(ack)) ww_grow(config, &state->common, window, ack);
}

static uint32_t carried(const struct ww_config *config, const struct jersey *state, uint32_t mss) {
    const uint64_t segments = ww_div(ww_bytes_in(state->rate, state->rtt_us), mss);
    return ww_max_u32((uint32_t)ww_min_u64(segments, WW_CWND_MAX), config->min_cwnd);
}

static void on_loss(const struct ww_config *config, struct jersey *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    if (ww_parameters(config)->warned) return;
    ww_reno_on_loss(&state->common, window, ww_min_u32(window->cwnd, carried(config, state, mss)));
    window->ssthresh = ww_max_u32(window->ssthresh, config->min_cwnd);
}

static void on_mark(const struct ww_config *config, struct jersey *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_reno_on_loss(&state->common, window, ww_min_u32(window->cwnd, carried(config, state, mss)));
    window->ssthresh = ww_max_u32(window->ssthresh, config->min_cwnd);
}

static void on_rto(const struct ww_config *config, struct jersey *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    ww_reno_on_rto(&state->common, window, carried(config, state, mss), repeated);
}

static struct ww_observation estimate(const struct ww_config *config, const struct jersey *state,
                                      uint64_t now_us) {
    const struct ww_observation seen = {
        state->rate, state->rate, state->rtt_us == 0 ? UINT32_MAX : state->rtt_us, state->samples};
    return seen;
}

WW_CONTROL("Jersey", WW_ESTIMATES, .on_ack = on_ack, .on_loss = on_loss, .on_mark = on_mark,
           .on_rto = on_rto, .estimate = estimate)
