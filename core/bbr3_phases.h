/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/* BBRv3's control parameters, and how it goes from state to state; bbr3.h has the sources. */
#ifndef WW_BBR3_PHASES_H
#define WW_BBR3_PHASES_H

#include "bbr3_model.h"

/* ---- Control parameters */

/* 5.6.1: the column "Pacing Gain" */
static inline uint32_t ww_bbr3_pacing_gain(const struct ww_config *config,
                                           const struct ww_bbr3_state *bbr) {
    if (bbr->mode == WW_BBR3_STARTUP) return WW_BBR3_STARTUP_GAIN;
    if (bbr->mode == WW_BBR3_DRAIN) return config->bbr3_drain_permille;
    if (bbr->mode == WW_BBR3_DOWN) return config->bbr3_down_permille;
    return bbr->mode == WW_BBR3_UP ? WW_BBR3_UP_GAIN : WW_BBR3_UNIT;
}

/* 5.6.1: the column "Cwnd Gain" */
static inline uint32_t ww_bbr3_cwnd_gain(const struct ww_bbr3_state *bbr) {
    if (bbr->mode == WW_BBR3_UP) return WW_BBR3_UP_CWND_GAIN;
    return bbr->mode == WW_BBR3_PROBE_RTT ? WW_BBR3_PROBE_RTT_CWND_GAIN : WW_BBR3_CWND_GAIN;
}

/* 5.6.2: SetPacingRateWithGain(). 2^45 * 2773 * 99 < 2^64. */
static inline void ww_bbr3_set_pacing(const struct ww_bbr3_state *bbr, struct ww_window *window,
                                      uint32_t gain) {
    const uint64_t rate =
        ww_min_u64(bbr->bw * gain * WW_BBR3_MARGIN / (100 * WW_BBR3_UNIT), WW_BW_MAX);
    if (rate == 0) return; /* no sample yet */
    if (ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED) || rate > window->pacing) window->pacing = rate;
}

/* 5.6.2: InitPacingRate() */
static inline void ww_bbr3_init_pacing(struct ww_bbr3_state *bbr, struct ww_window *window,
                                       uint32_t mss, uint32_t srtt_us) {
    const uint64_t bw = ww_rate((uint64_t)bbr->initial_cwnd * mss, srtt_us == 0 ? 1000 : srtt_us);
    window->pacing = ww_max_u64(ww_min_u64(bw * WW_BBR3_STARTUP_GAIN / WW_BBR3_UNIT, WW_BW_MAX), 1);
    ww_bbr3_set(bbr, WW_BBR3_PACED_BY_RTT, srtt_us != 0);
}

/* 5.6.4.5: ProbeRTTCwnd() */
static inline uint32_t ww_bbr3_probe_rtt_cwnd(const struct ww_bbr3_state *bbr, uint32_t mss) {
    if (bbr->probe_rtt_cwnd != 0) return bbr->probe_rtt_cwnd;
    return ww_max_u32(ww_bbr3_bdp_multiple(bbr, bbr->bw, WW_BBR3_PROBE_RTT_CWND_GAIN, mss),
                      WW_BBR3_MIN_CWND);
}

/* 5.6.4.5: BoundCwndForProbeRTT(); 5.6.4.7: BoundCwndForModel() */
static inline void ww_bbr3_bound_cwnd(const struct ww_bbr3_state *bbr, struct ww_window *window,
                                      uint32_t mss) {
    uint32_t cap = WW_BBR3_ANY_VOLUME;
    if (bbr->mode == WW_BBR3_PROBE_RTT) {
        window->cwnd = ww_min_u32(window->cwnd, ww_bbr3_probe_rtt_cwnd(bbr, mss));
        cap = ww_bbr3_inflight_with_headroom(bbr);
    } else if (bbr->mode == WW_BBR3_CRUISE) {
        cap = ww_bbr3_inflight_with_headroom(bbr);
    } else if (ww_bbr3_in_probe_bw(bbr)) {
        cap = bbr->inflight_longterm;
    }
    cap = ww_max_u32(ww_min_u32(cap, bbr->inflight_shortterm), WW_BBR3_MIN_CWND);
    window->cwnd = ww_min_u32(window->cwnd, cap);
}

