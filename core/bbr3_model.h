/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* BBRv3's model of the path, and how losses change it; bbr3.h has the sources. */
#ifndef WW_BBR3_MODEL_H
#define WW_BBR3_MODEL_H

#include "bbr3_state.h"
#include "max_filter.h"

/* ---- Volumes */

/* Returns gain * bw * min_rtt in segments, rounded up. 2^46 bytes * 2^12. */
static inline uint32_t ww_bbr3_bdp_multiple(const struct ww_bbr3_state *bbr, uint64_t bw,
                                            uint32_t gain, uint32_t mss) {
    if (bbr->min_rtt_us == UINT32_MAX) return bbr->initial_cwnd; /* 5.6.4.2: BDPMultiple() */
    const uint64_t bytes = ww_bytes_in(bw, bbr->min_rtt_us) * gain / WW_BBR3_UNIT + mss - 1;
    return (uint32_t)ww_min_u64(ww_div(bytes, mss), WW_CWND_MAX);
}

/*
 * 5.6.3: SetSendQuantum(), in segments. "a BBR implementation SHOULD attempt to use the smallest
 * feasible quanta": a host without offload sends one at a time.
 */
static inline uint32_t ww_bbr3_quantum(uint64_t pacing, uint32_t mss) {
    const uint64_t bytes = ww_min_u64((pacing >> WW_BW_FRACTION) / 1000, 65536);
    return (uint32_t)ww_max_u64(ww_div(bytes, mss), 2);
}

/* 5.6.4.2: QuantizationBudget(), with 5.5.8.1: UpdateOffloadBudget() */
static inline uint32_t ww_bbr3_with_quanta(const struct ww_bbr3_state *bbr, uint32_t volume,
                                           uint64_t pacing, uint32_t mss) {
    volume = ww_max_u32(volume, 3 * ww_bbr3_quantum(pacing, mss));
    volume = ww_max_u32(volume, WW_BBR3_MIN_CWND);
    return bbr->mode == WW_BBR3_UP ? volume + 2 : volume;
}

/* 5.6.4.2: Inflight() */
static inline uint32_t ww_bbr3_inflight(const struct ww_bbr3_state *bbr, uint64_t bw,
                                        uint64_t pacing, uint32_t mss) {
    return ww_bbr3_with_quanta(bbr, ww_bbr3_bdp_multiple(bbr, bw, WW_BBR3_UNIT, mss), pacing, mss);
}

/* 5.3.3.9: InflightWithHeadroom() */
static inline uint32_t ww_bbr3_inflight_with_headroom(const struct ww_bbr3_state *bbr) {
    const uint32_t longterm = bbr->inflight_longterm;
    if (longterm == WW_BBR3_ANY_VOLUME) return WW_BBR3_ANY_VOLUME;
    const uint32_t headroom = ww_max_u32(ww_bbr3_share(longterm, WW_BBR3_HEADROOM), 1);
    return (uint32_t)ww_max_u64(ww_minus(longterm, headroom), WW_BBR3_MIN_CWND);
}

/* 5.3.3.8.3: TargetInflight() */
static inline uint32_t ww_bbr3_target_inflight(const struct ww_bbr3_state *bbr, uint32_t cwnd,
                                               uint32_t mss) {
    return ww_min_u32(ww_bbr3_bdp_multiple(bbr, bbr->bw, WW_BBR3_UNIT, mss), cwnd);
}

/* ---- Rounds and bandwidth */

/* 5.5.1: StartRound() */
static inline void ww_bbr3_start_round(struct ww_bbr3_state *bbr) {
    bbr->next_round_delivered = bbr->delivered;
}

/* 5.5.1: UpdateRound() */
static inline void ww_bbr3_update_round(struct ww_bbr3_state *bbr, uint32_t prior_delivered) {
    const bool starts = ww_reached(prior_delivered, bbr->next_round_delivered);
    ww_bbr3_set(bbr, WW_BBR3_ROUND_START, starts);
    if (!starts) return;
    ww_bbr3_start_round(bbr);
    bbr->round_count = ww_wrapping_add(bbr->round_count, 1);
    bbr->rounds_since_probe_up = ww_min_u32(bbr->rounds_since_probe_up, UINT16_MAX) + 1;
    ww_bbr3_set(bbr, WW_BBR3_WAS_CWND_LIMITED, ww_bbr3_is(bbr, WW_BBR3_CWND_LIMITED));
    ww_bbr3_set(bbr, WW_BBR3_CWND_LIMITED, false);
}

/* 5.5.5: UpdateMaxBw() */
static inline void ww_bbr3_update_max_bw(struct ww_bbr3_state *bbr, uint32_t prior_delivered,
                                         const struct ww_bbr3_sample *rs) {
    ww_bbr3_update_round(bbr, prior_delivered);
    if (rs->is_app_limited && rs->delivery_rate < ww_bbr3_max_bw(bbr)) return;
    bbr->max_bw[1] = ww_max_u64(bbr->max_bw[1], rs->delivery_rate);
}

