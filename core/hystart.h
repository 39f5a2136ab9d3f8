/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * HyStart (Ha & Rhee, Taming the Elephants: New TCP Slow Start, 2008) as in Linux and ns-3. From 16 segments
 * on, it leaves slow start, ssthresh = cwnd, as soon as one of two signs shows that the path is full.
 *
 *   ACK train   the ACKs of a round, each at most 2 ms after the one before, last longer than
 *               `longest`: the window's packets fill half a round trip, their ACKs the other half
 *   delay       the smallest round trip of this round, once eight are known, exceeds delay_min,
 *               the smallest ever, by `threshold`
 *
 *               tcp_cubic.c of Linux 6                        tcp-cubic.cc of ns-3 3.44
 *   longest     (delay_min + cushion) / 2                     delay_min
 *   cushion     min(4 bursts / pacing rate, 1 ms), where a burst is 64 KiB and the pacing rate in
 *               slow start 2 cwnd / srtt
 *   threshold   clamp(delay_min / 8, 4 ms, 16 ms)             clamp(delay_min, 4 ms, 1 s)
 *   round trips of each ACK; the smallest of all in a round   the host's SRTT; of the round's first eight
 *   a round's   first ACK belongs to it                       first ACK belongs to the round before
 *
 * So ns-3 waits for a full round trip of ACKs, or for a queue as long as the path. Its SRTT begins with the
 * handshake's round trip.
 * A round starts with the first ACK beyond what was outstanding when the last one did, whatever the window.
 * The kernel does so since 6.14; older ones start their first round in the middle of a flight, at 16 segments.
 * Deviations: the kernel halves `longest` only without a pacing qdisc; this is a host without one.
 */
#ifndef WW_HYSTART_H
#define WW_HYSTART_H

#include "hystart_plus_plus.h"

enum {
    WW_HYSTART_LOW_WINDOW = 16, /* segments */
    WW_HYSTART_ACK_DELTA_US = 2000,
    WW_HYSTART_CUSHION_US = 1000,
    WW_HYSTART_BURST = 65536, /* bytes */
    WW_HYSTART_NS3_MOST_US = 1000000,
};

/* A zeroed state is the start. Times wrap, but their differences stay right. */
struct ww_hystart_state {
    struct ww_rounds rounds; /* `acked` counts every ACK, in slow start or not */
    uint32_t round_start_us;
    uint32_t last_ack_us;        /* time of the last ACK of the train */
    uint32_t current_min_rtt_us; /* 0: none in this round */
    uint8_t samples;             /* RTT samples in this round, saturating */
    bool done;                   /* HyStart has ended slow start */
};

struct ww_hystart_delays {
    uint32_t rtt_us; /* of this ACK; 0: none */
    uint32_t srtt_us;
    uint32_t least_us; /* the smallest of rtt_us so far */
};

static inline bool ww_has_hystart(const struct ww_config *config) {
    return config->slow_start == WW_HYSTART_LINUX || config->slow_start == WW_HYSTART_NS3;
}

/* Returns how long a train of ACKs may last. 2^18 bytes * 2^32 us < 2^50. */
static inline uint32_t ww_hystart_longest(const struct ww_config *config,
                                          const struct ww_hystart_delays *delays,
                                          const struct ww_window *window, uint32_t mss) {
    if (config->slow_start == WW_HYSTART_NS3) return delays->least_us;
    const uint64_t window_bytes = (uint64_t)ww_min_u32(window->cwnd, WW_CWND_MAX) * mss;
    const uint64_t cushion =
        ww_div(UINT64_C(4) * WW_HYSTART_BURST * delays->srtt_us, 2 * window_bytes);
    return delays->least_us / 2 + (uint32_t)ww_min_u64(cushion, WW_HYSTART_CUSHION_US) / 2;
}

static inline bool ww_hystart_train(const struct ww_config *config, struct ww_hystart_state *state,
                                    const struct ww_hystart_delays *delays,
                                    const struct ww_window *window,
                                    const struct ww_sample *sample) {
    const uint32_t now_us = (uint32_t)sample->now_us;
    if (ww_wrapping_sub(now_us, state->last_ack_us) > WW_HYSTART_ACK_DELTA_US) return false;
    state->last_ack_us = now_us;
    return ww_wrapping_sub(now_us, state->round_start_us) >
           ww_hystart_longest(config, delays, window, sample->mss);
}

static inline bool ww_hystart_delay(const struct ww_config *config, struct ww_hystart_state *state,
                                    const struct ww_hystart_delays *delays) {
    const bool as_ns3 = config->slow_start == WW_HYSTART_NS3;
    const bool known = state->samples >= WW_HYSTART_SAMPLES;
    if (!as_ns3 || !known)
        state->current_min_rtt_us = ww_least_rtt(state->current_min_rtt_us, delays->rtt_us);
    if (!known) {
        state->samples++;
        return false;
    }
    const uint32_t least_us = delays->least_us;
    const uint32_t threshold =
        as_ns3 ? ww_min_u32(ww_max_u32(least_us, WW_HYSTART_LEAST_US), WW_HYSTART_NS3_MOST_US)
               : ww_hystart_threshold(least_us);
    return state->current_min_rtt_us > (uint64_t)least_us + threshold;
}

/* Begins a round with the first ACK beyond what was outstanding when the last one began. */
static inline void ww_hystart_begin_round(struct ww_hystart_state *state,
                                          const struct ww_sample *sample) {
    if (state->rounds.acked == state->rounds.end ||
        !ww_reached(state->rounds.acked, state->rounds.end))
        return;
    state->rounds.end = ww_wrapping_add(state->rounds.acked, sample->in_flight);
    state->round_start_us = state->last_ack_us = (uint32_t)sample->now_us;
    state->current_min_rtt_us = 0;
    state->samples = 0;
}

/* Sets ssthresh if one of the two signs shows that the path is full. */
static inline void ww_hystart_look_for_signs(const struct ww_config *config,
                                             struct ww_hystart_state *state,
                                             const struct ww_hystart_delays *delays,
                                             struct ww_window *window,
                                             const struct ww_sample *sample) {
    if (window->cwnd < WW_HYSTART_LOW_WINDOW) return;
    const bool train = ww_hystart_train(config, state, delays, window, sample);
    if (!ww_hystart_delay(config, state, delays) && !train) return;
    state->done = true;
    window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
}

/* Takes an ACK for new data in slow start. It may set ssthresh, which ends slow start. */
static inline void ww_hystart_on_ack(const struct ww_config *config, struct ww_hystart_state *state,
                                     const struct ww_hystart_delays *delays,
                                     struct ww_window *window, const struct ww_sample *sample) {
    if (state->done || delays->rtt_us == 0) return;
    const bool begins_first = config->slow_start != WW_HYSTART_NS3;
    if (begins_first) ww_hystart_begin_round(state, sample);
    ww_hystart_look_for_signs(config, state, delays, window, sample);
    if (!begins_first) ww_hystart_begin_round(state, sample);
}

#endif
