/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The low-pass filters of the family. s is the sample, b the estimate, D the time since the filter's last
 * step; primes mark the previous step.
 *
 *   none              b = s
 *   EWMA              b = 7/8 b' + 1/8 s                                       Dell'Aera 2003, equation 1
 *   EWMA twice        c = 7/8 c' + 1/8 s, b = 7/8 b' + 1/8 c                    Linux, tcp_westwood.c
 *   Tustin, constant  b = a b' + (1 - a)/2 (s + s')                            Gangadhar 2013, equation 1
 *   Tustin            b = ((2 tau/D - 1) b' + s + s') / (2 tau/D + 1)          Mascolo 2001
 *                       = ((2 tau - D) b' + D s + D s') / (2 tau + D)
 *   Tustin, even      b = ((2m - 1) b' + s + s') / (2m + 1), the same with D = tau / m      Valla 2002
 *
 * Equation 4 of Gangadhar 2013 prints the constant filter as the product of its two terms, w1 x w2. That
 * contradicts its own equation 1 and has the unit of a squared bandwidth: the sum is right.
 *
 * Beyond D = 2 tau the coefficient of b' would be negative. The papers do not say what happens then. Here it
 * stays 0: b = (s + s') / 2, as at D = 2 tau. With virtual null samples no step is that long; without them (m = 0,
 * or a sample per round trip) it may be.
 *
 * Virtual null samples (Mascolo 2001): a filter with cut-off 1/tau needs a sample every tau / m. After
 * each tau / m without an ACK a sample of 0 is assumed, and b decays by (2m - 1)/(2m + 1). These samples enter
 * with the ACK that ends the silence. A retransmission timer that expires in the silence reads the b of the last
 * ACK: Valla's bwe_computation() runs in recv() only, and slowdown() at a timeout reads what it left. The slides
 * do not say. With `null_at_timeout` the samples of the silence so far count there, too, and in traces.
 *
 * The time of the first real sample after them is the remainder. With T the time since the last sample and
 * u = tau / m there are n = floor(T / u) null samples, and
 *
 *   s = d / (T - n u)
 *   s = d / u, and n is one less, if n > 0 and T - n u < 10 ms
 *
 * Source: M. Valla's module of TCP Westwood for ns-2 (tcp-westwood-nr.cc 1.3 of June 2002), which has
 * m = 2. There the first null sample is a step of the trapezoid, which adds s' / (2m + 1): `null_trapezoid`.
 * The decay printed in the paper has no such term. See docs/decisions.md, 2. The
 * module's default is the even filter with m = 10 (19/21; 15, 29/31, is an option), whatever the spacing
 * of the ACKs, and without virtual samples.
 *
 * `bound_samples`. A sample takes in no more data than fits into its time at `most`, the data in flight
 * over the smallest RTT (estimator.h). The excess waits and enters later: with the next samples or, if no
 * ACK comes, at the rate of the last sample. Only then does a silence begin. At most one flight waits; only
 * data beyond that is dropped. And since b is a mean of samples with weights >= 0, the same bound holds for b.
 *
 * Rounding is to nearest, so that a slow filter has no downward bias.
 */
#ifndef WW_FILTER_H
#define WW_FILTER_H

#include "westwood_state.h"

/*
 * Declares a function with a long loop; a host may redefine it. The kernel's verifier checks a global
 * function once, but a static function again on each path that calls it.
 */
#ifndef WW_LOOP
#define WW_LOOP static inline
#endif

#define WW_LEAST_REMAINDER_US 10000u /* Valla: a shorter time is too short to divide by */

/* b * 7 < 2^48 */
static inline uint64_t ww_filter_ewma(uint64_t b, uint64_t sample) {
    return (7 * b + sample + 4) / 8;
}

/* 2000 * 2^45 < 2^56 */
static inline uint64_t ww_filter_tustin_constant(uint64_t b, uint64_t sample, uint64_t last_sample,
                                                 uint32_t alpha_permille) {
    const uint64_t old_part = UINT64_C(2) * alpha_permille * b;
    const uint64_t new_part = (UINT64_C(1000) - alpha_permille) * (sample + last_sample);
    return ww_min_u64((old_part + new_part + 1000) / 2000, WW_BW_MAX);
}

