/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * SEARCH, Slow start Exit At Right CHokepoint (draft-chung-ccwg-search): leaves the first slow start once less
 * arrives than was sent a round trip earlier. Delay alone does not end it.
 *
 *   bins         BIN_DURATION = 3.5 INITIAL_RTT / W, W = 10; each keeps what was sent and what was acknowledged so
 *                far: "aggregated over bins representing small, fixed time periods"                 3, lines 1 - 9
 *   a check      at the first ACK beyond a bin's end: "SEARCH only triggers at the bin boundary", if a whole
 *                window lies before the last round trip, and that spans fewer than EXTRA_BINS = 15  3, lines 10 - 14
 *   sent         in the W bins that end one RTT ago, "interpolated by the fraction of each of the end bins"  3, 17
 *   norm_diff  = (sent - delivered in the last W bins) / sent                                       3, line 18
 *   exit         norm_diff >= THRESH = 0.26: cwnd = ssthresh = delivered in the last INITIAL_RTT, which is
 *                BIN_DURATION rounded up to 3 bins: "to instead be at the congestion point"         3, lines 39 - 42
 *   missed bins  up to W keep the sums of the bin before; more restart the bins with this ACK's RTT
 *
 * Sections and lines are those of SEARCH 3 (2024), which takes twice the earlier deliveries for `sent` and 0.35 for
 * THRESH. Draft 09 of 2026 compares with what was sent, so that a sender limited by its application does not seem
 * congested; its numbers are those here, and those of Mozilla's neqo. The interpolation goes backwards in time, as
 * the draft's authors and neqo's agreed: https://github.com/mozilla/neqo/pull/3518.
 *
 * The sent window lies a whole present round trip back, which a queue lengthens. So behind one drop-tail queue it
 * exits with 5.6 BDP in flight, and with queues below 4.6 BDP the loss comes first: tests/core/search_test.cpp.
 *
 * Deviations: segments instead of bytes. Draft 09 drains the queue gradually; here cwnd falls at once, to 10 segments
 * at least (RFC 6928), as in the authors' code for FreeBSD and Linux (cwnd_rollback). Only the first slow start has
 * SEARCH, as RFC 9406, 4.3 says of HyStart++.
 */
#ifndef WW_SEARCH_H
#define WW_SEARCH_H

#include "arith.h"

enum {
    WW_SEARCH_BINS = 10, /* W: bins of a window */
    WW_SEARCH_EXTRA_BINS = 15,
    WW_SEARCH_ACKED_BINS = WW_SEARCH_BINS + 1,
    WW_SEARCH_SENT_BINS = WW_SEARCH_ACKED_BINS + WW_SEARCH_EXTRA_BINS,
    WW_SEARCH_RTT_BINS = 3,        /* INITIAL_RTT / BIN_DURATION = 20 / 7, rounded up */
    WW_SEARCH_THRESH_PERCENT = 26, /* THRESH */
    WW_SEARCH_LEAST_CWND = 10,     /* segments */
};

/* A zeroed state is the start. Times and counts wrap, but their differences stay right. */
struct ww_search_state {
    uint32_t bin_us;       /* BIN_DURATION; 0: no RTT is known */
    uint32_t completed_us; /* when the newest complete bin ended */
    uint32_t bin;          /* its number */
    uint32_t acked;        /* segments so far */
    uint32_t acked_bins[WW_SEARCH_ACKED_BINS];
    uint32_t sent_bins[WW_SEARCH_SENT_BINS];
};

static inline void ww_search_put(struct ww_search_state *search, uint32_t acked, uint32_t sent) {
    search->acked_bins[search->bin % WW_SEARCH_ACKED_BINS] = acked;
    search->sent_bins[search->bin % WW_SEARCH_SENT_BINS] = sent;
}

/* Begins with the sums so far. 2^32 * 7 < 2^35. */
static inline void ww_search_begin(struct ww_search_state *search, const struct ww_sample *sample,
                                   uint32_t sent) {
    if (sample->rtt_us == 0) return;
    search->bin_us = ww_max_u32((uint32_t)((uint64_t)sample->rtt_us * 7 / 20), 1);
    search->completed_us = (uint32_t)sample->now_us;
    search->bin = 0;
    ww_search_put(search, search->acked, sent);
}

