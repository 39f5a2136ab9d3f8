/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What functions of the core promise, in ACSL. WP proves that their code keeps the promises. EVA
 * then uses the promises in place of the code, because it knows intervals but not how numbers
 * relate to each other.
 */
#ifndef WW_PROOFS_PROMISES_H
#define WW_PROOFS_PROMISES_H

#include <delivery.h>
#include <recovery.h>
#include <westwood.h>

/* core/arith.h */

/*@ assigns \nothing;
    ensures divisor == 0 ==> \result == 0;
    ensures divisor != 0 ==> \result == dividend / divisor;
    ensures \result <= dividend; */
static inline uint64_t ww_div(uint64_t dividend, uint64_t divisor);

/*@ assigns \nothing;
    ensures b < a ==> \result == a - b;
    ensures a <= b ==> \result == 0;
    ensures \result <= a; */
static inline uint64_t ww_minus(uint64_t a, uint64_t b);

/*@ assigns \nothing;
    ensures \result <= a && \result <= b;
    ensures \result == a || \result == b; */
static inline uint64_t ww_min_u64(uint64_t a, uint64_t b);

/*@ assigns \nothing;
    ensures \result >= a && \result >= b;
    ensures \result == a || \result == b; */
static inline uint64_t ww_max_u64(uint64_t a, uint64_t b);

/*@ assigns \nothing;
    ensures \result <= a && \result <= b;
    ensures \result == a || \result == b; */
static inline uint32_t ww_min_u32(uint32_t a, uint32_t b);

/*@ assigns \nothing;
    ensures \result >= a && \result >= b;
    ensures \result == a || \result == b; */
static inline uint32_t ww_max_u32(uint32_t a, uint32_t b);

/*@ assigns \nothing;
    ensures \result == (uint32_t)(a + b); */
static inline uint32_t ww_wrapping_add(uint32_t a, uint32_t b);

/*@ assigns \nothing;
    ensures \result == (uint32_t)(a - b); */
static inline uint32_t ww_wrapping_sub(uint32_t a, uint32_t b);

/*@ assigns \nothing;
    ensures \result == (uint64_t)(a * b); */
static inline uint64_t ww_wrapping_mul(uint64_t a, uint64_t b);

/*@ lemma product_grows: \forall integer a, b, c; 0 <= a <= c && 0 <= b ==> a * b <= c * b; */
/*@ lemma quotient_below: \forall integer x, b, c; 0 < c && 0 <= x && 2 * x <= 2 * b * c + c ==> x / c <= b; */

/*@ assigns \nothing;
    ensures \result == (uint64_t)(now_us - then_us); */
static inline uint64_t ww_since(uint64_t then_us, uint64_t now_us);

/* a b / c rounded to nearest: within half of c. */
/*@ requires a <= c && 0 < c < 0x80000000 && b <= 2 * WW_BW_MAX;
    assigns \nothing;
    ensures nearest: -c <= 2 * (\result * c - a * b) <= c;
    ensures \result <= b; */
static inline uint64_t ww_scale(uint64_t a, uint64_t b, uint64_t c);

/* The quotient, rounded down and at most the largest rate. */
/*@ assigns \nothing;
    ensures \result <= WW_BW_MAX;
    ensures us == 0 ==> \result == 0;
    ensures not_above: bytes < 0x1000000000 ==> \result * us <= bytes * 256000000;
    ensures exact: bytes < 0x1000000000 && us != 0 && \result < WW_BW_MAX ==>
        bytes * 256000000 < (\result + 1) * us; */
static inline uint64_t ww_rate(uint64_t bytes, uint64_t us);

/*@ requires bandwidth <= WW_BW_MAX;
    assigns \nothing; */
static inline uint64_t ww_bytes_in(uint64_t bandwidth, uint32_t us);

/* core/delivery.h */

/*@ assigns \nothing;
    ensures \result == (uint32_t)(to - from); */
static inline ww_delivery_count ww_wrapping_count(ww_delivery_count from, ww_delivery_count to);

/*@ assigns \nothing;
    ensures \result == (uint32_t)(count + more); */
static inline ww_delivery_count ww_wrapping_more(ww_delivery_count count, ww_delivery_count more);

