/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Decides when a bandwidth sample s is taken, and over what time. t is the time of this ACK; `counted`
 * is the number of segments that ackcount.h counted since the last sample.
 *
 *   per ACK        s = counted / (t - t'), t' the last ACK                 Mascolo 2001; Gangadhar 2013, eq. 2
 *   per RTT        s = counted / T, T the time since the window opened, closed by the first ACK with
 *                  T >= max(last RTT, 50 ms)                               Dell'Aera 2003, 2.2
 *   per RTT timer  s = counted / last RTT, as in the 2013 ns-3 code: an ACK that itself counts starts a
 *                  timer of one last RTT; the next window opens at the next ACK. It reads high by about
 *                  one ACK per window                                      Gangadhar 2013, eq. 3
 *
 * "per RTT" does not count the ACK that opens its first window: n intervals hold n ACKs. RTT samples
 * come from the host, never from a retransmitted segment (Karn): one such sample would ruin RTTmin.
 *
 * `rtt_tick` T: an RTT is ceil(rtt / T) T, as in tcp_westwood.c. With `counted_ticks` it is the reading of
 * a clock with this tick (ns-2's rtt_update(), Valla 2002): floor((rtt + o) / T) T, at least T, with o the
 * time from the last tick to the sending of the segment. For an RTT below one tick the reading is too long.
 * Otherwise it may be short by up to one tick, so with many samples RTTmin becomes floor(rtt / T) T.
 *
 * `bound_samples`: a sample per ACK is at most flight / RTTmin, `flight` the data sent and not cumulatively
 * acknowledged when the ACK arrived. Whatever is acknowledged within one RTTmin was in flight at its start, so
 * a larger sample cannot be the path's rate. It comes from compressed ACKs, or from data of a long silence
 * that is divided by a short remainder. filter.h describes what happens to the excess data. Before the first
 * RTT there is no bound, and nothing is measured. `westwood-ns3` and the profiles of the papers have no bound,
 * as in the papers.
 *
 * `max_counted`: an ACK counts for at most this many segments (Valla 2002: "more" is a lost ACK); the rest
 * is in no sample.
 *
 * Deviation: two ACKs in the same microsecond have no interval between them. They join the next sample, so no
 * data is lost and the rate stays finite.
 */
#ifndef WW_ESTIMATOR_H
#define WW_ESTIMATOR_H

#include "ackcount.h"
#include "filter.h"

static inline void ww_estimator_close(const struct ww_config *config,
                                      struct ww_westwood_state *state, uint64_t end_us,
                                      uint64_t elapsed_us, uint64_t flight_bytes) {
    const bool bounded = config->sampler == WW_PER_ACK && config->bound_samples;
    const uint64_t most = bounded ? ww_rate(flight_bytes, state->rtt_min_us) : WW_BW_MAX;
    const uint64_t left =
        ww_filter_step(config, state, end_us, state->pending_bytes, elapsed_us, most);
    state->pending_bytes = ww_min_u64(left, flight_bytes);
    state->mark_us = end_us;
}

/*
 * Runs the timer of the ns-3 code at the host's next call. That is early enough, because nothing
 * reads the estimate before.
 */
static inline void ww_estimator_advance(const struct ww_config *config,
                                        struct ww_westwood_state *state, uint64_t now_us) {
    if (config->sampler != WW_PER_RTT_TIMER || !state->interval_open) return;
    if (ww_minus(now_us, state->mark_us) < state->last_rtt_us) return;
    ww_estimator_close(config, state, state->mark_us + state->last_rtt_us, state->last_rtt_us, 0);
    state->interval_open = false;
}

/* Returns an RTT in whole ticks: rounded up, or as the clock counted them. */
static inline uint32_t ww_estimator_rtt(const struct ww_config *config, uint64_t now_us,
                                        uint32_t rtt_us) {
    const uint32_t tick = config->rtt_tick_us;
    if (tick <= 1 || rtt_us > UINT32_MAX - tick) return rtt_us;
    if (config->counted_ticks) {
        const uint64_t ticks =
            ww_minus(ww_div(now_us, tick), ww_div(ww_minus(now_us, rtt_us), tick));
        return ww_max_u32((uint32_t)ticks, 1) * tick;
    }
    return (uint32_t)ww_div(rtt_us + tick - 1, tick) * tick;
}

/*
 * Returns true if the window has lasted this long; with ticks it must be longer, as in
 * westwood_update_window().
 */
static inline bool ww_estimator_is_past(const struct ww_config *config,
                                        const struct ww_westwood_state *state, uint64_t now_us,
                                        uint64_t elapsed_us, uint64_t window_us) {
    const uint32_t tick = config->sampler == WW_PER_ACK ? 1 : config->rtt_tick_us;
    if (tick <= 1) return elapsed_us >= window_us;
    return ww_minus(ww_div(now_us, tick), ww_div(state->mark_us, tick)) > ww_div(window_us, tick);
}

static inline void ww_estimator_on_ack(const struct ww_config *config,
                                       struct ww_westwood_state *state,
                                       const struct ww_sample *sample) {
    ww_estimator_advance(config, state, sample->now_us);
    if (sample->rtt_us != 0) {
        const uint32_t rtt_us = ww_estimator_rtt(config, sample->now_us, sample->rtt_us);
        state->last_rtt_us = rtt_us;
        if (state->rtt_min_stale || rtt_us < state->rtt_min_us) state->rtt_min_us = rtt_us;
        state->rtt_min_stale = false;
    }
    uint32_t counted =
        ww_count_ack(config, state, sample->is_dupack,
                     sample->is_dupack ? sample->newly_delivered : sample->acked_segments);
    if (config->max_counted != 0) counted = ww_min_u32(counted, config->max_counted);
    const uint64_t bytes = (uint64_t)counted * sample->mss; /* 2^48 */

    if (!state->interval_open) {
        const bool needs_rtt = config->sampler != WW_PER_ACK || config->bound_samples;
        if (needs_rtt && state->last_rtt_us == 0) return;
        state->interval_open = true;
        state->mark_us = sample->now_us;
        state->filter_us = sample->now_us;
        state->pending_bytes = config->sampler == WW_PER_RTT_TIMER ? bytes : 0;
        return;
    }
    if (config->filter == WW_FILTER_TUSTIN) ww_filter_resume(config, state, sample->now_us);
    if (state->pending_bytes < WW_PENDING_MAX) state->pending_bytes += bytes;
    const uint64_t elapsed = ww_minus(sample->now_us, state->mark_us);
    const uint64_t window =
        config->sampler == WW_PER_ACK ? 1 : ww_max_u32(state->last_rtt_us, config->min_interval_us);
    if (config->sampler != WW_PER_RTT_TIMER &&
        ww_estimator_is_past(config, state, sample->now_us, elapsed, window))
        ww_estimator_close(config, state, sample->now_us, elapsed,
                           ((uint64_t)sample->in_flight + sample->acked_segments) * sample->mss);
}

#endif
