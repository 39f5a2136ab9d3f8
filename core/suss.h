/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * SUSS, Speeding Up Slow Start (Arghavani et al., SIGCOMM 2024): the first slow start quadruples the window in a round
 * trip where HyStart's two signs, carried on by a round, say that doubling will go on in the next one.
 *
 *   blue and red  the first part of a round's ACKs, of `blue` segments, clocks out 2 blue segments. Then the rest of
 *                 the growth is sent, red and paced, and the ACKs of red segments do not grow the window. With j rounds
 *                 quadrupled so far, blue is the 2^j-th part of a round
 *   dt_at         2^j times the time that the blue ACKs take: that of all the round's ACKs
 *   train         dt_at^2 <= minRTT dt_at', where ' is the round before: its growth once more stays within minRTT / 2.
 *                 In the first round dt_at < minRTT / 4, and minRTT > 10 ms
 *   delay         moRTT + (moRTT - minRTT) / k <= 1.125 minRTT, where moRTT is the round's smallest RTT and minRTT
 *                 was found k rounds ago
 *   at most       three rounds, and none after the first that may not
 *   red           2 blue (2^(j+1) - 1) segments over minRTT - slot, slot = minRTT / 2^(j+1), after a guard of
 *                 (slot - dt_blue) / 2
 *   exit          HyStart's delay, or its train: 2^j times the time of the blue ACKs so far, and then at the cwnd
 *                 that as many red ACKs bring. cwnd falls to what is in flight, as it does before a loss reduces it
 *
 * Sources: the paper's abstract, and the authors' code, https://github.com/SUSSdeveloper/SUSS, linux-6.8/suss: "red"
 * and "jump" in its tcp_cubic.c, blocks E7 (growth), E11 (rounds, pacing) and E12 (exit); tcp_input.c, C3 (loss).
 *
 * Deviations: the core has no timer, so the red segments start at once and are paced over guard and pacing time
 * together: the last one leaves when the authors' does. The blue segments of the last blue ACK are paced with them, but
 * for one, and the next round's blue ACKs end before theirs. For the same reason cwnd takes all of the jump at once
 * where the authors' kernel adds two segments each time it fills. Blue begins with the flight that there is, not with
 * ten segments. A single ACK for all of the blue part has no duration, and ends the acceleration. The receiver's
 * window holds; the authors' patch overrides it. Later slow starts are the standard's.
 */
#ifndef WW_SUSS_H
#define WW_SUSS_H

#include "hystart.h"

enum {
    WW_SUSS_ROUNDS = 3,
    WW_SUSS_LEAST_RTT_US = 10000,
};

enum ww_suss_part {
    WW_SUSS_BLUE,
    WW_SUSS_RED,   /* no acceleration: red ACKs grow the window, too */
    WW_SUSS_PACED, /* the jump of this round is being sent */
};

/* A zeroed state is the start. Times and counts wrap, but their differences stay right. */
struct ww_suss_state {
    struct ww_hystart_state hystart; /* its rounds are those of SUSS */
    uint32_t round_acked;            /* `acked` when the round began */
    uint32_t blue;                   /* segments of this round's blue part */
    uint32_t blue_end;               /* `acked` at its end */
    uint32_t earlier_us;             /* dt_at of the last round that was quadrupled */
    uint32_t jump;                   /* segments that this ACK adds */
    uint32_t cap;                    /* cwnd that ends slow start; 0: none yet */
    uint32_t least_us;               /* minRTT */
    uint8_t round;
    uint8_t least_round; /* in which minRTT was found */
    uint8_t jumps;       /* rounds quadrupled: j */
    uint8_t part;        /* enum ww_suss_part */
    bool slowed;         /* a round was not quadrupled, or could not be judged */
};

