/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Vegas (Brakmo & Peterson, IEEE JSAC 13(8), 1995), in its Linux form (tcp_vegas.c), which is what
 * measurements have meant by "Vegas" since.
 *
 *   once per round trip, with RTT the smallest of its samples (without queueing by others' bursts):
 *     diff = cwnd (RTT - BaseRTT) / BaseRTT      segments of ours that wait in queues
 *     slow start    diff > gamma: cwnd = min(cwnd, cwnd BaseRTT / RTT + 1), and slow start ends
 *     afterwards    diff > beta:  cwnd -= 1      diff < alpha: cwnd += 1      else it stays
 *   alpha = 2, beta = 4, gamma = 1 segments; with fewer than 3 samples in the round trip: Reno's growth
 *   a loss and a timeout are answered as by Reno
 *
 * Deviations from the paper, as in Linux: slow start doubles every round trip instead of every other; no
 * retransmission on the first or second duplicate ACK by a fine-grained timer (that is the host's loss
 * detection); a loss halves the window.
 */
#ifndef WW_VEGAS_H
#define WW_VEGAS_H

#include "reno.h"
#include "rounds.h"

enum { WW_VEGAS_RTTS = 3 }; /* samples that a round's smallest RTT needs to be meaningful */

struct ww_vegas_state {
    struct ww_common common;
    struct ww_rounds rounds;
    uint32_t base_rtt_us; /* smallest RTT so far; UINT32_MAX before the first */
    uint32_t min_rtt_us;  /* smallest RTT in this round; UINT32_MAX before the first */
    uint32_t rtts;        /* RTT samples in this round, up to WW_VEGAS_RTTS */
};

static inline void ww_vegas_init(struct ww_vegas_state *vegas) {
    const struct ww_vegas_state fresh = {{0, 0, 0}, {0, 0}, UINT32_MAX, UINT32_MAX, 0};
    *vegas = fresh;
}

/*
 * Returns ssthresh as Linux's tcp_current_ssthresh does: what was reached is kept when slow start
 * ends.
 */
static inline uint32_t ww_vegas_reached(const struct ww_config *config,
                                        const struct ww_window *window) {
    const uint32_t reached = window->cwnd - window->cwnd / 4;
    return ww_max_u32(ww_max_u32(window->ssthresh, reached), config->min_cwnd);
}

/* Returns an ssthresh below cwnd, which ends slow start. */
static inline uint32_t ww_vegas_below(const struct ww_window *window) {
    return (uint32_t)ww_min_u64(window->ssthresh, ww_minus(window->cwnd, 1));
}

/*
 * Adjusts the window at the end of a round trip with enough samples. Products: 2^28 * 2^32 < 2^60.
 */
static inline void ww_vegas_adjust(const struct ww_config *config, struct ww_vegas_state *vegas,
                                   struct ww_window *window, const struct ww_sample *sample) {
    const uint64_t rtt = vegas->min_rtt_us, base = vegas->base_rtt_us, cwnd = window->cwnd;
    const uint64_t diff = ww_div(cwnd * ww_minus(rtt, base), base);
    const bool slow_start = window->cwnd < window->ssthresh;
    if (slow_start && diff > config->vegas_gamma) {
        const uint64_t target = ww_div(cwnd * base, rtt);
        window->cwnd = (uint32_t)ww_min_u64(cwnd, target + 1);
        window->ssthresh = ww_vegas_below(window);
    } else if (slow_start) {
        ww_grow(config, &vegas->common, window, sample);
    } else if (diff > config->vegas_beta) {
        window->cwnd--;
        window->ssthresh = ww_vegas_below(window);
    } else if (diff < config->vegas_alpha && (sample->is_cwnd_limited || !config->validate_cwnd)) {
        window->cwnd++;
    }
    window->cwnd = ww_min_u32(ww_max_u32(window->cwnd, config->min_cwnd), WW_CWND_MAX);
    window->ssthresh = ww_vegas_reached(config, window);
}

static inline void ww_vegas_on_ack(const struct ww_config *config, struct ww_vegas_state *vegas,
                                   struct ww_window *window, const struct ww_sample *sample) {
    if (sample->rtt_us != 0) {
        vegas->base_rtt_us = ww_min_u32(vegas->base_rtt_us, sample->rtt_us);
        vegas->min_rtt_us = ww_min_u32(vegas->min_rtt_us, sample->rtt_us);
        if (vegas->rtts < WW_VEGAS_RTTS) vegas->rtts++;
    }
    if (sample->is_dupack) return;
    const bool round_over = ww_round_ends(&vegas->rounds, sample);
    if (ww_may_grow(sample)) {
        if (round_over && vegas->rtts == WW_VEGAS_RTTS)
            ww_vegas_adjust(config, vegas, window, sample);
        else if (round_over || window->cwnd < window->ssthresh)
            ww_grow(config, &vegas->common, window, sample);
    }
    if (round_over) {
        vegas->min_rtt_us = UINT32_MAX;
        vegas->rtts = 0;
    }
}

/* Vegas' operations: westwood.h calls them, see reno.h. */
#define WW_VEGAS_TRAITS 0u
#define WW_VEGAS_INIT ww_vegas_init
#define WW_VEGAS_ON_ACK ww_vegas_on_ack
#define WW_VEGAS_SSTHRESH WW_RENO_SSTHRESH
#define WW_VEGAS_ON_LOSS WW_RENO_ON_LOSS
#define WW_VEGAS_ON_MARK(...) WW_MARK_AS_LOSS(VEGAS, __VA_ARGS__)
#define WW_VEGAS_ON_RECOVERY_EXIT WW_RENO_ON_RECOVERY_EXIT
#define WW_VEGAS_ON_RTO WW_RENO_ON_RTO
#define WW_VEGAS_ON_UNDO WW_RENO_ON_UNDO
#define WW_VEGAS_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_VEGAS_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_VEGAS_QUANTUM WW_RENO_QUANTUM
#define WW_VEGAS_ON_RESTART WW_RENO_ON_RESTART
#define WW_VEGAS_OBSERVE WW_RENO_OBSERVE
#define WW_VEGAS_MODES WW_RENO_MODES
#define WW_VEGAS_MODE WW_RENO_MODE
#define WW_VEGAS_QUANTITIES WW_RENO_QUANTITIES

#endif