/*
 * Without m, b' has no weight: it is the mean of two samples. 2 m + 1 is at most 33: 33 * 2^45 <
 * 2^51
 */
static inline uint64_t ww_filter_tustin_even(uint64_t b, uint64_t sample, uint64_t last_sample,
                                             uint32_t m) {
    const uint64_t weight = m == 0 ? 0 : 2 * m - 1, divisor = weight + 2;
    return ww_min_u64((weight * b + sample + last_sample + divisor / 2) / divisor, WW_BW_MAX);
}

/*
 * Applies `steps` null samples. Their factor is < 1, so 2^45 reaches 0 within 31 (m + 1/2) + 1
 * steps: 512 for m = 16.
 */
WW_LOOP uint64_t ww_filter_decay(uint64_t b, uint64_t steps, uint32_t m) {
    const uint64_t bound = 512;
    if (steps >= bound) return 0;
    /*@ loop invariant i <= steps && b <= \at(b, Pre) && (i == 0 ==> b == \at(b, Pre));
        loop assigns i, b;
        loop variant bound - i; */
    for (uint64_t i = 0; i < bound && i < steps; i++) b = ww_div(b * (2 * m - 1), 2 * m + 1);
    return b;
}

/*
 * Returns b after one step of span_us < 2 tau. `area` is D s, bandwidth times microseconds, at most 2^62.
 * While 2 tau + span < 2^21 and the bandwidths are below 2^42 (137 Gb/s), the sum of the two other terms is at
 * most (2 tau) * 2^42 < 2^63: one division. A longer tau (at most 2^27 in all) or a faster path needs a
 * division for each term.
 */
static inline uint64_t ww_filter_tustin(uint64_t b, uint64_t area, uint64_t last_sample,
                                        uint64_t span_us, uint64_t tau_us) {
    const uint64_t twice = 2 * tau_us;
    const uint64_t divisor = twice + span_us;
    const uint64_t fast = UINT64_C(1) << 42;
    if (divisor < (UINT64_C(1) << 21) && b < fast && last_sample < fast) {
        /*@ assert (twice - span_us) * b <= (twice - span_us) * 0x40000000000; */
        /*@ assert span_us * last_sample <= span_us * 0x40000000000; */
        const uint64_t sum = (twice - span_us) * b + span_us * last_sample + area;
        return ww_min_u64(ww_div(sum + divisor / 2, divisor), WW_BW_MAX);
    }
    return ww_min_u64(ww_scale(twice - span_us, b, divisor) +
                          ww_scale(span_us, last_sample, divisor) + ww_div(area, divisor),
                      WW_BW_MAX);
}

/*
 * Returns D s for `bytes`, in bandwidth times microseconds; it does not depend on D. 2^34 bytes
 * (0.13 s at 1 Tb/s, 16 of the largest windows) * 2^28.
 */
static inline uint64_t ww_area(uint64_t bytes) {
    return ww_min_u64(bytes, UINT64_C(1) << 34) * (UINT64_C(1000000) << WW_BW_FRACTION);
}

/*
 * Returns the time without an ACK, in us, after which a virtual sample is due; 0 means never: with
 * another filter, with m = 0, or with one sample per round trip, which has no silence.
 */
static inline uint64_t ww_filter_silence(const struct ww_config *config) {
    if (config->filter != WW_FILTER_TUSTIN || config->sampler != WW_PER_ACK) return 0;
    if (config->m == 0) return 0;
    return config->tau_us / config->m;
}

/* Returns how long, in us, the waiting data takes to enter at the rate of the last sample. */
static inline uint64_t ww_filter_wait(const struct ww_config *config,
                                      const struct ww_westwood_state *state) {
    if (!config->bound_samples || state->pending_bytes == 0) return 0;
    return ww_div(ww_area(state->pending_bytes), state->raw);
}

/*
 * Returns b after waiting data has entered for wait_us at the rate of the last sample, and after
 * `steps` null samples.
 */