/* Begins a round with the first ACK beyond what was in flight when the last one began. */
static inline void ww_suss_begin_round(struct ww_suss_state *suss, struct ww_window *window,
                                       const struct ww_sample *sample) {
    const uint32_t end = suss->hystart.rounds.end;
    ww_hystart_begin_round(&suss->hystart, sample);
    if (suss->hystart.rounds.end == end) return;
    if (suss->round == 0)
        suss->blue = suss->blue_end = suss->hystart.rounds.end;
    else if (suss->part == WW_SUSS_BLUE)
        suss->slowed = true;
    suss->round = (uint8_t)ww_min_u32(suss->round + 1u, UINT8_MAX);
    suss->round_acked = ww_wrapping_sub(suss->hystart.rounds.acked, sample->acked_segments);
    suss->part = WW_SUSS_BLUE;
    window->pacing = 0;
}

/* Returns the blue segments acknowledged before this ACK. */
static inline uint32_t ww_suss_blue_before(const struct ww_suss_state *suss,
                                           const struct ww_sample *sample) {
    const uint32_t acked = ww_wrapping_sub(suss->hystart.rounds.acked, suss->round_acked);
    return (uint32_t)ww_min_u64(ww_minus(acked, sample->acked_segments), WW_CWND_MAX);
}

/* Sets the cap if the blue ACKs so far, carried on to all of the round's, last too long. */
static inline void ww_suss_measure_train(const struct ww_config *config, struct ww_suss_state *suss,
                                         const struct ww_hystart_delays *delays,
                                         const struct ww_window *window,
                                         const struct ww_sample *sample) {
    const uint32_t now_us = (uint32_t)sample->now_us;
    const uint32_t jumps = ww_min_u32(suss->jumps, WW_SUSS_ROUNDS);
    if (suss->cap != 0 || suss->part != WW_SUSS_BLUE) return;
    if (ww_wrapping_sub(now_us, suss->hystart.last_ack_us) > WW_HYSTART_ACK_DELTA_US) return;
    suss->hystart.last_ack_us = now_us;
    const uint64_t train_us = ww_wrapping_sub(now_us, suss->hystart.round_start_us);
    if (train_us << jumps <= ww_hystart_longest(config, delays, window, sample->mss)) return;
    const uint64_t red = (uint64_t)ww_suss_blue_before(suss, sample) * ((UINT64_C(1) << jumps) - 1);
    suss->cap = (uint32_t)ww_min_u64(window->cwnd + red, WW_CWND_MAX);
}

/* Ends slow start by one of the two signs. */
static inline void ww_suss_look_for_signs(const struct ww_config *config,
                                          struct ww_suss_state *suss,
                                          const struct ww_hystart_delays *delays,
                                          struct ww_window *window,
                                          const struct ww_sample *sample) {
    ww_suss_measure_train(config, suss, delays, window, sample);
    const bool delayed = ww_hystart_delay(config, &suss->hystart, delays);
    const bool full = suss->cap != 0 && window->cwnd > suss->cap;
    if (window->cwnd < WW_HYSTART_LOW_WINDOW || !(delayed || full)) return;
    const uint32_t used = suss->jumps != 0 ? sample->in_flight : WW_CWND_MAX;
    suss->hystart.done = true;
    window->cwnd = ww_max_u32(ww_min_u32(window->cwnd, used), config->min_cwnd);
    window->ssthresh = window->cwnd;
    window->pacing = 0;
}

/* Returns whether exponential growth is predicted to go on; blue_us < slot. Products: 2^32 * 2^32, 2^8 * 2^32. */
static inline bool ww_suss_may_jump(const struct ww_suss_state *suss, uint32_t blue_us) {
    const uint64_t least_us = suss->least_us;
    if (suss->jumps == 0) return least_us > WW_SUSS_LEAST_RTT_US && blue_us < least_us / 4;
    const uint64_t train_us = ww_min_u64((uint64_t)blue_us << suss->jumps, UINT32_MAX);
    const uint64_t rounds = ww_minus(suss->round, suss->least_round);
    return train_us * train_us <= least_us * suss->earlier_us &&
           (rounds + 1) * suss->hystart.current_min_rtt_us <=
               (rounds + 1) * least_us + rounds * least_us / 8;
}