/* 5.5.6: AdvanceMaxBwFilter(). A cycle without samples does not displace the last one. */
static inline void ww_bbr3_advance_max_bw(struct ww_bbr3_state *bbr) {
    if (bbr->max_bw[1] == 0) return;
    bbr->max_bw[0] = bbr->max_bw[1];
    bbr->max_bw[1] = 0;
}

/* 5.3.1.2: ResetFullBW() */
static inline void ww_bbr3_reset_full_bw(struct ww_bbr3_state *bbr) {
    bbr->full_bw = 0;
    bbr->full_bw_count = 0;
    ww_bbr3_set(bbr, WW_BBR3_FULL_NOW, false);
}

/* 5.3.1.2: CheckFullBWReached() */
static inline void ww_bbr3_check_full_bw(struct ww_bbr3_state *bbr,
                                         const struct ww_bbr3_sample *rs) {
    if (ww_bbr3_is(bbr, WW_BBR3_FULL_NOW) || !ww_bbr3_is(bbr, WW_BBR3_ROUND_START) ||
        rs->is_app_limited)
        return;
    if (rs->delivery_rate >= bbr->full_bw + bbr->full_bw / 4) {
        ww_bbr3_reset_full_bw(bbr);
        bbr->full_bw = rs->delivery_rate;
        return;
    }
    bbr->full_bw_count++;
    if (bbr->full_bw_count < WW_BBR3_FULL_ROUNDS) return;
    ww_bbr3_set(bbr, WW_BBR3_FULL_NOW, true);
    ww_bbr3_set(bbr, WW_BBR3_FULL_REACHED, true);
}

/* 5.5.10.3: BoundBWForModel() */
static inline void ww_bbr3_bound_bw(struct ww_bbr3_state *bbr) {
    bbr->bw = ww_min_u64(ww_bbr3_max_bw(bbr), bbr->bw_shortterm);
}

/* ---- Aggregated ACKs */

/* 5.5.9: UpdateACKAggregation() */
static inline void ww_bbr3_update_aggregation(struct ww_bbr3_state *bbr, uint32_t cwnd,
                                              const struct ww_sample *sample) {
    const uint64_t interval_us = ww_since(bbr->extra_at_us, sample->now_us);
    const uint64_t bytes = ww_bytes_in(bbr->bw, (uint32_t)ww_min_u64(interval_us, UINT32_MAX));
    uint64_t expected = ww_div(bytes, sample->mss);
    if (bbr->extra_acked_delivered <= expected) {
        bbr->extra_acked_delivered = 0;
        bbr->extra_at_us = sample->now_us;
        expected = 0;
    }
    bbr->extra_acked_delivered = (uint32_t)ww_min_u64(
        (uint64_t)bbr->extra_acked_delivered + sample->newly_delivered, WW_CWND_MAX);
    const uint64_t extra = ww_min_u64(ww_minus(bbr->extra_acked_delivered, expected), cwnd);
    /* 5.5.9: "as the windowed maximum over 1 round trip during STARTUP and 10 round trips after" */
    const uint32_t rounds = ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED) ? WW_BBR3_EXTRA_ROUNDS : 1;
    ww_max_update(bbr->extra_acked, bbr->extra_acked_round, extra, (uint16_t)bbr->round_count,
                  rounds);
}

/* ---- Losses */

/* 5.6.4.4: SaveCwnd() */
static inline void ww_bbr3_save_cwnd(struct ww_bbr3_state *bbr, uint32_t cwnd) {
    const bool reduced = ww_bbr3_is(bbr, WW_BBR3_RECOVERING) || bbr->mode == WW_BBR3_PROBE_RTT;
    bbr->common.prior_cwnd = reduced ? ww_max_u32(bbr->common.prior_cwnd, cwnd) : cwnd;
}

/* 5.6.4.4: RestoreCwnd() */
static inline void ww_bbr3_restore_cwnd(const struct ww_bbr3_state *bbr, struct ww_window *window) {
    window->cwnd = ww_max_u32(window->cwnd, bbr->common.prior_cwnd);
}

/* 5.5.11.1: SaveStateUponLoss() */
static inline void ww_bbr3_save_state(struct ww_bbr3_state *bbr, uint32_t cwnd) {
    ww_bbr3_save_cwnd(bbr, cwnd);
    bbr->undo_mode = WW_BBR3_NONE;
    bbr->undo_bw_shortterm = bbr->bw_shortterm;
    bbr->undo_inflight_shortterm = bbr->inflight_shortterm;
    bbr->undo_inflight_longterm = bbr->inflight_longterm;
}

/*
 * 5.5.10.2: NoteLoss(). StartProbeBW_DOWN() resets is_loss_in_round in the middle of an episode of
 * losses. Saving the state again would forget what the first of them changed (bbr3.h).
 */