/* Returns true if this ACK completes a bin, or several. */
static inline bool ww_search_completes_bin(struct ww_search_state *search,
                                           const struct ww_sample *sample, uint32_t sent) {
    if (search->bin_us == 0) ww_search_begin(search, sample, sent);
    const uint32_t since_us = ww_wrapping_sub((uint32_t)sample->now_us, search->completed_us);
    if (search->bin_us == 0 || since_us <= search->bin_us) return false;
    const uint64_t passed = ww_div(since_us, search->bin_us);
    if (passed > WW_SEARCH_BINS) {
        ww_search_begin(search, sample, sent);
        return false;
    }
    const uint32_t acked_before = search->acked_bins[search->bin % WW_SEARCH_ACKED_BINS];
    const uint32_t sent_before = search->sent_bins[search->bin % WW_SEARCH_SENT_BINS];
    for (uint64_t i = 0; i < passed; i++) {
        search->bin = ww_wrapping_add(search->bin, 1);
        ww_search_put(search, acked_before, sent_before);
    }
    ww_search_put(search, search->acked, sent);
    search->completed_us =
        ww_wrapping_add(search->completed_us, (uint32_t)(passed * search->bin_us));
    return true;
}

/* Returns what was acknowledged in the last bins. */
static inline uint32_t ww_search_acked(const struct ww_search_state *search, uint32_t bins) {
    const uint32_t first = ww_wrapping_sub(search->bin, bins);
    return ww_wrapping_sub(search->acked_bins[search->bin % WW_SEARCH_ACKED_BINS],
                           search->acked_bins[first % WW_SEARCH_ACKED_BINS]);
}

/* Returns what was sent in the window that ends `ago` bins before the last one. */
static inline uint64_t ww_search_sent(const struct ww_search_state *search, uint32_t ago) {
    const uint32_t last = ww_wrapping_sub(search->bin, ago);
    const uint32_t first = ww_wrapping_sub(last, WW_SEARCH_BINS);
    const uint32_t sent = ww_wrapping_sub(search->sent_bins[last % WW_SEARCH_SENT_BINS],
                                          search->sent_bins[first % WW_SEARCH_SENT_BINS]);
    return ww_min_u32(sent, WW_CWND_MAX);
}

/* Returns true if less arrives than was sent a round trip ago. Products: 2^28 * 2^32 * 2 = 2^61. */
static inline bool ww_search_is_at_chokepoint(const struct ww_search_state *search,
                                              uint32_t rtt_us) {
    const uint64_t ago = ww_div(rtt_us, search->bin_us);
    if (rtt_us == 0 || ago >= WW_SEARCH_EXTRA_BINS || search->bin <= WW_SEARCH_BINS + ago)
        return false;
    const uint64_t part_us = ww_minus(rtt_us, ago * search->bin_us);
    const uint64_t sum = ww_search_sent(search, (uint32_t)ago + 1) * part_us +
                         ww_search_sent(search, (uint32_t)ago) * ww_minus(search->bin_us, part_us);
    const uint64_t sent = ww_min_u64(ww_div(sum, search->bin_us), WW_CWND_MAX);
    const uint64_t missing = ww_minus(sent, ww_search_acked(search, WW_SEARCH_BINS));
    return sent != 0 && missing * 100 >= sent * WW_SEARCH_THRESH_PERCENT;
}

/* Takes an ACK for new data in the first slow start. It may set the windows, which ends slow start. */
static inline void ww_search_on_ack(const struct ww_config *config, struct ww_search_state *search,
                                    struct ww_window *window, const struct ww_sample *sample) {
    search->acked = ww_wrapping_add(search->acked, sample->acked_segments);
    const uint32_t sent = ww_wrapping_add(search->acked, sample->in_flight);
    if (!ww_search_completes_bin(search, sample, sent)) return;
    if (!ww_search_is_at_chokepoint(search, sample->rtt_us)) return;
    const uint32_t bdp =
        ww_max_u32(ww_search_acked(search, WW_SEARCH_RTT_BINS), WW_SEARCH_LEAST_CWND);
    window->cwnd = ww_min_u32(window->cwnd, bdp);
    window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
}

#endif
