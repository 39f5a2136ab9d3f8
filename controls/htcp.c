/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * H-TCP: the longer since the last loss, the faster the window grows (Leith & Shorten 2004)
 *
 *   D, the time since the last loss; Dl = 1 s
 *   alpha = 1                                        D <= Dl
 *   alpha = 1 + 10 (D - Dl) + ((D - Dl) / 2)^2       D > Dl, in seconds
 *   an ACK   cwnd += 2 (1 - beta) alpha / cwnd       per segment acknowledged
 *   a loss   cwnd = beta cwnd
 *   beta = RTTmin / RTTmax, from 0.5 to 0.8, if the throughput before this loss is within 20 % of that before
 *     the loss before it; else 0.5. RTTmax is the largest since the last loss.
 *   scaled   alpha RTTmin / 100 ms, the factor from 0.1 to 2, so that flows with other round trips keep up
 *
 * Source: D. Leith, R. Shorten: H-TCP: TCP for high-speed and long-distance networks, PFLDnet 2004;
 *   draft-leith-tcp-htcp. Read in Linux's tcp_htcp.c.
 * Deviations: the throughput is that of the last whole round trip; Linux smooths it and takes the largest since the
 *   loss. RTTmax begins anew after each loss; in Linux it falls by 5 % of the queueing time. Linux scales alpha by
 *   default; here `scaled` does, as it is optional in the draft.
 */
#define WW_STATE htcp
#define WW_PARAMETERS(X) X(scaled, 0, 0, 1, "1: alpha is proportional to the round trip")
#define WW_QUANTITIES(X)                                                   \
    X(alpha, "thousandths", "Segments that cwnd grows by in a round trip") \
    X(beta, "thousandths", "Share of the window that the last loss left")
#include "control.h"
#include "rounds.h"

#define ONE 1024u
#define BETA_LEAST (ONE / 2)
#define BETA_MOST (ONE * 8 / 10)
#define QUIET_US 1000000u   /* Dl */
#define LONGEST_MS 1000000u /* more counts as this */

struct htcp {
    struct ww_common common;
    uint32_t fraction; /* of cwnd, in 2^-32 segments */
    uint64_t
        lost_us; /* when the last loss was found; before the first, when the connection began */
    uint64_t round_us;  /* when the round trip began */
    uint64_t rate;      /* of the last round trip, segments / s */
    uint64_t lost_rate; /* `rate` at the last loss; 0: none */
    struct ww_rounds rounds;
    uint32_t counted;    /* segments acknowledged in this round trip */
    uint32_t rtt_min_us; /* 0: none */
    uint32_t rtt_max_us; /* since the last loss; 0: none */
    uint16_t beta;       /* in units of 1 / ONE */
    bool has_begun;
};

static void init(const struct ww_config *config, struct htcp *state) { state->beta = BETA_LEAST; }

static uint32_t alpha_of(const struct ww_config *config, const struct htcp *state,
                         uint64_t now_us) {
    const uint64_t past_ms = ww_minus(ww_since(state->lost_us, now_us), QUIET_US) / 1000;
    const uint64_t d = ww_min_u64(past_ms, LONGEST_MS);
    uint64_t alpha = ONE + d * 10 * ONE / 1000 + d * d * ONE / 4000000; /* below 2^40 */
    if (ww_parameters(config)->scaled && state->rtt_min_us != 0) {
        const uint64_t rtt_us = ww_min_u64(ww_max_u64(state->rtt_min_us, 10000), 200000);
        alpha = alpha * rtt_us / 100000;
    }
    alpha = 2 * (ONE - state->beta) * alpha / ONE;
    return (uint32_t)ww_min_u64(ww_max_u64(alpha, ONE), UINT32_MAX);
}

static void measure(struct htcp *state, const struct ww_sample *ack) {
    if (ack->rtt_us != 0) {
        state->rtt_min_us = ww_least_rtt(state->rtt_min_us, ack->rtt_us);
        state->rtt_max_us = ww_max_u32(state->rtt_max_us, ack->rtt_us);
    }
    state->counted += ww_min_u32(ack->acked_segments, UINT16_MAX);
    if (!ww_round_ends(&state->rounds, ack)) return;
    const uint64_t elapsed_us = ww_since(state->round_us, ack->now_us);
    state->rate = ww_div((uint64_t)state->counted * 1000000, elapsed_us);
    state->round_us = ack->now_us;
    state->counted = 0;
}

static void on_ack(const struct ww_config *config, struct htcp *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (!state->has_begun) state->lost_us = state->round_us = ack->now_us;
    state->has_begun = true;
    measure(state, ack);
    if (!ww_may_grow(ack)) return;
    if (window->cwnd < window->ssthresh) {
        ww_grow(config, &state->common, window, ack);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    const uint64_t alpha = alpha_of(config, state, ack->now_us);
    const uint64_t each = ww_div(alpha << 22, window->cwnd); /* below 2^54 */
    const uint32_t segments = ww_min_u32(ack->acked_segments, 256);
    const uint64_t sum = state->fraction + each * segments;
    window->cwnd = (uint32_t)ww_min_u64(window->cwnd + (sum >> 32), WW_CWND_MAX);
    state->fraction = (uint32_t)sum;
}

/* Begins the time after a loss, with the beta of the time before it. Returns ssthresh. */
static uint32_t back_off(const struct ww_config *config, struct htcp *state, uint64_t now_us,
                         uint32_t in_flight) {
    const uint64_t change =
        ww_max_u64(state->rate, state->lost_rate) - ww_min_u64(state->rate, state->lost_rate);
    const bool is_steady = state->lost_rate != 0 && 5 * change <= state->lost_rate;
    const uint64_t ratio = ww_div((uint64_t)state->rtt_min_us * ONE, state->rtt_max_us);
    state->beta =
        (uint16_t)(is_steady ? ww_min_u64(ww_max_u64(ratio, BETA_LEAST), BETA_MOST) : BETA_LEAST);
    state->lost_rate = state->rate;
    state->lost_us = now_us;
    state->rtt_max_us = 0;
    state->fraction = 0;
    const uint64_t flight = ww_min_u32(in_flight, WW_CWND_MAX);
    return ww_max_u32((uint32_t)(flight * state->beta / ONE), config->min_cwnd);
}

static void on_loss(const struct ww_config *config, struct htcp *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_reno_on_loss(&state->common, window, back_off(config, state, now_us, in_flight));
}

static void on_rto(const struct ww_config *config, struct htcp *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    const uint32_t ssthresh = repeated ? 0 : back_off(config, state, now_us, in_flight);
    ww_reno_on_rto(&state->common, window, ssthresh, repeated);
}

static void observe(const struct ww_config *config, const struct htcp *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->alpha = (uint64_t)alpha_of(config, state, now_us) * 1000 / ONE;
    seen->beta = (uint64_t)state->beta * 1000 / ONE;
}

WW_CONTROL("H-TCP", 0, .init = init, .on_ack = on_ack, .on_loss = on_loss, .on_rto = on_rto,
           .observe = observe)
