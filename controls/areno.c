/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adaptive Reno: TCPW-BBE's congestion level sets how the window grows and falls (Shimonishi 2006)
 *
 *   c = min((RTT - RTTmin) / (RTTcong - RTTmin), 1)        congestion, from 0 to 1
 *   a loss     RTTcong = 0.85 RTTcong' + 0.15 RTT; the first: RTT
 *              Wbase = cwnd / (1 + c), Wprobe = 0
 *   an ACK     Wbase += 1 / cwnd, Wprobe = max(Wprobe + Winc / cwnd, 0)     per segment acknowledged
 *              cwnd = Wbase + Wprobe
 *   Winc = Wtop (e^(-10 c) + 0.19990 c - 0.19995) + 1
 *   Wtop = BWE / 10 Mb/s, segments, with Westwood+'s estimate BWE
 *
 * The numbers are 2 (1/a - (1/a + 1) / e^a) and 2 (1/a - (1/a + 1/2) / e^a) for a = 10. A loss in an empty queue
 * takes nothing, one in a full queue half. Without a queue cwnd grows by 0.8 Wtop a round trip.
 *
 * Source: H. Shimonishi, T. Hama, T. Murase: TCP-Adaptive Reno for improving efficiency-friendliness tradeoffs of TCP
 *   congestion control algorithm, PFLDnet 2006, which takes c from TCPW-BBE (Shimonishi, Sanadidi, Gerla 2005).
 *   The equations were read in three models for ns-3 that agree.
 * Deviations: c is that of the last sample before the loss. The samples of Westwood+ have no least interval. Before
 *   the first loss RTTcong is the largest round trip. A timeout sets ssthresh as a loss does.
 */
#define WW_STATE areno
#define WW_PARAMETERS(X) \
    X(rate_mbps, 10, 1, 100000, "Estimated rate for which Wtop is one segment, Mb/s")
#define WW_QUANTITIES(X)                                                               \
    X(congestion, "thousandths", "c: 0 without a queue, 1000 where losses are likely") \
    X(probe, "segments", "Wprobe")
#include "control.h"
#include "rounds.h"

#define ONE 65536u

struct areno {
    struct ww_common common;
    struct ww_rounds rounds;
    uint64_t round_us;   /* when the round trip began */
    uint64_t bandwidth;  /* Westwood+'s estimate, bytes/s << WW_BW_FRACTION */
    uint64_t probe;      /* Wprobe in 2^-32 segments */
    uint32_t fraction;   /* of Wbase + Wprobe, in 2^-32 segments */
    uint32_t counted;    /* segments acknowledged in this round trip */
    uint32_t rtt_us;     /* the latest; 0: none */
    uint32_t rtt_min_us; /* 0: none */
    uint32_t rtt_max_us;
    uint32_t rtt_cong_us; /* 0: no loss so far */
    uint32_t samples;     /* of the bandwidth */
};

/* Returns c in units of 1 / ONE. */
static uint32_t congestion(const struct areno *state) {
    const uint32_t full_us = state->rtt_cong_us == 0 ? state->rtt_max_us : state->rtt_cong_us;
    const uint64_t queued = ww_minus(state->rtt_us, state->rtt_min_us);
    const uint64_t c = ww_div(queued * ONE, ww_minus(full_us, state->rtt_min_us));
    return full_us <= state->rtt_min_us ? 0 : (uint32_t)ww_min_u64(c, ONE);
}

/* Returns 2^(-x / ONE) in units of 1 / ONE, for x below 16 * ONE. */
static uint32_t power_of_half(uint32_t x) {
    static const uint32_t roots[16] = {/* 2^(-1/2), 2^(-1/4), ... */
                                       46341, 55109, 60097, 62757, 64132, 64830, 65182, 65359,
                                       65447, 65492, 65514, 65525, 65530, 65533, 65535, 65535};
    uint64_t power = ONE;
    for (uint32_t i = 0; i < 16; i++)
        if (x >> (15 - i) & 1) power = power * roots[i] >> 16;
    return (uint32_t)(power >> x / ONE);
}