/* 5.6.4.6: SetCwnd(), with 5.6.4.2: UpdateMaxInflight() */
static inline void ww_bbr3_set_cwnd(struct ww_bbr3_state *bbr, struct ww_window *window,
                                    const struct ww_sample *sample) {
    const uint64_t volume =
        (uint64_t)ww_bbr3_bdp_multiple(bbr, bbr->bw, ww_bbr3_cwnd_gain(bbr), sample->mss) +
        bbr->extra_acked[0];
    const uint32_t most = ww_bbr3_with_quanta(bbr, (uint32_t)ww_min_u64(volume, WW_CWND_MAX),
                                              window->pacing, sample->mss);
    uint64_t cwnd = window->cwnd;
    if (ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED))
        cwnd = ww_min_u64(cwnd + sample->newly_delivered, most);
    else if (cwnd < most || sample->delivered < bbr->initial_cwnd)
        cwnd += sample->newly_delivered;
    cwnd = ww_max_u64(cwnd, WW_BBR3_MIN_CWND);
    window->cwnd = (uint32_t)ww_min_u64(cwnd, WW_CWND_MAX);
    ww_bbr3_bound_cwnd(bbr, window, sample->mss);
}

/* ---- States */

/* 5.3.3.8.3: PickProbeWait(): "rounds_since_probe_up = random_int_between(0, 1)", "2 + random" s */
static inline void ww_bbr3_pick_wait(struct ww_bbr3_state *bbr, uint64_t now_us) {
    const uint32_t draw = (uint32_t)(ww_wrapping_mul(now_us, UINT64_C(2654435761)) >> 16);
    bbr->rounds_since_probe_up = draw & 1;
    bbr->bw_probe_wait_us = WW_BBR3_PROBE_WAIT_US + (draw >> 1) % 1000001;
}

/* 5.3.3.9: StartProbeBW_DOWN() */
static inline void ww_bbr3_start_down(struct ww_bbr3_state *bbr, uint64_t now_us) {
    ww_bbr3_reset_signals(bbr);
    bbr->probe_up_acked_per_inc = WW_BBR3_ANY_VOLUME;
    ww_bbr3_pick_wait(bbr, now_us);
    bbr->cycle_at_us = now_us;
    bbr->ack_phase = WW_BBR3_ACKS_PROBE_STOPPING;
    ww_bbr3_start_round(bbr);
    bbr->mode = WW_BBR3_DOWN;
}

/* 5.3.3.9: StartProbeBW_REFILL() */
static inline void ww_bbr3_start_refill(struct ww_bbr3_state *bbr) {
    ww_bbr3_reset_short_term(bbr);
    bbr->bw_probe_up_rounds = 0;
    bbr->bw_probe_up_acked = 0;
    ww_bbr3_set(bbr, WW_BBR3_PRECAUTIONARY, false);
    bbr->ack_phase = WW_BBR3_ACKS_REFILLING;
    ww_bbr3_start_round(bbr);
    bbr->mode = WW_BBR3_REFILL;
}

/* 5.3.3.9: RaiseInflightLongtermSlope() */
static inline void ww_bbr3_raise_slope(struct ww_bbr3_state *bbr, uint32_t cwnd) {
    const uint32_t growth = UINT32_C(1) << ww_min_u32(bbr->bw_probe_up_rounds, WW_BBR3_UP_ROUNDS);
    bbr->bw_probe_up_rounds =
        (uint8_t)ww_min_u32(bbr->bw_probe_up_rounds + UINT32_C(1), WW_BBR3_UP_ROUNDS);
    bbr->probe_up_acked_per_inc = ww_max_u32(cwnd / growth, 1);
}

/* 5.3.3.9: StartProbeBW_UP() */
static inline void ww_bbr3_start_up(struct ww_bbr3_state *bbr, uint32_t cwnd,
                                    const struct ww_bbr3_sample *rs) {
    bbr->ack_phase = WW_BBR3_ACKS_PROBE_STARTING;
    ww_bbr3_start_round(bbr);
    ww_bbr3_reset_full_bw(bbr);
    bbr->full_bw = rs->delivery_rate;
    bbr->mode = WW_BBR3_UP;
    ww_bbr3_raise_slope(bbr, cwnd);
}

/* 5.3.2: EnterDrain() */
static inline void ww_bbr3_enter_drain(struct ww_bbr3_state *bbr) {
    bbr->mode = WW_BBR3_DRAIN;
    bbr->drain_start_round = bbr->round_count;
}

/*
 * 5.3.1.3: what CheckStartupHighLoss() does: "First, it sets BBR.undo_state = Startup". The test cases
 * (appendix) also set full_bw_now.
 */
static inline void ww_bbr3_leave_startup(struct ww_bbr3_state *bbr, uint32_t mss) {
    const uint32_t bdp = ww_bbr3_bdp_multiple(bbr, bbr->bw, WW_BBR3_UNIT, mss);
    bbr->undo_mode = WW_BBR3_STARTUP;
    ww_bbr3_set(bbr, WW_BBR3_FULL_NOW, true);
    ww_bbr3_set(bbr, WW_BBR3_FULL_REACHED, true);
    bbr->inflight_longterm = ww_min_u32(ww_max_u32(bdp, bbr->inflight_latest), WW_BBR3_ANY_VOLUME);
    ww_bbr3_enter_drain(bbr);
}

