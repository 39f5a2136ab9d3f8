/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* A host that may pass any value that core/contract.h allows. */
#ifndef WW_PROOFS_HOST_H
#define WW_PROOFS_HOST_H

#include "promises.h"

/* Each read gives another number, about which Frama-C assumes nothing. */
extern volatile uint64_t ww_anything;

/* Returns any number from `least` to `most`. */
static inline uint64_t any(uint64_t least, uint64_t most) {
    const uint64_t value = ww_anything;
    return value < least ? least : value > most ? most : value;
}

#define WW_DRAW(name, least, most) drawn.name = any(least, most);
static inline struct ww_sample any_sample(void) {
    struct ww_sample drawn;
    WW_SAMPLE_RANGES(WW_DRAW)
    return drawn;
}

static inline struct ww_sent any_sent(void) {
    struct ww_sent drawn;
    WW_SENT_RANGES(WW_DRAW)
    return drawn;
}

static inline struct ww_lost any_lost(void) {
    struct ww_lost drawn;
    WW_LOST_RANGES(WW_DRAW)
    return drawn;
}

static inline struct ww_window any_window(void) {
    struct ww_window drawn;
    WW_WINDOW_RANGES(WW_DRAW)
    return drawn;
}
#undef WW_DRAW

#endif
