/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The low-pass filters of the family. s is the sample, b the estimate, D the time since the filter's last
 * step, and primes mark the step before.
 *
 *   none              b = s
 *   EWMA              b = 7/8 b' + 1/8 s                                       Dell'Aera 2003, equation 1
 *   EWMA twice        c = 7/8 c' + 1/8 s, b = 7/8 b' + 1/8 c                    Linux, tcp_westwood.c
 *   Tustin, constant  b = a b' + (1 - a)/2 (s + s')                            Gangadhar 2013, equation 1
 *   Tustin            b = ((2 tau/D - 1) b' + s + s') / (2 tau/D + 1)          Mascolo 2001
 *                       = ((2 tau - D) b' + D s + D s') / (2 tau + D)
 *
 * Equation 4 of Gangadhar 2013 prints the constant filter as the product of its two terms, w1 x w2. That
 * contradicts its own equation 1, and has the unit of a bandwidth squared: the sum is right.
 *
 * Virtual null samples (Mascolo 2001): a filter with cut-off 1/tau needs a sample every tau / m. After
 * each tau / m without an ACK a sample of 0 is assumed, and b decays by (2m - 1)/(2m + 1). They are
 * applied when the next ACK (or the host's question) arrives; nothing reads b in between.
 *
 * The first real sample after h virtual ones: they take filter indices, so its step spans only what
 * remains, D = elapsed - h tau/m, and follows a sample of 0. The data d acknowledged enters
 * it whole, D s = d: dividing d by the whole silence instead would lose h/(h + 1) of the data and
 * more. The sample that is kept as s' and shown to the host is equation 2's, d / elapsed: d / D would
 * grow without bound as D goes to 0. See docs/decisions/0002-virtual-null-samples.md.
 *
 * Rounding is to nearest, so that a slow filter has no downward bias.
 */
#ifndef WW_FILTER_H
#define WW_FILTER_H

#include "westwood_state.h"

/* b * 7 <= 2^45 */
static inline uint64_t ww_filter_ewma(uint64_t b, uint64_t sample) {
    return (7 * b + sample + 4) >> 3;
}

/* 2000 * 2^42 < 2^53 */
static inline uint64_t ww_filter_tustin_constant(uint64_t b, uint64_t sample, uint64_t last_sample,
                                                 uint32_t alpha_permille) {
    const uint64_t old_part = UINT64_C(2) * alpha_permille * b;
    const uint64_t new_part = (UINT64_C(1000) - alpha_permille) * (sample + last_sample);
    return (old_part + new_part + 1000) / 2000;
}

/*
 * Applies `steps` null samples. Their factor is < 1, so that 2^42 reaches 0 within 29 (m + 1) steps: 512
 * covers m = 16.
 */
static inline uint64_t ww_filter_decay(uint64_t b, uint64_t steps, uint32_t m) {
    const uint64_t bound = 512;
    if (steps >= bound) return 0;
    for (uint64_t i = 0; i < bound && i < steps; i++) b = ww_div(b * (2 * m - 1), 2 * m + 1);
    return b;
}

/*
 * Returns b after one step of span_us < 2 tau. `area` is D s, bandwidth times microseconds, at most 2^62.
 * Bounds: bandwidths <= 2^42. While 2 tau + span < 2^21 the two other terms sum to at most
 * (2 tau) * 2^42 < 2^63: one division. A longer tau (at most 2^27 in all)
 * needs a division for each term.
 */
static inline uint64_t ww_filter_tustin(uint64_t b, uint64_t area, uint64_t last_sample,
                                        uint64_t span_us, uint64_t tau_us) {
    const uint64_t twice = 2 * tau_us;
    const uint64_t divisor = twice + span_us;
    if (divisor < (UINT64_C(1) << 21)) {
        const uint64_t sum = (twice - span_us) * b + span_us * last_sample + area;
        return ww_min_u64(ww_div(sum + divisor / 2, divisor), WW_BW_MAX);
    }
    return ww_min_u64(ww_scale(twice - span_us, b, divisor) +
                          ww_scale(span_us, last_sample, divisor) + ww_div(area, divisor),
                      WW_BW_MAX);
}

/*
 * Returns D s of `bytes`, which is the same for every D, in bandwidth times microseconds. 2^34 bytes (a
 * second and a half at 100 Gb/s) * 2^28.
 */
static inline uint64_t ww_area(uint64_t bytes) {
    return ww_min_u64(bytes, UINT64_C(1) << 34) * (UINT64_C(1000000) << WW_BW_FRACTION);
}

/*
 * Returns the time without an ACK, us, after which a virtual sample is due; 0: never, as with another
 * filter, with m = 0, or with a sample once a round trip, which means no silence.
 */
static inline uint64_t ww_filter_silence(const struct ww_config *config) {
    if (config->filter != WW_FILTER_TUSTIN || config->sampler != WW_PER_ACK) return 0;
    if (config->m == 0) return 0;
    return config->tau_us / config->m;
}

/* Returns the estimate at now_us, with the virtual samples of a silence that still lasts. */
static inline uint64_t ww_filter_read(const struct ww_config *config,
                                      const struct ww_westwood_state *state, uint64_t now_us) {
    const uint64_t silence = ww_filter_silence(config);
    const uint64_t span = now_us - state->filter_us;
    if (silence == 0 || span < silence || state->samples == 0) return state->bandwidth;
    return ww_filter_decay(state->bandwidth, span / silence, config->m);
}

/* Takes a sample of `bytes` acknowledged over `elapsed_us`, ending at now_us, into the estimate. */
static inline void ww_filter_step(const struct ww_config *config, struct ww_westwood_state *state,
                                  uint64_t now_us, uint64_t bytes, uint64_t elapsed_us) {
    const uint64_t sample = ww_rate(bytes, elapsed_us);
    const bool first = state->samples == 0;
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
    } else {
        const uint64_t silence = ww_filter_silence(config);
        uint64_t span = now_us - state->filter_us;
        uint64_t last_sample = state->raw;
        if (silence != 0 && span > silence) {
            /* 1..silence us are left for the real sample. */
            const uint64_t steps = (span - 1) / silence;
            state->bandwidth = ww_filter_decay(state->bandwidth, steps, config->m);
            span -= steps * silence;
            last_sample = 0;
        }
        if (span >= UINT64_C(2) * config->tau_us) /* the coefficient of b' is 0 from there on */
            state->bandwidth = (sample + last_sample) / 2;
        else
            state->bandwidth = ww_filter_tustin(state->bandwidth, ww_area(bytes), last_sample, span,
                                                config->tau_us);
    }
    state->filter_us = now_us;
    state->raw = sample;
}

#endif
