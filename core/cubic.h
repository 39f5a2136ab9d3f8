/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * CUBIC (RFC 9438), with C = 0.4 and beta = 0.7.
 *
 *   W_cubic(t) = C (t - K)^3 + W_max          K = cbrt((W_max - cwnd_epoch) / C)            4.2
 *   target     = W_cubic(t + RTT), within cwnd .. 1.5 cwnd                                  4.2
 *   W_est     += alpha segments_acked / cwnd  alpha = 3 (1 - beta) / (1 + beta) = 9/17;
 *                1 once W_est >= cwnd_prior                                                 4.3
 *   an ACK       cwnd = W_est if W_cubic(t) < W_est, else cwnd += (target - cwnd) / cwnd
 *                a segment acknowledged                                                     4.3 - 4.5
 *   loss         ssthresh = max(0.7 flight, 2), cwnd = ssthresh                             4.6
 *   fast convergence  W_max = cwnd (1 + beta) / 2 if cwnd < the last W_max                  4.7
 *   timeout      as Reno, with beta; the next stage has K = 0 and W_max = its first cwnd    4.8
 *   slow start left without a loss (HyStart++): K and W_max as after a timeout              4.10
 *   idle         time in which the sender did not fill cwnd does not count                  5.8
 *
 * W_cubic is kept in 1/256 segments, times in ms: C (ms / 1000)^3 * 256 = ms^3 / 5^10, which is exact.
 * ms <= 2^20 (17 minutes; longer is clamped), so that ms^3 <= 2^60. K <= 2^20 as well: the cube
 * root of 2^32 * 5^10 < 2^56.
 *
 * Deviations: t counts from the first ACK after the reduction on which the window may grow. The
 * smoothed RTT is the core's own (7/8). Spurious-loss handling (4.9) restores cwnd and ssthresh only
 * (ww_on_undo); W_max keeps its reduced value.
 */
#ifndef WW_CUBIC_H
#define WW_CUBIC_H

#include "hystart.h"
#include "reno.h"

#define WW_CUBIC_FRACTION 8u    /* fraction bits of W_max and W_cubic */
#define WW_CUBIC_SCALE 9765625u /* 5^10 */
#define WW_CUBIC_LONGEST_MS (UINT64_C(1) << 20)
#define WW_CUBIC_CWND_MAX ((UINT32_C(1) << 24) - 1) /* W_max has 32 bits with its fraction */

struct ww_cubic_state {
    struct ww_common common;
    uint64_t epoch_us;   /* when this congestion avoidance stage began, shifted by idle times */
    uint64_t last_us;    /* when the last ACK came */
    uint64_t w_est;      /* segments << 32 */
    uint32_t w_max;      /* segments << 8; 0: none (start, after a timeout) */
    uint32_t origin;     /* segments << 8: W_max of this stage */
    uint32_t k_ms;       /* K of this stage */
    uint32_t cwnd_prior; /* segments, before the last reduction */
    uint32_t fraction;   /* of cwnd, segments << 32 */
    uint32_t srtt_us;    /* 0 before the first RTT */
    bool epoch_open;
    struct ww_hystart_state hystart;
};

static inline void ww_cubic_init(struct ww_cubic_state *cubic) {
    const struct ww_cubic_state fresh = {{0, 0, 0}, 0, 0, 0, 0,     0,
                                         0,         0, 0, 0, false, WW_HYSTART_FRESH};
    *cubic = fresh;
}

/* Returns W_cubic after ms of the stage, segments << 8; below 2^38. */
static inline uint64_t ww_cubic_window(const struct ww_cubic_state *cubic, uint64_t ms) {
    ms = ww_min_u64(ms, WW_CUBIC_LONGEST_MS);
    const uint64_t k = cubic->k_ms;
    const uint64_t away = ms > k ? ms - k : k - ms;
    const uint64_t change = away * away * away / WW_CUBIC_SCALE;
    if (ms > k) return cubic->origin + change;
    return cubic->origin > change ? cubic->origin - change : 0;
}

/* Begins a congestion avoidance stage with its first ACK: RFC 9438, 4.2, 4.8 and 4.10. */
static inline void ww_cubic_begin(struct ww_cubic_state *cubic, uint32_t cwnd, uint64_t now_us) {
    const uint32_t window = cwnd << WW_CUBIC_FRACTION;
    cubic->epoch_open = true;
    cubic->epoch_us = now_us;
    cubic->w_est = (uint64_t)cwnd << 32;
    cubic->fraction = 0;
    cubic->origin = ww_max_u32(cubic->w_max, window);
    cubic->k_ms = ww_cube_root((uint64_t)(cubic->origin - window) * WW_CUBIC_SCALE);
}

/* Grows W_est, RFC 9438, 4.3. Products: 2^16 segments * 9 * 2^32 < 2^52. */
static inline void ww_cubic_reno_friendly(struct ww_cubic_state *cubic, uint32_t cwnd,
                                          uint32_t segments) {
    const uint64_t credit = (uint64_t)segments << 32;
    const bool recovered = cubic->w_est >> 32 >= cubic->cwnd_prior;
    cubic->w_est += recovered ? ww_div(credit, cwnd) : ww_div(9 * credit, UINT64_C(17) * cwnd);
    cubic->w_est = ww_min_u64(cubic->w_est, (uint64_t)WW_CUBIC_CWND_MAX << 32);
}