/* Ends the blue part: quadruples what the round leaves, or lets it double. Jumps: below 2^27 * 2^4. */
static inline void ww_suss_end_blue(const struct ww_config *config, struct ww_suss_state *suss,
                                    struct ww_window *window, const struct ww_sample *sample) {
    const uint32_t now_us = (uint32_t)sample->now_us, before = ww_suss_blue_before(suss, sample);
    const uint64_t blue = ww_min_u32(suss->blue, WW_CWND_MAX / 2);
    const uint64_t blue_us =
        ww_div(ww_wrapping_sub(now_us, suss->hystart.round_start_us) * blue, before);
    const uint32_t jumps = ww_min_u32(suss->jumps, WW_SUSS_ROUNDS);
    const uint64_t slot_us = suss->least_us >> (jumps + 1);
    suss->part = WW_SUSS_RED;
    suss->blue = (uint32_t)(2 * blue);
    suss->blue_end = ww_wrapping_add(suss->hystart.rounds.end, suss->blue);
    if (jumps == WW_SUSS_ROUNDS || before == 0 || blue_us >= slot_us ||
        (config->validate_cwnd && !sample->is_cwnd_limited) ||
        !ww_suss_may_jump(suss, (uint32_t)blue_us))
        suss->slowed = true;
    if (suss->slowed) return;
    const uint32_t acked = ww_min_u32(sample->acked_segments, (uint32_t)blue);
    const uint64_t red = 2 * blue * ((UINT64_C(2) << jumps) - 1);
    const uint64_t paced = red + ww_minus(2 * (uint64_t)acked, 1);
    const uint64_t paced_us = ww_minus(suss->least_us, slot_us) + ww_minus(slot_us, blue_us) / 2;
    const uint64_t not_yet = ww_minus(blue, (uint64_t)before + sample->acked_segments);
    suss->jump = (uint32_t)ww_minus(red + not_yet, blue * ((UINT64_C(1) << jumps) - 1));
    suss->blue_end = ww_wrapping_sub(suss->blue_end, (uint32_t)ww_minus(paced, red));
    suss->earlier_us = (uint32_t)(blue_us << jumps);
    suss->jumps = (uint8_t)(jumps + 1);
    suss->part = WW_SUSS_PACED;
    window->pacing = ww_rate(paced * sample->mss, paced_us);
}

/* Takes an ACK for new data in the first slow start. It may set the windows, which ends slow start. */
static inline void ww_suss_on_ack(const struct ww_config *config, struct ww_suss_state *suss,
                                  const struct ww_hystart_delays *delays, struct ww_window *window,
                                  const struct ww_sample *sample) {
    if (suss->hystart.done || delays->rtt_us == 0) return;
    if (suss->least_us != delays->least_us) {
        suss->least_us = delays->least_us;
        suss->least_round = suss->round;
    }
    ww_suss_begin_round(suss, window, sample);
    ww_suss_look_for_signs(config, suss, delays, window, sample);
    if (suss->hystart.done || suss->cap != 0 || suss->part != WW_SUSS_BLUE) return;
    if (ww_reached(suss->hystart.rounds.acked, suss->blue_end))
        ww_suss_end_blue(config, suss, window, sample);
}

/* Adds the jump, and takes back what the control has added for a red segment of a round with one. */
static inline void ww_suss_after_ack(struct ww_suss_state *suss, const struct ww_window *before,
                                     struct ww_window *window) {
    if (suss->part != WW_SUSS_PACED) return;
    if (suss->jump == 0) {
        window->cwnd = before->cwnd;
        return;
    }
    const uint32_t largest = ww_min_u32(window->ssthresh, WW_CWND_MAX);
    const uint64_t larger = (uint64_t)window->cwnd + suss->jump;
    window->cwnd = ww_max_u32(window->cwnd, (uint32_t)ww_min_u64(larger, largest));
    suss->jump = 0;
}

/* Takes back what the jump allows and nobody has sent, before a loss or a mark reduces the window. */
static inline void ww_suss_on_reduction(const struct ww_suss_state *suss, struct ww_window *window,
                                        uint32_t in_flight) {
    if (suss->jumps != 0) window->cwnd = ww_max_u32(ww_min_u32(window->cwnd, in_flight), 1);
    window->pacing = 0;
}

#endif