static inline void ww_bbr3_note_loss(struct ww_bbr3_state *bbr, uint32_t cwnd) {
    if (!ww_bbr3_is(bbr, WW_BBR3_LOSS_IN_ROUND)) {
        const bool is_saved =
            ww_bbr3_is(bbr, WW_BBR3_RECOVERING) || ww_bbr3_is(bbr, WW_BBR3_REPORTED);
        bbr->loss_round_delivered = bbr->delivered;
        if (!is_saved) ww_bbr3_save_state(bbr, cwnd);
    }
    ww_bbr3_set(bbr, WW_BBR3_LOSS_IN_ROUND, true);
}

/* 5.5.10.2: IsInflightTooHigh(). Every host of ours has selective ACKs. */
static inline bool ww_bbr3_is_too_high(const struct ww_config *config,
                                       const struct ww_bbr3_sample *rs) {
    return (uint64_t)rs->lost * WW_BBR3_UNIT >
           (uint64_t)rs->tx_in_flight * config->bbr3_loss_permille;
}

/*
 * 5.5.10.2: InflightAtLoss(), for a segment: what was in flight before it, and what of the segment
 * fits, rounded down. lost_prefix is not negative: it is a part of the segment.
 */
static inline uint32_t ww_bbr3_inflight_at_loss(const struct ww_config *config,
                                                const struct ww_bbr3_sample *rs) {
    const uint64_t prior = ww_minus(rs->tx_in_flight, 1);
    const uint64_t lost = ww_minus(rs->lost, 1) * WW_BBR3_UNIT;
    const uint64_t prefix = ww_div(ww_minus(config->bbr3_loss_permille * prior, lost),
                                   ww_minus(WW_BBR3_UNIT, config->bbr3_loss_permille));
    return (uint32_t)ww_min_u64(prior + ww_min_u64(prefix, 1), WW_CWND_MAX);
}

/* 5.5.10.3: UpdateLatestDeliverySignals() */
static inline void ww_bbr3_update_latest(struct ww_bbr3_state *bbr, uint32_t prior_delivered,
                                         const struct ww_bbr3_sample *rs) {
    bbr->bw_latest = ww_max_u64(bbr->bw_latest, rs->delivery_rate);
    bbr->inflight_latest = ww_max_u32(bbr->inflight_latest, rs->delivered);
    const bool starts = ww_reached(prior_delivered, bbr->loss_round_delivered);
    ww_bbr3_set(bbr, WW_BBR3_LOSS_ROUND_START, starts);
    if (starts) bbr->loss_round_delivered = bbr->delivered;
}

/* 5.5.10.3: AdvanceLatestDeliverySignals() */
static inline void ww_bbr3_advance_latest(struct ww_bbr3_state *bbr,
                                          const struct ww_bbr3_sample *rs) {
    if (!ww_bbr3_is(bbr, WW_BBR3_LOSS_ROUND_START)) return;
    bbr->bw_latest = rs->delivery_rate;
    bbr->inflight_latest = rs->delivered;
}

/* 5.5.10.3: ResetCongestionSignals() */
static inline void ww_bbr3_reset_signals(struct ww_bbr3_state *bbr) {
    ww_bbr3_set(bbr, WW_BBR3_LOSS_IN_ROUND, false);
    bbr->bw_latest = 0;
    bbr->inflight_latest = 0;
}

/* 5.5.10.3: ResetShortTermModel() */
static inline void ww_bbr3_reset_short_term(struct ww_bbr3_state *bbr) {
    bbr->bw_shortterm = WW_BBR3_ANY_BW;
    bbr->inflight_shortterm = WW_BBR3_ANY_VOLUME;
}

/* 5.5.10.3: AdaptLowerBoundsFromCongestion(), InitLowerBounds() and LossLowerBounds() */
static inline void ww_bbr3_adapt_lower_bounds(struct ww_bbr3_state *bbr, uint32_t cwnd) {
    if (ww_bbr3_is_probing(bbr) || !ww_bbr3_is(bbr, WW_BBR3_LOSS_IN_ROUND)) return;
    if (bbr->bw_shortterm == WW_BBR3_ANY_BW) bbr->bw_shortterm = ww_bbr3_max_bw(bbr);
    if (bbr->inflight_shortterm == WW_BBR3_ANY_VOLUME) bbr->inflight_shortterm = cwnd;
    bbr->bw_shortterm = ww_max_u64(bbr->bw_latest, bbr->bw_shortterm * WW_BBR3_BETA / WW_BBR3_UNIT);
    bbr->inflight_shortterm =
        ww_max_u32(bbr->inflight_latest, ww_bbr3_share(bbr->inflight_shortterm, WW_BBR3_BETA));
}

/* 5.5.10.3: UpdateCongestionSignals() */
static inline void ww_bbr3_update_signals(struct ww_bbr3_state *bbr, uint32_t cwnd,
                                          uint32_t prior_delivered,
                                          const struct ww_bbr3_sample *rs) {
    ww_bbr3_update_max_bw(bbr, prior_delivered, rs);
    if (!ww_bbr3_is(bbr, WW_BBR3_LOSS_ROUND_START)) return;
    ww_bbr3_adapt_lower_bounds(bbr, cwnd);
    ww_bbr3_set(bbr, WW_BBR3_LOSS_IN_ROUND, false);
}

#endif
