/* SPDX-License-Identifier: BSD-3-Clause */
/* Any values that core/contract.h allows. `any` returns any number from the least to the most. */
#ifndef WW_DRAWN_H
#define WW_DRAWN_H

static uint64_t any(uint64_t least, uint64_t most);

#define WW_DRAW(name, least, most) value.name = (__typeof__(value.name))any(least, most);
static struct ww_sample any_sample(void) {
    struct ww_sample value = {0};
    WW_SAMPLE_RANGES(WW_DRAW)
    return value;
}
static struct ww_sent any_sent(void) {
    struct ww_sent value = {0};
    WW_SENT_RANGES(WW_DRAW)
    return value;
}
static struct ww_lost any_lost(void) {
    struct ww_lost value = {0};
    WW_LOST_RANGES(WW_DRAW)
    return value;
}
#undef WW_DRAW

#endif
