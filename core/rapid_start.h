/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Rapid Start (draft-kazuho-ccwg-rapid-start, the editor's copy of 2026 with Welzl as second author): the first slow
 * start triples the window in a round trip while no queue builds, and what the path delivers then sets the window.
 *
 *   growth    by 2 bytes per byte acknowledged if rtt_floor <= min(min_rtt + 4 ms, min_rtt 1.10), else by 1 as in
 *             classic slow start; rtt_floor is the smallest RTT of a window "of length min_rtt"
 *   pacing    "the sender ought to pace the packets over the full RTT": a round's flight, 3 or 2 times the window at
 *             its start, over SRTT
 *   recovery  silence = loss_factor = beta + K (1 - beta), ack_factor = K (1 - beta), K = 2/3:
 *             cwnd = silence cwnd - ack_factor acked - loss_factor lost, where cwnd = acked + lost ("Deriving the
 *             Reduction Factors"). At its end that is beta acked, "as large as the full BDP multiplied by beta", and
 *             not below pre_recovery_cwnd beta / 3
 *   CUBIC     W_max "SHOULD be set to twice the estimated full BDP", cwnd / beta; that BDP without fast convergence
 *
 * beta is CUBIC's 0.7, and 0.5 around the other controls. Recovery is a round trip, as in QUIC: until a segment
 * arrives that was sent after the loss.
 *
 * Deviations: the host's recovery (PRR, for example) moves the window in between, towards the control's ssthresh, and
 * at its end the window falls to the draft's: "it is up to each TCP implementation to determine whether and how". A
 * mark without a loss leaves beta cwnd by these equations, as the control does. No round trip is known when the initial
 * window leaves, so it is not paced, nor doubled. A host that has no rate samples for these controls (ns-3) has the growth only.
 */
#ifndef WW_RAPID_START_H
#define WW_RAPID_START_H

#include "catalogue.h"
#include "rounds.h"

enum {
    WW_RAPID_QUEUE_US = 4000,
    WW_RAPID_GROWTH = 3,
    WW_CLASSIC_GROWTH = 2,
};

enum ww_rapid_recovery { WW_RAPID_NONE, WW_RAPID_COUNTS, WW_RAPID_COUNTED };

/* A zeroed state is the start. Times and counts wrap, but their differences stay right. */
struct ww_rapid_start_state {
    uint32_t round_start_us;
    uint32_t round_cwnd; /* at the round's start; 0: no round yet */
    uint32_t floor_us;   /* rtt_floor: the smallest RTT of this round; 0: none */
    uint32_t delivered;  /* segments so far */
    uint32_t before;     /* `delivered` when recovery began */
    uint32_t acked;      /* segments that arrived in the round trip of recovery */
    uint32_t prior_cwnd; /* pre_recovery_cwnd */
    uint8_t recovery;    /* enum ww_rapid_recovery */
};

/* Returns the most that rtt_floor may be without a queue: queue_buildup_thresh. */
static inline uint64_t ww_rapid_threshold(uint32_t least_us) {
    return (uint64_t)least_us + ww_min_u32(least_us / 10, WW_RAPID_QUEUE_US);
}

/* Returns by how much the window may grow in a round trip. */
static inline uint32_t ww_rapid_growth(const struct ww_rapid_start_state *rapid,
                                       uint32_t least_us) {
    const bool queues = rapid->floor_us == 0 || rapid->floor_us > ww_rapid_threshold(least_us);
    return queues ? WW_CLASSIC_GROWTH : WW_RAPID_GROWTH;
}

/* Begins a round a smallest round trip after the last one, and measures its floor. */
static inline void ww_rapid_measure(struct ww_rapid_start_state *rapid,
                                    const struct ww_window *window, const struct ww_sample *sample,
                                    uint32_t least_us) {
    const uint32_t now_us = (uint32_t)sample->now_us;
    if (rapid->round_cwnd == 0 || ww_wrapping_sub(now_us, rapid->round_start_us) >= least_us) {
        rapid->round_start_us = now_us;
        rapid->round_cwnd = window->cwnd;
        rapid->floor_us = 0;
    }
    if (sample->rtt_us != 0) rapid->floor_us = ww_least_rtt(rapid->floor_us, sample->rtt_us);
}

/* Takes an ACK for new data in the first slow start. The rate is at most 2^28 * 2^16 * 3 bytes in a microsecond. */
static inline void ww_rapid_on_ack(struct ww_rapid_start_state *rapid, struct ww_window *window,
                                   const struct ww_sample *sample, uint32_t least_us) {
    ww_rapid_measure(rapid, window, sample, least_us);
    const uint32_t growth = ww_rapid_growth(rapid, least_us);
    const uint64_t flight = (uint64_t)ww_min_u32(rapid->round_cwnd, WW_CWND_MAX) * growth;
    window->pacing = ww_rate(flight * sample->mss, sample->srtt_us);
}

/* Adds once more what the control has added, unless a queue builds. */
static inline void ww_rapid_after_ack(const struct ww_rapid_start_state *rapid,
                                      const struct ww_window *before, struct ww_window *window,
                                      uint32_t least_us) {
    if (ww_rapid_growth(rapid, least_us) != WW_RAPID_GROWTH) return;
    const uint32_t largest = ww_min_u32(window->ssthresh, WW_CWND_MAX);
    const uint64_t larger = window->cwnd + ww_minus(window->cwnd, before->cwnd);
    window->cwnd = ww_max_u32(window->cwnd, (uint32_t)ww_min_u64(larger, largest));
}

/* Counts what arrives, and in recovery until what was sent after the loss does. */
static inline void ww_rapid_count(struct ww_rapid_start_state *rapid,
                                  const struct ww_sample *sample) {
    rapid->delivered = sample->delivered;
    if (sample->phase == WW_LOSS) rapid->recovery = WW_RAPID_NONE;
    if (rapid->recovery != WW_RAPID_COUNTS) return;
    if (sample->newly_delivered != 0 && ww_reached(sample->prior_delivered, rapid->before))
        rapid->recovery = WW_RAPID_COUNTED;
    else
        rapid->acked = ww_min_u32(ww_wrapping_sub(sample->delivered, rapid->before), WW_CWND_MAX);
}

/* Begins the first recovery. */
static inline void ww_rapid_on_loss(struct ww_rapid_start_state *rapid,
                                    const struct ww_window *window) {
    rapid->recovery = WW_RAPID_COUNTS;
    rapid->before = rapid->delivered;
    rapid->acked = 0;
    rapid->prior_cwnd = ww_min_u32(window->cwnd, WW_CWND_MAX);
}

/* Ends the first recovery. Returns the full BDP, segments, or 0 if it is not known. Products: 2^28 * 7 < 2^31. */
static inline uint32_t ww_rapid_on_recovery_exit(const struct ww_config *config,
                                                 struct ww_rapid_start_state *rapid,
                                                 struct ww_window *window) {
    const bool is_known = rapid->recovery == WW_RAPID_COUNTED;
    rapid->recovery = WW_RAPID_NONE;
    if (!is_known) return 0;
    const uint32_t tenths = config->algorithm == WW_ALG_CUBIC ? 7 : 5;
    const uint32_t full = ww_max_u32(rapid->acked, rapid->prior_cwnd / 3);
    const uint32_t reduced = ww_max_u32(full * tenths / 10, config->min_cwnd);
    window->cwnd = ww_min_u32(window->cwnd, reduced);
    window->ssthresh = ww_max_u32(ww_min_u32(window->ssthresh, reduced), config->min_cwnd);
    return full;
}

#endif