/* Never below the smallest RTT, and never longer than both of the spans. */
/*@ requires \valid_read(newest);
    assigns \nothing;
    ensures \result == 0 || \result >= min_rtt;
    ensures newest->first_sent <= newest->sent <= now && newest->delivered_at <= now ==>
        \result == 0 || \result == newest->sent - newest->first_sent ||
        \result == now - newest->delivered_at; */
static inline uint64_t ww_delivery_interval(const struct ww_delivery_record *newest, uint64_t now,
                                            uint64_t min_rtt);

/* core/filter.h */

/* 7/8 b + 1/8 s rounded to nearest, and never beyond the larger of the two. */
/*@ requires b <= WW_BW_MAX && sample <= WW_BW_MAX;
    assigns \nothing;
    ensures nearest: -4 <= 8 * \result - (7 * b + sample) <= 4;
    ensures between_most: \result <= b || \result <= sample;
    ensures between_least: \result >= b || \result >= sample;
    ensures \result <= WW_BW_MAX; */
static inline uint64_t ww_filter_ewma(uint64_t b, uint64_t sample);

/* a b + (1 - a)/2 (s + s') rounded to nearest. */
/*@ requires b <= WW_BW_MAX && sample <= WW_BW_MAX && last_sample <= WW_BW_MAX;
    requires alpha_permille <= 1000;
    assigns \nothing;
    ensures nearest: \result < WW_BW_MAX ==> -1000 <= 2000 * \result - (2 * alpha_permille * b +
        (1000 - alpha_permille) * (sample + last_sample)) <= 1000;
    ensures \result <= WW_BW_MAX; */
static inline uint64_t ww_filter_tustin_constant(uint64_t b, uint64_t sample, uint64_t last_sample,
                                                 uint32_t alpha_permille);

/* ((2m - 1) b + s + s') / (2m + 1) rounded to nearest. */
/*@ requires b <= WW_BW_MAX && sample <= WW_BW_MAX && last_sample <= WW_BW_MAX && m <= WW_M_MAX;
    assigns \nothing;
    ensures \result <= WW_BW_MAX; */
static inline uint64_t ww_filter_tustin_even(uint64_t b, uint64_t sample, uint64_t last_sample,
                                             uint32_t m);

/*@ requires b <= WW_BW_MAX && m <= WW_M_MAX && (m != 0 || steps == 0);
    assigns \nothing;
    ensures \result <= b;
    ensures steps == 0 ==> \result == b; */
static inline uint64_t ww_filter_decay(uint64_t b, uint64_t steps, uint32_t m);

/*@ requires b <= WW_BW_MAX && last_sample <= WW_BW_MAX && area <= 0x4000000000000000;
    requires 0 < tau_us <= WW_TAU_MAX_US && span_us < 2 * tau_us;
    assigns \nothing;
    ensures \result <= WW_BW_MAX; */
static inline uint64_t ww_filter_tustin(uint64_t b, uint64_t area, uint64_t last_sample,
                                        uint64_t span_us, uint64_t tau_us);

/*@ assigns \nothing;
    ensures \result <= 0x3d09000000000000;
    ensures bytes <= 0x400000000 ==> \result == bytes * 256000000; */
static inline uint64_t ww_area(uint64_t bytes);

/* core/reno.h */

/*@ requires each < 0x80000000 && \valid(common) && \valid(window) && \separated(common, window);
    requires window->cwnd <= WW_CWND_MAX;
    assigns common->cwnd_count, window->cwnd;
    ensures \old(window->cwnd) <= window->cwnd <= WW_CWND_MAX; */
static inline void ww_grow_linearly(struct ww_common *common, struct ww_window *window,
                                    uint32_t each, uint32_t segments);

/*@ requires \valid(common) && \valid(window) && \separated(common, window);
    requires window->cwnd <= WW_CWND_MAX;
    assigns common->cwnd_count, window->cwnd;
    ensures \old(window->cwnd) <= window->cwnd <= WW_CWND_MAX;
    ensures window->cwnd <= \old(window->cwnd) + 1; */
static void ww_grow_by_fraction(struct ww_common *common, struct ww_window *window,
                                uint32_t segments);

#endif
