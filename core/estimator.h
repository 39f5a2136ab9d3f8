/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Decides when a bandwidth sample s is taken, and what it divides. t is the time of this ACK, and
 * `counted` the segments that ackcount.h counted since the last sample.
 *
 *   per ACK        s = counted / (t - t'), t' the last ACK                 Mascolo 2001; Gangadhar 2013, eq. 2
 *   per RTT        s = counted / T, T the time since the window opened, closed by the first ACK with
 *                  T >= max(last RTT, 50 ms)                               Dell'Aera 2003, 2.2
 *   per RTT timer  s = counted / last RTT, as the 2013 ns-3 code: a timer of one last RTT started by
 *                  an ACK that itself counts; the next window opens at the next ACK. It reads high by
 *                  about one ACK a window                                  Gangadhar 2013, eq. 3
 *
 * "per RTT" does not count the ACK that opens its first window: n intervals hold n ACKs. RTT samples
 * come from the host, never from a retransmitted segment (Karn): one such sample collapses RTTmin.
 *
 * Deviation: two ACKs in one microsecond have no interval between them. They join the next sample, so
 * no data is lost, and the rate stays finite up to 100 Gb/s.
 */
#ifndef WW_ESTIMATOR_H
#define WW_ESTIMATOR_H

#include "ackcount.h"
#include "filter.h"

static inline void ww_estimator_close(const struct ww_config *config,
                                      struct ww_westwood_state *state, uint64_t end_us,
                                      uint64_t elapsed_us) {
    ww_filter_step(config, state, end_us, state->pending_bytes, elapsed_us);
    state->pending_bytes = 0;
    state->mark_us = end_us;
}

/*
 * Runs the timer of the ns-3 code when the host next calls. That is early enough, because nothing read
 * the estimate in between.
 */
static inline void ww_estimator_advance(const struct ww_config *config,
                                        struct ww_westwood_state *state, uint64_t now_us) {
    if (config->sampler != WW_PER_RTT_TIMER || !state->interval_open) return;
    if (now_us - state->mark_us < state->last_rtt_us) return;
    ww_estimator_close(config, state, state->mark_us + state->last_rtt_us, state->last_rtt_us);
    state->interval_open = false;
}

static inline void ww_estimator_on_ack(const struct ww_config *config,
                                       struct ww_westwood_state *state,
                                       const struct ww_sample *sample) {
    ww_estimator_advance(config, state, sample->now_us);
    if (sample->rtt_us != 0) {
        state->last_rtt_us = sample->rtt_us;
        if (state->rtt_min_stale || sample->rtt_us < state->rtt_min_us)
            state->rtt_min_us = sample->rtt_us;
        state->rtt_min_stale = false;
    }
    const uint32_t counted =
        ww_count_ack(config, state, sample->is_dupack,
                     sample->is_dupack ? sample->newly_delivered : sample->acked_segments);
    const uint64_t bytes = (uint64_t)counted * sample->mss; /* 2^32 * 2^16 */

    if (!state->interval_open) {
        if (config->sampler != WW_PER_ACK && state->last_rtt_us == 0) return;
        state->interval_open = true;
        state->mark_us = sample->now_us;
        state->filter_us = sample->now_us;
        state->pending_bytes = config->sampler == WW_PER_RTT_TIMER ? bytes : 0;
        return;
    }
    state->pending_bytes += bytes;
    const uint64_t elapsed = sample->now_us - state->mark_us;
    const uint64_t window =
        config->sampler == WW_PER_ACK ? 1 : ww_max_u32(state->last_rtt_us, config->min_interval_us);
    if (config->sampler != WW_PER_RTT_TIMER && elapsed >= window)
        ww_estimator_close(config, state, sample->now_us, elapsed);
}

#endif
