/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Kathleen Nichols' windowed maximum, which keeps three samples: the best, the best of those after it,
 * and the best of those after that. Time is a 16-bit counter that wraps, such as round trips.
 */
#ifndef WW_MAX_FILTER_H
#define WW_MAX_FILTER_H

#include "arith.h"

static inline void ww_max_keep(uint64_t best[3], uint16_t times[3], uint32_t from, uint64_t sample,
                               uint16_t now) {
    for (uint32_t i = from; i < 3; i++) {
        best[i] = sample;
        times[i] = now;
    }
}

static inline void ww_max_shift(uint64_t best[3], uint16_t times[3], uint64_t sample,
                                uint16_t now) {
    best[0] = best[1];
    times[0] = times[1];
    best[1] = best[2];
    times[1] = times[2];
    ww_max_keep(best, times, 2, sample, now);
}

/* Returns how long ago a sample was taken. */
static inline uint32_t ww_max_age(uint16_t time, uint16_t now) {
    return (uint16_t)ww_wrapping_sub(now, time);
}

/* Adds a sample. A sample that is older than `window` no longer counts. */
static inline void ww_max_update(uint64_t best[3], uint16_t times[3], uint64_t sample, uint16_t now,
                                 uint32_t window) {
    if (sample >= best[0] || ww_max_age(times[2], now) > window) {
        ww_max_keep(best, times, 0, sample, now);
        return;
    }
    if (sample >= best[1])
        ww_max_keep(best, times, 1, sample, now);
    else if (sample >= best[2])
        ww_max_keep(best, times, 2, sample, now);
    const uint32_t age = ww_max_age(times[0], now);
    if (age > window) {
        ww_max_shift(best, times, sample, now);
        if (ww_max_age(times[0], now) > window) ww_max_shift(best, times, sample, now);
    } else if (times[1] == times[0] && age > window / 4) {
        ww_max_keep(best, times, 1, sample, now);
    } else if (times[2] == times[1] && age > window / 2) {
        ww_max_keep(best, times, 2, sample, now);
    }
}

#endif