static void measure(struct areno *state, const struct ww_sample *ack) {
    if (ack->rtt_us != 0) {
        state->rtt_us = ack->rtt_us;
        state->rtt_min_us = ww_least_rtt(state->rtt_min_us, ack->rtt_us);
        state->rtt_max_us = ww_max_u32(state->rtt_max_us, ack->rtt_us);
    }
    state->counted += ww_min_u32(ack->acked_segments, UINT16_MAX);
    if (!ww_round_ends(&state->rounds, ack)) return;
    const uint64_t elapsed_us = ww_since(state->round_us, ack->now_us);
    const uint64_t sample = ww_rate((uint64_t)state->counted * ack->mss, elapsed_us);
    if (state->samples == 1) state->bandwidth = sample;
    if (state->samples > 1) state->bandwidth = (7 * state->bandwidth + sample) / 8;
    state->samples =
        ww_min_u32(state->samples, UINT32_MAX - 1) + 1; /* the first has no beginning */
    state->round_us = ack->now_us;
    state->counted = 0;
}

/* Grows Wprobe by Winc / cwnd for each segment; Winc may be negative. Returns cwnd so changed, in 2^-32 segments. */
static uint64_t probe(struct areno *state, uint64_t wide, uint64_t each, bool is_less) {
    const uint64_t before = state->probe;
    state->probe =
        is_less ? ww_minus(before, each) : ww_min_u64(before + each, (uint64_t)WW_CWND_MAX << 32);
    return is_less ? ww_minus(wide, before - state->probe) : wide + (state->probe - before);
}

static void grow(const struct ww_config *config, struct areno *state, struct ww_window *window,
                 uint32_t segments) {
    const uint64_t c = congestion(state);
    const uint64_t up = power_of_half((uint32_t)(c * 945485 / ONE)) + c * 13101 / ONE;
    const uint64_t unit = (uint64_t)ww_parameters(config)->rate_mbps * 125000 * WW_BW_UNIT;
    const uint64_t top = state->bandwidth / (unit >> 8); /* Wtop in units of 1/256, below 2^22 */
    const uint64_t more = top * up + 256 * ONE, less = top * 13104;
    const uint64_t size = more > less ? more - less : less - more; /* |Winc| in units of 2^-24 */
    const uint64_t each = ww_div(size << 8, window->cwnd);
    uint64_t wide = ((uint64_t)window->cwnd << 32) + state->fraction;
    wide = probe(state, wide, each * segments, more < less);
    wide += ww_div((uint64_t)segments << 32, window->cwnd);
    window->cwnd = (uint32_t)ww_min_u64(ww_max_u64(wide >> 32, 1), WW_CWND_MAX);
    state->fraction = (uint32_t)wide;
}

static void on_ack(const struct ww_config *config, struct areno *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    measure(state, ack);
    if (!ww_may_grow(ack)) return;
    if (window->cwnd < window->ssthresh) {
        ww_grow(config, &state->common, window, ack);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    grow(config, state, window, ww_min_u32(ack->acked_segments, 4096));
}

/* Returns cwnd / (1 + c), with the round trip of this loss in RTTcong. */
static uint32_t left_after(const struct ww_config *config, struct areno *state, uint32_t cwnd) {
    const uint64_t before = state->rtt_cong_us;
    state->rtt_cong_us = before == 0
                             ? state->rtt_us
                             : (uint32_t)((85 * before + 15 * (uint64_t)state->rtt_us) / 100);
    const uint64_t left = (uint64_t)cwnd * ONE / (ONE + congestion(state));
    state->probe = state->fraction = 0;
    return ww_max_u32((uint32_t)left, config->min_cwnd);
}

static void on_loss(const struct ww_config *config, struct areno *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_reno_on_loss(&state->common, window, left_after(config, state, window->cwnd));
}

static void on_rto(const struct ww_config *config, struct areno *state, struct ww_window *window,
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated) {
    const uint32_t ssthresh = repeated ? 0 : left_after(config, state, window->cwnd);
    ww_reno_on_rto(&state->common, window, ssthresh, repeated);
}

static struct ww_observation estimate(const struct ww_config *config, const struct areno *state,
                                      uint64_t now_us) {
    const struct ww_observation seen = {state->bandwidth, state->bandwidth,
                                        state->rtt_min_us == 0 ? UINT32_MAX : state->rtt_min_us,
                                        state->samples};
    return seen;
}

static void observe(const struct ww_config *config, const struct areno *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->congestion = (uint64_t)congestion(state) * 1000 / ONE;
    seen->probe = state->probe >> 32;
}

WW_CONTROL("Adaptive Reno", WW_ESTIMATES, .on_ack = on_ack, .on_loss = on_loss, .on_rto = on_rto,
           .estimate = estimate, .observe = observe)
