/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Counts round trips in segments: a round ends when everything that was in flight at its start is
 * acknowledged.
 */
#ifndef WW_ROUNDS_H
#define WW_ROUNDS_H

#include "arith.h"

struct ww_rounds {
    uint32_t acked; /* segments cumulatively acknowledged so far; wraps */
    uint32_t end;   /* `acked` at the round's end */
};

static inline void ww_count_acked(struct ww_rounds *rounds, const struct ww_sample *sample) {
    rounds->acked = ww_wrapping_add(rounds->acked, sample->acked_segments);
}

/* Counts what an ACK acknowledges. Returns true if that ends the round and begins the next. */
static inline bool ww_round_ends(struct ww_rounds *rounds, const struct ww_sample *sample) {
    ww_count_acked(rounds, sample);
    if (!ww_reached(rounds->acked, rounds->end)) return false;
    rounds->end = ww_wrapping_add(rounds->acked, sample->in_flight);
    return true;
}

/* Returns the smaller of two round trips, where 0 is none. */
static inline uint32_t ww_least_rtt(uint32_t least_us, uint32_t rtt_us) {
    return least_us == 0 || rtt_us < least_us ? rtt_us : least_us;
}

#endif
