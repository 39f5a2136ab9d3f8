/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * CUBIC's curve (RFC 9438, 4.2 to 4.5): how cubic.h and westwood_cubic.h grow the window between
 * two reductions. cubic.h has the equations. W_cubic is kept in 1/256 segments, times in ms: C (ms
 * / 1000)^3 * 256 = ms^3 / 5^10, which is exact. ms <= 2^20 (17 minutes; longer is clamped), so
 * ms^3 <= 2^60. K <= 2^20 as well: the cube root of 2^32 * 5^10 < 2^56. The clock's ms wrap after
 * 49 days, so a stage may not last longer.
 */
#ifndef WW_CUBIC_CURVE_H
#define WW_CUBIC_CURVE_H

#include "reno.h"

#define WW_CUBIC_FRACTION 8u    /* fraction bits of W_max and W_cubic */
#define WW_CUBIC_SCALE 9765625u /* 5^10 */
#define WW_CUBIC_LONGEST_MS (UINT64_C(1) << 20)
#define WW_CUBIC_CWND_MAX ((UINT32_C(1) << 24) - 1) /* W_max has 32 bits with its fraction */

/* A congestion avoidance stage. */
struct ww_cubic_curve {
    uint64_t w_est;      /* segments << 32; with kernel_rules segments << 32 | segments acknowledged
                              towards the next one */
    uint32_t epoch_ms;   /* when the stage began, shifted by idle times */
    uint32_t w_max;      /* segments << 8; 0: none, before the first stage and after a timeout */
    uint32_t k_ms;       /* K of this stage */
    uint32_t cwnd_prior; /* segments, before the last reduction; 0: still the first slow start */
    uint32_t fraction;   /* of cwnd, segments << 32 */
    bool epoch_open;
    bool w_max_known;  /* a loss has shown w_max */
    uint16_t capacity; /* segments, westwood_cubic.h; fills what would be padding */
};

/* Returns how far W_cubic is from W_max after ms of the stage, segments << 8; below 2^37. */
static inline uint64_t ww_cubic_offset(const struct ww_cubic_curve *curve, uint64_t ms) {
    const uint64_t k = curve->k_ms;
    const uint64_t away = ms > k ? ms - k : k - ms;
    return away * away * away / WW_CUBIC_SCALE;
}

/* Returns W_cubic after ms of the stage, segments << 8; below 2^38. */
static inline uint64_t ww_cubic_window(const struct ww_cubic_curve *curve, uint64_t ms) {
    ms = ww_min_u64(ms, WW_CUBIC_LONGEST_MS);
    const uint64_t offset = ww_cubic_offset(curve, ms);
    if (ms > curve->k_ms) return curve->w_max + offset;
    return curve->w_max > offset ? curve->w_max - offset : 0;
}

/* The same in whole segments; the distance from W_max is cut to whole segments too. */
static inline uint64_t ww_cubic_whole_window(const struct ww_cubic_curve *curve, uint64_t ms) {
    ms = ww_min_u64(ms, WW_CUBIC_LONGEST_MS);
    const uint64_t w_max = curve->w_max >> WW_CUBIC_FRACTION;
    const uint64_t offset = ww_cubic_offset(curve, ms) >> WW_CUBIC_FRACTION;
    if (ms > curve->k_ms) return w_max + offset;
    return w_max > offset ? w_max - offset : 0;
}

/* Begins a congestion avoidance stage with its first ACK: RFC 9438, 4.2, 4.8 and 4.10. */
static inline void ww_cubic_begin(struct ww_cubic_curve *curve, uint32_t cwnd, uint32_t now_ms) {
    const uint32_t window = cwnd << WW_CUBIC_FRACTION;
    curve->epoch_open = true;
    curve->epoch_ms = now_ms;
    curve->w_est = (uint64_t)cwnd << 32;
    curve->fraction = 0;
    if (curve->cwnd_prior == 0) curve->cwnd_prior = cwnd;
    curve->w_max = ww_max_u32(curve->w_max, window);
    curve->k_ms = ww_cube_root((uint64_t)(curve->w_max - window) * WW_CUBIC_SCALE);
}

/* Grows W_est, RFC 9438, 4.3. Products: 2^16 segments * 9 * 2^32 < 2^52. */
static inline void ww_cubic_reno_friendly(struct ww_cubic_curve *curve, uint32_t cwnd,
                                          uint32_t segments) {
    const uint64_t credit = (uint64_t)segments << 32;
    const bool recovered = curve->w_est >> 32 >= curve->cwnd_prior;
    curve->w_est += recovered ? ww_div(credit, cwnd) : ww_div(9 * credit, UINT64_C(17) * cwnd);
    curve->w_est = ww_min_u64(curve->w_est, (uint64_t)WW_CUBIC_CWND_MAX << 32);
}

/* Grows the window in congestion avoidance on one ACK for `segments`. */
static inline void ww_cubic_grow(struct ww_cubic_curve *curve, struct ww_window *window,
                                 uint32_t elapsed_ms, uint32_t segments, uint32_t srtt_us) {
    const uint32_t cwnd = window->cwnd;
    ww_cubic_reno_friendly(curve, cwnd, segments);
    const uint64_t reno = curve->w_est >> (32 - WW_CUBIC_FRACTION);
    if (ww_cubic_window(curve, elapsed_ms) < reno) {
        window->cwnd = ww_max_u32(cwnd, (uint32_t)(curve->w_est >> 32));
        return;
    }
    const uint64_t now = (uint64_t)cwnd << WW_CUBIC_FRACTION;
    const uint64_t ahead_ms = (uint64_t)elapsed_ms + srtt_us / 1000;
    const uint64_t target = ww_min_u64(ww_cubic_window(curve, ahead_ms), now + now / 2);
    if (target <= now) return;
    /* (target - now) / cwnd <= 1/2: at most 2^31 per segment, 2^47 in all. The shift: 2^31 * 2^24. */
    const uint64_t each = ww_div((target - now) << (32 - WW_CUBIC_FRACTION), cwnd);
    const uint64_t growth = curve->fraction + segments * ww_min_u64(each, UINT64_C(1) << 31);
    curve->fraction = (uint32_t)growth;
    window->cwnd = ww_min_u32(cwnd + (uint32_t)(growth >> 32), WW_CUBIC_CWND_MAX);
}

/* Takes an idle period, which began after the last ACK, out of the stage: RFC 9438, 4.2 and 5.8. */
static inline void ww_cubic_skip_idle(const struct ww_config *config, struct ww_cubic_curve *curve,
                                      uint32_t *last_ms, uint64_t now_us) {
    if (!config->validate_cwnd) return;
    const uint32_t now_ms = (uint32_t)(now_us / 1000);
    curve->epoch_ms = ww_wrapping_add(curve->epoch_ms, ww_wrapping_sub(now_ms, *last_ms));
    *last_ms = now_ms;
}

#endif
