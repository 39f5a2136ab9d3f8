/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tor's Westwood: the window grows while round trips are short, and falls to the measured BDP (proposal 324, 3.1)
 *
 *   each ACK          RTT = (2 rtt + (N - 1) RTT') / (N + 1), N = 2 windows of ACKs, at least 2
 *   once a window     congested: RTT > (1 - thresh) RTTmin + thresh RTTmax, thresh = 0.33
 *     not congested   slow start: cwnd = max(2 cwnd, BDP); else cwnd += 1
 *     congested       cwnd = max(0.75 cwnd, BDP), and slow start ends; `least`: min instead of max
 *                     RTTmax = RTTmin + kept (RTTmax - RTTmin), kept = 1
 *   BDP = cwnd RTTmin / RTT
 *
 * A threshold less than 1 ms above RTTmin means that there is no queue to measure: not congested.
 *
 * Source: M. Perry: RTT-based congestion control for Tor, proposal 324, sections 3.1 and [CONSENSUS_PARAMETERS],
 *   2020; its BDP estimate cwnd / RTT. Read also in tor's congestion_control_westwood.c, whose defaults these are.
 * Deviations: an ACK takes the part of a SENDME cell, and a segment that of cells: cwnd grows by one segment a window,
 *   not by 50 cells. Tor's cells are never lost. Here a loss, a mark and a timeout are answered as congestion, because
 *   the queue may be too short to be seen in the round trip. The piecewise BDP of tor's code needs a list of times.
 * Fails one path of `--suite check`: jitter of 20 ms alone lifts the smoothed round trip above the threshold, so nearly
 *   every window falls, to about five segments.
 */
#define WW_STATE tor_westwood
#define WW_PARAMETERS(X)                                                                 \
    X(thresh, 33, 0, 100, "Where congestion begins between RTTmin and RTTmax, per cent") \
    X(backoff, 75, 1, 100, "Share of cwnd after congestion, per cent")                   \
    X(kept, 100, 50, 100, "Share of RTTmax - RTTmin after congestion, per cent")         \
    X(least, 0, 0, 1, "1: after congestion the smaller of backoff and BDP")
#define WW_QUANTITIES(X)                        \
    X(smoothed_us, "us", "Smoothed round trip") \
    X(limit_us, "us", "Round trip from which the path is congested")
#include "control.h"
#include "rounds.h"

#define ONE 256u /* fraction of the smoothed round trip */
#define RANGE_US 1000u

struct tor_westwood {
    struct ww_common common;
    struct ww_rounds rounds;
    uint64_t smoothed;   /* us, in units of 1 / ONE; 0: none */
    uint32_t rtt_min_us; /* 0: none */
    uint32_t rtt_max_us;
};

static uint64_t limit_us(const struct ww_config *config, const struct tor_westwood *state) {
    const uint64_t range = ww_minus(state->rtt_max_us, state->rtt_min_us);
    return state->rtt_min_us + range * ww_parameters(config)->thresh / 100;
}

static bool is_congested(const struct ww_config *config, const struct tor_westwood *state) {
    const uint64_t limit = limit_us(config, state);
    return limit - state->rtt_min_us >= RANGE_US && state->smoothed > limit * ONE;
}

static void measure(struct tor_westwood *state, uint32_t cwnd, uint32_t rtt_us) {
    const uint64_t n = ww_max_u64(2 * (uint64_t)cwnd, 2), rtt = (uint64_t)rtt_us * ONE;
    const uint64_t before = state->smoothed == 0 ? rtt : state->smoothed;
    state->smoothed = before < rtt ? before + (rtt - before) * 2 / (n + 1)
                                   : before - (before - rtt) * 2 / (n + 1);
    state->rtt_min_us = ww_least_rtt(state->rtt_min_us, rtt_us);
    state->rtt_max_us = ww_max_u32(state->rtt_max_us, rtt_us);
}

static uint64_t bdp(const struct tor_westwood *state, uint32_t cwnd) {
    return ww_div((uint64_t)cwnd * state->rtt_min_us, state->smoothed / ONE); /* 2^60 */
}

/* Returns the window after congestion. */
static uint32_t backed_off(const struct ww_config *config, struct tor_westwood *state,
                           uint32_t cwnd) {
    const struct ww_parameters *parameters = ww_parameters(config);
    const uint64_t fallen = (uint64_t)cwnd * parameters->backoff / 100;
    const uint64_t carried = ww_min_u64(bdp(state, cwnd), cwnd);
    const uint64_t left =
        parameters->least ? ww_min_u64(fallen, carried) : ww_max_u64(fallen, carried);
    const uint64_t range = ww_minus(state->rtt_max_us, state->rtt_min_us);
    state->rtt_max_us = (uint32_t)(state->rtt_min_us + range * parameters->kept / 100);
    return ww_max_u32((uint32_t)left, config->min_cwnd);
}

static void on_ack(const struct ww_config *config, struct tor_westwood *state,
                   struct ww_window *window, const struct ww_sample *ack) {
    if (ack->rtt_us != 0) measure(state, window->cwnd, ack->rtt_us);
    if (!ww_round_ends(&state->rounds, ack) || !ww_may_grow(ack) || state->smoothed == 0) return;
    if (is_congested(config, state)) {
        window->cwnd = window->ssthresh = backed_off(config, state, window->cwnd);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    if (window->cwnd < window->ssthresh) {
        const uint64_t grown = ww_max_u64(2 * (uint64_t)window->cwnd, bdp(state, window->cwnd));
        window->cwnd = (uint32_t)ww_min_u64(grown, ww_min_u32(window->ssthresh, WW_CWND_MAX));
    } else {
        window->cwnd = ww_min_u32(window->cwnd + 1, WW_CWND_MAX);
    }
}

static void on_loss(const struct ww_config *config, struct tor_westwood *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_reno_on_loss(&state->common, window, backed_off(config, state, window->cwnd));
}

static void on_rto(const struct ww_config *config, struct tor_westwood *state,
                   struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss,
                   bool repeated) {
    const uint32_t ssthresh = repeated ? 0 : backed_off(config, state, window->cwnd);
    ww_reno_on_rto(&state->common, window, ssthresh, repeated);
}

static void observe(const struct ww_config *config, const struct tor_westwood *state,
                    uint64_t now_us, struct ww_quantities *seen) {
    seen->smoothed_us = state->smoothed / ONE;
    seen->limit_us = limit_us(config, state);
}

WW_CONTROL("Tor Westwood", 0, .on_ack = on_ack, .on_loss = on_loss, .on_rto = on_rto,
           .observe = observe)