static inline uint64_t ww_filter_quiet(const struct ww_config *config,
                                       const struct ww_westwood_state *state, uint64_t wait_us,
                                       uint64_t steps) {
    uint64_t b = state->bandwidth;
    if (wait_us >= UINT64_C(2) * config->tau_us) /* from here on the coefficient of b' is 0 */
        b = state->raw;
    else if (wait_us != 0)
        b = ww_filter_tustin(b, ww_area(state->pending_bytes), state->raw, wait_us, config->tau_us);
    if (config->null_trapezoid && steps != 0)
        return ww_filter_decay(ww_filter_tustin_even(b, 0, state->raw, config->m), steps - 1,
                               config->m);
    return ww_filter_decay(b, steps, config->m);
}

/*
 * Returns the estimate at now_us: that of the last ACK, or with `null_at_timeout` that after the virtual samples of
 * a silence in progress.
 */
static inline uint64_t ww_filter_read(const struct ww_config *config,
                                      const struct ww_westwood_state *state, uint64_t now_us) {
    const uint64_t silence = ww_filter_silence(config);
    const uint64_t span = ww_since(state->filter_us, now_us);
    if (!config->null_at_timeout || silence == 0 || span < silence || state->samples == 0)
        return state->bandwidth;
    const uint64_t wait = ww_filter_wait(config, state);
    if (span < wait + silence) return state->bandwidth;
    return ww_filter_quiet(config, state, wait, (span - wait) / silence);
}

/*
 * Ends a silence with the ACK at now_us. It applies the virtual samples; the time of the real
 * sample that follows is the remainder.
 */
static inline void ww_filter_resume(const struct ww_config *config, struct ww_westwood_state *state,
                                    uint64_t now_us) {
    const uint64_t silence = ww_filter_silence(config);
    const uint64_t span = ww_since(state->filter_us, now_us);
    if (silence == 0 || span < silence) return;
    const uint64_t wait = ww_filter_wait(config, state);
    if (span < wait + silence) return;
    uint64_t steps = (span - wait) / silence;
    uint64_t remainder = span - wait - steps * silence;
    if (remainder < WW_LEAST_REMAINDER_US) {
        steps--;
        remainder = silence;
    }
    state->bandwidth = ww_filter_quiet(config, state, wait, steps);
    if (wait != 0) state->pending_bytes = 0;
    if (steps != 0) state->raw = 0;
    state->filter_us = state->mark_us = ww_minus(now_us, remainder);
}

/*
 * Adds a sample of at most `most` to the estimate: `bytes` acknowledged over `elapsed_us` until
 * now_us. Returns the bytes in excess.
 */
static inline uint64_t ww_filter_step(const struct ww_config *config,
                                      struct ww_westwood_state *state, uint64_t now_us,
                                      uint64_t bytes, uint64_t elapsed_us, uint64_t most) {
    const bool first = state->samples == 0;
    const uint64_t span = ww_since(state->filter_us, now_us);
    uint64_t sample = ww_rate(bytes, elapsed_us);
    uint64_t left = 0;
    if (sample > most) {
        sample = most;
        left = ww_minus(bytes, ww_bytes_in(most, (uint32_t)ww_min_u64(elapsed_us, UINT32_MAX)));
    }
    if (state->samples < UINT32_MAX) state->samples++;
    if (config->filter == WW_FILTER_NONE || (first && config->seed_filter)) {
        state->bandwidth = state->once = sample;
    } else if (config->filter == WW_FILTER_EWMA) {
        state->bandwidth = ww_filter_ewma(state->bandwidth, sample);
    } else if (config->filter == WW_FILTER_EWMA_TWICE) {
        state->once = ww_filter_ewma(state->once, sample);
        state->bandwidth = ww_filter_ewma(state->bandwidth, state->once);
    } else if (config->filter == WW_FILTER_TUSTIN_CONSTANT) {
        state->bandwidth =
            ww_filter_tustin_constant(state->bandwidth, sample, state->raw, config->alpha_permille);
    } else if (config->filter == WW_FILTER_TUSTIN_EVEN) {
        state->bandwidth = ww_filter_tustin_even(state->bandwidth, sample, state->raw, config->m);
    } else if (span >= UINT64_C(2) * config->tau_us) {
        state->bandwidth = (sample + state->raw) / 2;
    } else {
        state->bandwidth = ww_filter_tustin(state->bandwidth, ww_area(bytes - left), state->raw,
                                            span, config->tau_us);
    }
    state->filter_us = now_us;
    state->raw = sample;
    return left;
}

#endif