/*
 * 5.3.1.1: CheckStartupDone(); 5.3.1.3: "There are at least BBRStartupFullLossCnt=6 discontiguous
 * sequence ranges lost in that round trip."
 */
static inline void ww_bbr3_check_startup(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                         const struct ww_sample *sample,
                                         const struct ww_bbr3_sample *rs) {
    const bool ends = ww_bbr3_is(bbr, WW_BBR3_LOSS_ROUND_START);
    if (bbr->mode == WW_BBR3_STARTUP) {
        if (ends && sample->phase == WW_RECOVERY &&
            bbr->lost_ranges >= config->bbr3_startup_losses && ww_bbr3_is_too_high(config, rs))
            ww_bbr3_leave_startup(bbr, sample->mss);
        else if (ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED))
            ww_bbr3_enter_drain(bbr);
    }
    if (ends) bbr->lost_ranges = 0;
}

/* 5.3.2: CheckDrainDone(); 5.3.3.9: EnterProbeBW() */
static inline void ww_bbr3_check_drain(struct ww_bbr3_state *bbr, uint64_t pacing,
                                       const struct ww_sample *sample) {
    if (bbr->mode != WW_BBR3_DRAIN) return;
    const uint32_t rounds = ww_wrapping_sub(bbr->round_count, bbr->drain_start_round);
    if (sample->pipe <= ww_bbr3_inflight(bbr, bbr->bw, pacing, sample->mss) ||
        rounds > WW_BBR3_DRAIN_ROUNDS)
        ww_bbr3_start_down(bbr, sample->now_us);
}

/* 5.5.10.2: HandleInflightTooHigh() */
static inline void ww_bbr3_on_too_high(struct ww_bbr3_state *bbr, uint32_t cwnd, uint64_t now_us,
                                       uint32_t mss, const struct ww_bbr3_sample *rs) {
    ww_bbr3_set(bbr, WW_BBR3_TOO_HIGH, true);
    ww_bbr3_set(bbr, WW_BBR3_PROBE_SAMPLE, false);
    if (!rs->is_app_limited) {
        const uint32_t target = ww_bbr3_target_inflight(bbr, cwnd, mss);
        bbr->inflight_longterm = ww_min_u32(
            ww_max_u32(rs->tx_in_flight, ww_bbr3_share(target, WW_BBR3_BETA)), WW_BBR3_ANY_VOLUME);
    }
    if (bbr->mode != WW_BBR3_UP) return;
    bbr->undo_mode = WW_BBR3_UP;
    ww_bbr3_start_down(bbr, now_us);
}

/* 5.3.3.9: ProbeInflightLongtermUpward() */
static inline void ww_bbr3_probe_upward(struct ww_bbr3_state *bbr, uint32_t cwnd,
                                        uint32_t newly_delivered) {
    if (!ww_bbr3_is_cwnd_limited(bbr) || cwnd < bbr->inflight_longterm) return;
    const uint64_t acked = (uint64_t)bbr->bw_probe_up_acked + newly_delivered;
    const uint64_t delta = ww_div(acked, bbr->probe_up_acked_per_inc);
    bbr->bw_probe_up_acked = (uint32_t)ww_min_u64(
        ww_minus(acked, delta * bbr->probe_up_acked_per_inc), WW_BBR3_ANY_VOLUME);
    bbr->inflight_longterm =
        (uint32_t)ww_min_u64(bbr->inflight_longterm + delta, WW_BBR3_ANY_VOLUME);
    if (ww_bbr3_is(bbr, WW_BBR3_ROUND_START)) ww_bbr3_raise_slope(bbr, cwnd);
}