/* Grows the window in congestion avoidance on one ACK for `segments`. */
static inline void ww_cubic_grow(struct ww_cubic_state *cubic, struct ww_window *window,
                                 uint64_t now_us, uint32_t segments) {
    const uint32_t cwnd = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    segments = ww_min_u32(segments, 1u << 16);
    if (!cubic->epoch_open) ww_cubic_begin(cubic, cwnd, now_us);
    ww_cubic_reno_friendly(cubic, cwnd, segments);
    const uint64_t elapsed_us = now_us - cubic->epoch_us;
    const uint64_t reno = cubic->w_est >> (32 - WW_CUBIC_FRACTION);
    if (ww_cubic_window(cubic, elapsed_us / 1000) < reno) {
        window->cwnd = ww_max_u32(cwnd, (uint32_t)(cubic->w_est >> 32));
        return;
    }
    const uint64_t now = (uint64_t)cwnd << WW_CUBIC_FRACTION;
    const uint64_t target =
        ww_min_u64(ww_cubic_window(cubic, (elapsed_us + cubic->srtt_us) / 1000), now + now / 2);
    if (target <= now) return;
    /* (target - now) / cwnd <= 1/2: at most 2^31 a segment, 2^47 in all. The shift: 2^31 * 2^24. */
    const uint64_t growth =
        cubic->fraction + segments * ww_div((target - now) << (32 - WW_CUBIC_FRACTION), cwnd);
    cubic->fraction = (uint32_t)growth;
    window->cwnd = ww_min_u32(cwnd + (uint32_t)(growth >> 32), WW_CUBIC_CWND_MAX);
}

static inline void ww_cubic_on_ack(const struct ww_config *config, struct ww_cubic_state *cubic,
                                   struct ww_window *window, const struct ww_sample *sample) {
    if (sample->rtt_us != 0) {
        const uint32_t srtt = cubic->srtt_us; /* 7/8 srtt + 1/8 rtt without overflow */
        cubic->srtt_us = srtt == 0 ? sample->rtt_us : srtt - srtt / 8 + sample->rtt_us / 8;
    }
    const uint64_t since_last_us = sample->now_us - cubic->last_us;
    cubic->last_us = sample->now_us;
    const bool slow_start = window->cwnd < window->ssthresh;
    if (config->hystart && slow_start && ww_may_grow(sample))
        ww_hystart_on_ack(config, &cubic->hystart, window, sample);
    if (!ww_may_grow(sample)) return;
    if (config->validate_cwnd && !sample->is_cwnd_limited) {
        cubic->epoch_us += since_last_us; /* RFC 9438, 5.8 */
    } else if (!slow_start) {
        ww_cubic_grow(cubic, window, sample->now_us, sample->acked_segments);
    } else if (!config->hystart ||
               ww_hystart_may_grow(&cubic->hystart, &cubic->common.cwnd_count)) {
        ww_grow(config, &cubic->common, window, sample);
    }
}

/* Returns beta times the flight, at least the floor: 2^28 * 7 < 2^31. */
static inline uint32_t ww_cubic_ssthresh(const struct ww_config *config, uint32_t in_flight) {
    return ww_max_u32(ww_min_u32(in_flight, WW_CWND_MAX) * 7 / 10, config->min_cwnd);
}

/* Decreases the window by RFC 9438, 4.6, with fast convergence. 17/20 of 2^32 needs 64 bits. */
static inline void ww_cubic_on_loss(const struct ww_config *config, struct ww_cubic_state *cubic,
                                    struct ww_window *window, uint32_t in_flight) {
    const uint32_t before = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    const uint32_t scaled = before << WW_CUBIC_FRACTION;
    const bool shrinking = config->fast_convergence && scaled < cubic->w_max;
    cubic->w_max = shrinking ? (uint32_t)((uint64_t)scaled * 17 / 20) : scaled;
    cubic->cwnd_prior = before;
    cubic->epoch_open = false;
    cubic->hystart.done = true;
    ww_reno_on_loss(&cubic->common, window, ww_cubic_ssthresh(config, in_flight));
}

static inline void ww_cubic_on_rto(const struct ww_config *config, struct ww_cubic_state *cubic,
                                   struct ww_window *window, uint32_t in_flight, bool repeated) {
    cubic->w_max = 0;
    cubic->cwnd_prior = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    cubic->epoch_open = false;
    cubic->hystart.done = true;
    ww_reno_on_rto(&cubic->common, window, ww_cubic_ssthresh(config, in_flight), repeated);
}

/* These are CUBIC's operations: westwood.h calls them, see reno.h. */
#define WW_CUBIC_TRAITS 0u
#define WW_CUBIC_INIT ww_cubic_init
#define WW_CUBIC_ON_ACK ww_cubic_on_ack
#define WW_CUBIC_SSTHRESH(config, cubic, now_us, in_flight, mss) \
    ww_cubic_ssthresh(config, in_flight)
#define WW_CUBIC_ON_LOSS(config, cubic, window, now_us, in_flight, mss) \
    ww_cubic_on_loss(config, cubic, window, in_flight)
#define WW_CUBIC_ON_RECOVERY_EXIT WW_RENO_ON_RECOVERY_EXIT
#define WW_CUBIC_ON_RTO(config, cubic, window, now_us, in_flight, mss, repeated) \
    ww_cubic_on_rto(config, cubic, window, in_flight, repeated)
#define WW_CUBIC_ON_UNDO WW_RENO_ON_UNDO
#define WW_CUBIC_OBSERVE WW_RENO_OBSERVE

#endif
