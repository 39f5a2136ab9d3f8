/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What BBRv1 of Linux 6.12 does about a token bucket that polices it (tcp_bbr.c: bbr_lt_bw_sampling()), with
 * bbr_rules = linux. A short queue loses as many segments, so it also decides there.
 *
 *   interval   begins with a loss, and ends with the first one 4 to 16 round trips later at which the losses
 *              are at least 50/256 of what was delivered; a longer or limited one is forgotten
 *   policed    the rates of two intervals in a row differ by at most 1/8, or by 4 kb/s
 *   then       their mean stands for BtlBw, and PROBE_BW has no gains, for 48 round trips
 *
 * A program for Linux has no room for the state, and need not: Linux has a BBRv1 of its own. Unlike there, a timeout
 * begins no interval and counts as no round trip.
 */
#ifndef WW_BBR_POLICER_H
#define WW_BBR_POLICER_H

#include "reno.h"

#ifndef __bpf__

enum {
    WW_BBR_INTERVAL_ROUNDS = 4,
    WW_BBR_POLICED_ROUNDS = 48,
    WW_BBR_POLICER_LOSSES = 50, /* in 1/256 of what is delivered */
    WW_BBR_POLICER_MARGIN = 99, /* of bbr_rate_bytes_per_sec(), in % of the rate */
    WW_BBR_SAME_RATE = 500,     /* bytes/s */
};

struct ww_bbr_policer {
    uint64_t bw; /* of the last interval, or the policer's, bytes/s << WW_BW_FRACTION; 0: none */
    uint32_t now_ms;     /* of the last ACK that delivered something; wraps, as the next three */
    uint32_t began_ms;   /* when the interval began */
    uint32_t began_with; /* `delivered` then */
    uint32_t lost;       /* segments lost since then */
    uint8_t rounds;      /* round trips of the interval, or with the policer's rate */
    bool is_sampling;    /* an interval has begun */
    bool is_known;       /* the policer's rate stands for BtlBw */
};
#define WW_BBR_NO_POLICER \
    { 0, 0, 0, 0, 0, 0, false, false }

static inline bool ww_bbr_is_policed(const struct ww_bbr_policer *policer) {
    return policer->is_known;
}

static inline uint64_t ww_bbr_policed_bw(const struct ww_bbr_policer *policer) {
    return policer->bw;
}

static inline void ww_bbr_forget_policer(struct ww_bbr_policer *policer) {
    policer->bw = 0;
    policer->is_sampling = policer->is_known = false;
}

static inline void ww_bbr_begin_interval(struct ww_bbr_policer *policer, uint32_t delivered) {
    policer->began_ms = policer->now_ms;
    policer->began_with = delivered;
    policer->lost = 0;
    policer->rounds = 0;
}

/* bbr_lt_bw_interval_done() */
static inline void ww_bbr_end_interval(struct ww_bbr_policer *policer, uint64_t bw,
                                       uint32_t delivered) {
    const uint64_t last = policer->bw;
    const uint64_t differ = ww_max_u64(bw, last) - ww_min_u64(bw, last);
    const uint64_t differ_bytes_per_s = differ * WW_BBR_POLICER_MARGIN / 100 >> WW_BW_FRACTION;
    policer->is_known = last != 0 && (differ <= last / 8 || differ_bytes_per_s <= WW_BBR_SAME_RATE);
    policer->bw = policer->is_known ? (bw + last) / 2 : bw;
    ww_bbr_begin_interval(policer, delivered);
}

/* Takes every ACK. */
static inline void ww_bbr_count_losses(struct ww_bbr_policer *policer,
                                       const struct ww_sample *sample) {
    policer->lost = ww_wrapping_add(policer->lost, sample->newly_lost);
    if (sample->newly_delivered > 0) policer->now_ms = (uint32_t)(sample->now_us / 1000);
}

/* Takes an ACK with a rate sample while no policer is known. */
static inline void ww_bbr_find_policer(struct ww_bbr_policer *policer,
                                       const struct ww_sample *sample, bool is_limited,
                                       bool begins_round) {
    if (!policer->is_sampling) {
        if (sample->newly_lost == 0) return;
        ww_bbr_begin_interval(policer, sample->delivered);
        policer->is_sampling = true;
    }
    if (begins_round) policer->rounds++;
    if (is_limited || policer->rounds > 4 * WW_BBR_INTERVAL_ROUNDS) {
        ww_bbr_forget_policer(policer);
        return;
    }
    if (sample->newly_lost == 0 || policer->rounds < WW_BBR_INTERVAL_ROUNDS) return;
    const uint32_t arrived = ww_wrapping_sub(sample->delivered, policer->began_with);
    const uint32_t took_ms = ww_wrapping_sub(policer->now_ms, policer->began_ms);
    const bool loses = (uint64_t)policer->lost * 256 >= (uint64_t)arrived * WW_BBR_POLICER_LOSSES;
    if (arrived == 0 || took_ms == 0 || !loses) return;
    const uint64_t bw = ww_rate((uint64_t)arrived * sample->mss, (uint64_t)took_ms * 1000);
    ww_bbr_end_interval(policer, bw, sample->delivered);
}

/* Takes the beginning of a round trip at a known policer's rate. Returns whether that was the last one. */
static inline bool ww_bbr_ends_policer(struct ww_bbr_policer *policer) {
    if (++policer->rounds < WW_BBR_POLICED_ROUNDS) return false;
    ww_bbr_forget_policer(policer);
    return true;
}

#else

struct ww_bbr_policer {
    char none[0];
};
#define WW_BBR_NO_POLICER \
    {                     \
        {}                \
    }
static inline bool ww_bbr_is_policed(const struct ww_bbr_policer *policer) { return !policer; }
static inline uint64_t ww_bbr_policed_bw(const struct ww_bbr_policer *policer) { return !policer; }
static inline void ww_bbr_forget_policer(struct ww_bbr_policer *policer) { (void)policer; }
static inline void ww_bbr_count_losses(struct ww_bbr_policer *policer,
                                       const struct ww_sample *sample) {
    (void)policer, (void)sample;
}
static inline void ww_bbr_find_policer(struct ww_bbr_policer *policer,
                                       const struct ww_sample *sample, bool is_limited,
                                       bool begins_round) {
    (void)policer, (void)sample, (void)is_limited, (void)begins_round;
}
static inline bool ww_bbr_ends_policer(struct ww_bbr_policer *policer) { return !policer; }

#endif

#endif