/* 5.3.3.9: AdaptLongTermModel(). Returns true if it began ProbeBW_REFILL. */
static inline bool ww_bbr3_adapt_long_term(const struct ww_config *config,
                                           struct ww_bbr3_state *bbr, uint32_t cwnd,
                                           uint32_t newly_delivered,
                                           const struct ww_bbr3_sample *rs) {
    const bool starts = ww_bbr3_is(bbr, WW_BBR3_ROUND_START);
    if (bbr->ack_phase == WW_BBR3_ACKS_PROBE_STARTING && starts)
        bbr->ack_phase = WW_BBR3_ACKS_PROBE_FEEDBACK;
    if (bbr->ack_phase == WW_BBR3_ACKS_PROBE_STOPPING && starts) {
        ww_bbr3_set(bbr, WW_BBR3_PROBE_SAMPLE, false);
        bbr->ack_phase = WW_BBR3_ACKS_INIT;
        if (ww_bbr3_in_probe_bw(bbr)) {
            if (!rs->is_app_limited) ww_bbr3_advance_max_bw(bbr);
            if (ww_bbr3_is(bbr, WW_BBR3_PRECAUTIONARY) && !ww_bbr3_is(bbr, WW_BBR3_TOO_HIGH)) {
                /* 5.3.3.6: "the flow immediately returns to ProbeBW_REFILL" */
                ww_bbr3_start_refill(bbr);
                return true;
            }
        }
    }
    if (ww_bbr3_is_too_high(config, rs) || bbr->inflight_longterm == WW_BBR3_ANY_VOLUME)
        return false;
    if (rs->tx_in_flight > bbr->inflight_longterm)
        bbr->inflight_longterm = ww_min_u32(rs->tx_in_flight, WW_BBR3_ANY_VOLUME);
    if (bbr->mode == WW_BBR3_UP) ww_bbr3_probe_upward(bbr, cwnd, newly_delivered);
    return false;
}

/* 5.3.3.8.3: IsTimeToProbeBW() and IsRenoCoexistenceProbeTime(); 5.3.3.9: HasElapsedInPhase() */
static inline bool ww_bbr3_is_time_to_probe(const struct ww_bbr3_state *bbr, uint32_t cwnd,
                                            const struct ww_sample *sample) {
    const uint32_t rounds =
        ww_min_u32(ww_bbr3_target_inflight(bbr, cwnd, sample->mss), WW_BBR3_RENO_ROUNDS);
    return ww_since(bbr->cycle_at_us, sample->now_us) > bbr->bw_probe_wait_us ||
           bbr->rounds_since_probe_up >= rounds;
}

/* 5.3.3.9: IsTimeToCruise() */
static inline bool ww_bbr3_is_time_to_cruise(const struct ww_bbr3_state *bbr, uint64_t pacing,
                                             const struct ww_sample *sample) {
    return sample->pipe <= ww_bbr3_inflight_with_headroom(bbr) &&
           sample->pipe <= ww_bbr3_inflight(bbr, ww_bbr3_max_bw(bbr), pacing, sample->mss);
}

/* 5.3.3.9: IsTimeToGoDown() */
static inline bool ww_bbr3_is_time_to_go_down(struct ww_bbr3_state *bbr, uint32_t cwnd,
                                              uint32_t pipe, const struct ww_bbr3_sample *rs) {
    if (ww_bbr3_is(bbr, WW_BBR3_TOO_HIGH) && pipe >= bbr->inflight_longterm) {
        ww_bbr3_set(bbr, WW_BBR3_PRECAUTIONARY, true);
        return true;
    }
    if (!ww_bbr3_is_cwnd_limited(bbr) || cwnd < bbr->inflight_longterm)
        return ww_bbr3_is(bbr, WW_BBR3_FULL_NOW);
    ww_bbr3_reset_full_bw(bbr);
    bbr->full_bw = rs->delivery_rate;
    return false;
}

/* 5.3.3.9: UpdateProbeBWCyclePhase() */
static inline void ww_bbr3_update_cycle(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                        const struct ww_window *window,
                                        const struct ww_sample *sample,
                                        const struct ww_bbr3_sample *rs) {
    if (!ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED)) return;
    if (ww_bbr3_adapt_long_term(config, bbr, window->cwnd, sample->newly_delivered, rs)) return;
    if (bbr->mode == WW_BBR3_DOWN || bbr->mode == WW_BBR3_CRUISE) {
        if (ww_bbr3_is_time_to_probe(bbr, window->cwnd, sample))
            ww_bbr3_start_refill(bbr);
        else if (ww_bbr3_is_time_to_cruise(bbr, window->pacing, sample))
            bbr->mode = WW_BBR3_CRUISE; /* 5.3.3.9: StartProbeBW_CRUISE() */
    } else if (bbr->mode == WW_BBR3_REFILL && ww_bbr3_is(bbr, WW_BBR3_ROUND_START)) {
        ww_bbr3_set(bbr, WW_BBR3_PROBE_SAMPLE, true);
        ww_bbr3_start_up(bbr, window->cwnd, rs);
    } else if (bbr->mode == WW_BBR3_UP &&
               ww_bbr3_is_time_to_go_down(bbr, window->cwnd, sample->pipe, rs)) {
        ww_bbr3_set(bbr, WW_BBR3_TOO_HIGH, false);
        ww_bbr3_start_down(bbr, sample->now_us);
    }
}

#endif
