/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Hybla: a long round trip grows the window as fast as a short one (Caini & Firrincieli 2004)
 *
 *   rho = max(RTTmin / RTT0, 1), RTT0 = 25 ms       the round trip over that of the reference
 *   slow start             cwnd += 2^rho - 1        per segment acknowledged, up to ssthresh
 *   congestion avoidance   cwnd += rho^2 / cwnd     per segment acknowledged
 *   loss, mark, timeout    as Reno
 *
 * The rate, cwnd / RTT, grows by rho^2 / RTT^2 = 1 / RTT0^2 per second: as that of a Reno whose round trip is RTT0.
 *
 * Source: C. Caini, R. Firrincieli: TCP Hybla: a TCP enhancement for heterogeneous networks, International
 *   Journal of Satellite Communications and Networking 22(5), 2004. Read in Linux's tcp_hybla.c and ns-3's.
 * Deviations: an ACK counts for the segments it acknowledges, in slow start for at most two (RFC 3465).
 *   rho is at most 20. The paper's initial window, packet spacing and bandwidth estimate belong to the host.
 */
#define WW_STATE hybla
#define WW_PARAMETERS(X) X(rtt0_ms, 25, 1, 1000, "Round trip of the reference connection, ms")
#define WW_QUANTITIES(X) X(rho, "thousandths", "Round trip over the reference's")
#include "control.h"
#include "rounds.h"

#define RHO_ONE 1024u /* 1 in rho's unit */
#define RHO_MAX (20u * RHO_ONE)

struct hybla {
    struct ww_common common;
    uint32_t fraction;   /* of cwnd, in 2^-32 segments */
    uint32_t rtt_min_us; /* 0 before the first */
};

static uint32_t rho_of(const struct ww_config *config, const struct hybla *state) {
    const uint64_t reference_us = (uint64_t)ww_parameters(config)->rtt0_ms * 1000;
    const uint64_t rho = ww_div((uint64_t)state->rtt_min_us * RHO_ONE, reference_us);
    return (uint32_t)ww_min_u64(ww_max_u64(rho, RHO_ONE), RHO_MAX);
}

/* Returns 2^(x / 1024) in units of 2^-16, for x up to RHO_MAX. */
static uint64_t power_of_2(uint32_t x) {
    static const uint32_t roots[10] = {
        /* 2^(1/2), 2^(1/4), ... in units of 2^-16 */
        92682, 77936, 71468, 68438, 66971, 66250, 65892, 65714, 65625, 65580};
    uint64_t power = UINT64_C(1) << (16 + x / RHO_ONE);
    for (uint32_t i = 0; i < 10; i++)
        if (x >> (9 - i) & 1) power = power * roots[i] >> 16; /* 2^36 * 2^17 */
    return power;
}

/* Adds to cwnd in units of 2^-32 segments. */
static void grow(struct hybla *state, struct ww_window *window, uint64_t step) {
    const uint64_t sum = state->fraction + step; /* both below 2^62 */
    window->cwnd = (uint32_t)ww_min_u64(window->cwnd + (sum >> 32), WW_CWND_MAX);
    state->fraction = (uint32_t)sum;
}

static void on_ack(const struct ww_config *config, struct hybla *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (ack->rtt_us != 0) state->rtt_min_us = ww_least_rtt(state->rtt_min_us, ack->rtt_us);
    if (!ww_may_grow(ack) || (config->validate_cwnd && !ack->is_cwnd_limited)) return;
    const uint64_t rho = rho_of(config, state);
    if (window->cwnd < window->ssthresh) {
        const uint64_t each = (power_of_2((uint32_t)rho) - 65536) << 16; /* below 2^52 */
        const uint32_t most = ack->phase == WW_LOSS ? 1 : 2;
        grow(state, window, each * ww_min_u32(ack->acked_segments, most));
        window->cwnd = ww_min_u32(window->cwnd, window->ssthresh);
        return;
    }
    const uint64_t each = ww_div(rho * rho << 12, window->cwnd); /* below 2^41 */
    grow(state, window, each * ww_min_u32(ack->acked_segments, UINT16_MAX));
}

static void on_loss(const struct ww_config *config, struct hybla *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    state->fraction = 0;
    ww_reno_on_loss(&state->common, window, ww_reno_ssthresh(config, in_flight));
}

static void observe(const struct ww_config *config, const struct hybla *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->rho = (uint64_t)rho_of(config, state) * 1000 / RHO_ONE;
}

WW_CONTROL("Hybla", 0, .on_ack = on_ack, .on_loss = on_loss, .observe = observe)
