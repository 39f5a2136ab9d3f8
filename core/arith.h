/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Integer arithmetic for the whole core. Everything is unsigned and at most 64 bits wide, because
 * BPF has no signed division before -mcpu=v4 and no 128-bit multiplication. x / 0 is undefined in C
 * and 0 in BPF; here it is 0.
 */
#ifndef WW_ARITH_H
#define WW_ARITH_H

#include "contract.h"

/*
 * Reads a variable. A BPF program reads memory again each time, because the verifier follows every path once for each
 * set of flags that it can tell apart. What it reads from memory it does not know.
 */
#ifdef __bpf__
#define WW_READ(variable) (*(const volatile __typeof__(variable) *)&(variable))
#else
#define WW_READ(variable) (variable)
#endif

static inline uint64_t ww_div(uint64_t dividend, uint64_t divisor) {
    return divisor == 0 ? 0 : dividend / divisor;
}

/* Returns a - b, or 0 if b is larger. */
static inline uint64_t ww_minus(uint64_t a, uint64_t b) { return a > b ? a - b : 0; }

static inline uint64_t ww_min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static inline uint64_t ww_max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }
static inline uint32_t ww_min_u32(uint32_t a, uint32_t b) { return a < b ? a : b; }
static inline uint32_t ww_max_u32(uint32_t a, uint32_t b) { return a > b ? a : b; }

/*
 * Returns a * b / c rounded to nearest, without a 128-bit product.
 * Bounds: a <= c < 2^31 (so the result is at most b), b <= 2 * WW_BW_MAX.
 * (b / c) * a <= b; (b % c) * a + c / 2 < c * c + c < 2^63.
 */
static inline uint64_t ww_scale(uint64_t a, uint64_t b, uint64_t c) {
    const uint64_t quotient = ww_div(b, c), rest = b - quotient * c;
    /*@ assert quotient * a <= quotient * c <= b && rest * a <= rest * c < 0x4000000000000000; */
    return quotient * a + ww_div(rest * a + c / 2, c);
}

/*
 * Returns bytes / us as bytes/s << WW_BW_FRACTION, at most WW_BW_MAX; 0 for us = 0.
 * 10^6 * 2^8 < 2^28. One division is enough while bytes < 2^36. Above that the remainder is below us, so
 * remainder * 2^28 fits for us < 2^36 (19 hours; clamped), and a quotient of 2^18 or more already exceeds
 * WW_BW_MAX.
 */
static inline uint64_t ww_rate(uint64_t bytes, uint64_t us) {
    const uint64_t unit = UINT64_C(1000000) << WW_BW_FRACTION;
    if (us == 0) return 0;
    if (bytes < (UINT64_C(1) << 36)) return ww_min_u64(bytes * unit / us, WW_BW_MAX);
    us = ww_min_u64(us, (UINT64_C(1) << 36) - 1);
    const uint64_t quotient = bytes / us;
    if (quotient >= (UINT64_C(1) << 18)) return WW_BW_MAX;
    return ww_min_u64(quotient * unit + (bytes - quotient * us) * unit / us, WW_BW_MAX);
}

/*
 * Returns bandwidth * time in whole bytes, rounded down. One division is enough while the bandwidth
 * is below 2^35 (1 Gb/s): 2^35 * 2^29. Above that the whole bytes per microsecond are taken out
 * first, and the rest is below 2^20 * 2^29. Times above 2^29 us (9 minutes) are clamped.
 */
static inline uint64_t ww_bytes_in(uint64_t bandwidth, uint32_t us) {
    const uint64_t span = ww_min_u32(us, UINT32_C(1) << 29);
    if (bandwidth < UINT64_C(1) << 35) return bandwidth * span / (1000000 * WW_BW_UNIT);
    const uint64_t whole = bandwidth / WW_BW_UNIT, fraction = bandwidth % WW_BW_UNIT;
    const uint64_t part = fraction * span / WW_BW_UNIT;
    return whole / 1000000u * span + (whole % 1000000u * span + part) / 1000000u;
}

/*
 * Returns the largest r with r^3 <= x, for x < 2^63: r < 2^21. Each step finds one bit, so the loop
 * is bounded.
 */
static inline uint32_t ww_cube_root(uint64_t x) {
    uint64_t root = 0;
    for (int bit = 20; bit >= 0; bit--) {
        const uint64_t larger = root | (UINT64_C(1) << bit);
        if (larger * larger * larger <= x) root = larger;
    }
    return (uint32_t)root;
}

/*
 * Sums and differences that wrap by design: 32-bit clocks and counters, whose differences stay
 * right, and a hash. A wrap anywhere else is a bug, and proofs/ finds it.
 */
static inline uint32_t ww_wrapping_add(uint32_t a, uint32_t b) { return a + b; }
static inline uint32_t ww_wrapping_sub(uint32_t a, uint32_t b) { return a - b; }
static inline uint64_t ww_wrapping_mul(uint64_t a, uint64_t b) { return a * b; }

/* Returns the time since then_us; it is very long if the clock was set back. */
static inline uint64_t ww_since(uint64_t then_us, uint64_t now_us) { return now_us - then_us; }

/* Returns true if a wrapping counter has reached `end`; it must be less than 2^31 beyond it. */
static inline bool ww_reached(uint32_t counter, uint32_t end) {
    return ww_wrapping_sub(counter, end) < UINT32_C(0x80000000);
}

#endif
