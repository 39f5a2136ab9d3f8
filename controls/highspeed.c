/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * HighSpeed: a large window grows faster and falls less, so that rare losses are enough (RFC 3649)
 *
 *   an ACK   w += a(w) / w per segment acknowledged
 *   a loss   w -= b(w) w
 *   b(w) = 0.5 - 0.4 (log w - log 38) / (log 83000 - log 38)        section 5
 *   p(w) = 0.078 / w^1.2                                            section 5
 *   a(w) = w^2 p(w) 2 b(w) / (2 - b(w)), at least 1                 section 5
 *   w <= 38: a = 1, b = 0.5, which is Reno
 *
 * Source: RFC 3649 (S. Floyd, 2003), sections 5 and 6; Appendix B tabulates a and b.
 * Deviations: an ACK counts for the segments it acknowledges. Above 94717 segments, where the appendix ends, a and
 *   b stay. Linux and ns-3 read the appendix as a table and round a(w) up to a whole number. Slow start is Reno's,
 *   without the limit of RFC 3742.
 */
#define WW_STATE highspeed
#define WW_QUANTITIES(X)                                               \
    X(a, "thousandths", "Segments that cwnd grows by in a round trip") \
    X(b, "thousandths", "Share of the window that a loss takes")
#include "control.h"

#define ONE 65536u        /* 1 in the unit of a, b and logarithms */
#define LEAST 38u         /* Low_Window */
#define MOST 94717u       /* the last row of the appendix */
#define LOG_LEAST 343928u /* log2 of 38 */
#define LOG_SPAN 726984u  /* log2 of 83000 / 38 */

struct highspeed {
    struct ww_common common;
    uint32_t fraction; /* of cwnd, in 2^-32 segments */
    uint32_t of;       /* the window that a is of; 0: none */
    uint32_t a;        /* in units of 1 / ONE */
};

/*
 * Returns the logarithm to base 2 in units of 1 / ONE, for x from 1 to 2^17. The loops multiply by bits instead of
 * branching on them: Linux's verifier follows each way through the branches.
 */
static uint32_t log_2(uint32_t x) {
    uint32_t whole = 0;
    for (uint32_t i = 0; i < 5; i++)
        if (x >> (whole + (16u >> i))) whole += 16u >> i;
    uint64_t rest = (uint64_t)x << (32 - whole); /* from 1 to 2 in units of 2^-32 */
    uint32_t log = whole * ONE;
    for (uint32_t i = 1; i <= 16; i++) {
        rest = (rest >> 1) * (rest >> 1) >> 30;      /* its square, below 4 */
        const uint32_t bit = (uint32_t)(rest >> 33); /* 1 if it is at least 2 */
        log += bit * (ONE >> i);
        rest >>= bit;
    }
    return log;
}

/* Returns 2^(x / ONE) in units of 1 / ONE, for x below 17 * ONE. */
static uint64_t power_of_2(uint32_t x) {
    static const uint32_t roots[16] = {/* 2^(1/2), 2^(1/4), ... */
                                       92682, 77936, 71468, 68438, 66971, 66250, 65892, 65714,
                                       65625, 65580, 65558, 65547, 65542, 65539, 65537, 65537};
    uint64_t power = (uint64_t)ONE << x / ONE;
    for (uint32_t i = 0; i < 16; i++) {
        const uint32_t bit = x >> (15 - i) & 1;
        power = power * (ONE + bit * (roots[i] - ONE)) >> 16; /* times the root, or 1 */
    }
    return power;
}

static uint32_t b_of(uint32_t w) {
    if (w <= LEAST) return ONE / 2;
    const uint64_t above = log_2(ww_min_u32(w, MOST)) - LOG_LEAST;
    return ONE / 2 - (uint32_t)(above * ONE * 2 / 5 / LOG_SPAN);
}

static uint32_t a_of(uint32_t w) {
    if (w <= LEAST) return ONE;
    const uint64_t b = b_of(w);
    const uint64_t w2p =
        power_of_2(log_2(ww_min_u32(w, MOST)) / 5 * 4) * 78 / 1000; /* 0.078 w^0.8 */
    return ww_max_u32((uint32_t)ww_div(w2p * 2 * b, 2 * ONE - b), ONE);
}

static void on_ack(const struct ww_config *config, struct highspeed *state,
                   struct ww_window *window, const struct ww_sample *ack) {
    if (!ww_may_grow(ack)) return;
    if (window->cwnd < window->ssthresh) {
        ww_grow(config, &state->common, window, ack);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    if (state->of != window->cwnd) {
        state->of = window->cwnd;
        state->a = a_of(window->cwnd);
    }
    const uint64_t each = ww_div((uint64_t)state->a << 16, window->cwnd); /* below 2^40 */
    const uint64_t sum = state->fraction + each * ww_min_u32(ack->acked_segments, UINT16_MAX);
    window->cwnd = (uint32_t)ww_min_u64(window->cwnd + (sum >> 32), WW_CWND_MAX);
    state->fraction = (uint32_t)sum;
}

static void on_loss(const struct ww_config *config, struct highspeed *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    const uint64_t flight = ww_min_u32(in_flight, WW_CWND_MAX);
    const uint32_t left = (uint32_t)(flight * (ONE - b_of(window->cwnd)) / ONE);
    state->fraction = 0;
    ww_reno_on_loss(&state->common, window, ww_max_u32(left, config->min_cwnd));
}

static void observe(const struct ww_config *config, const struct highspeed *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->a = (uint64_t)a_of(state->of) * 1000 / ONE;
    seen->b = (uint64_t)b_of(state->of) * 1000 / ONE;
}

WW_CONTROL("HighSpeed", 0, .on_ack = on_ack, .on_loss = on_loss, .observe = observe)
