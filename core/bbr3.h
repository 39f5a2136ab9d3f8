/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * BBRv3 (draft-ietf-ccwg-bbr, the text of 2026-08-03; sections are counted from it).
 *
 *   max_bw      = largest delivery rate sample of this cycle of ProbeBW and the last         5.5.5
 *   min_rtt     = smallest RTT of the last 10 s                                              5.3.4.3
 *   bw          = min(max_bw, bw_shortterm)                                                  5.5.10.3
 *   pacing      = pacing_gain * bw * 99 %                                                    5.6.2
 *   inflight(g) = max(g * bw * min_rtt, 3 send quanta, 4) (+ 2 in ProbeBW_UP)                5.6.4.2
 *   cwnd        = inflight(cwnd_gain) with extra_acked, at most the caps below               5.6.4.6
 *
 *   state           pacing  cwnd  rate cap      volume cap                             5.6.1
 *   Startup         2.77    2                                     until bw or losses say full
 *   Drain           0.5     2     bw_shortterm  inflight_shortterm
 *   ProbeBW_DOWN    0.9     2     bw_shortterm  both inflight_    until the queue is empty
 *   ProbeBW_CRUISE  1       2     bw_shortterm  0.85 longterm     for 2 to 3 s, or 62 rounds
 *   ProbeBW_REFILL  1       2                   longterm          for a round
 *   ProbeBW_UP      1.25    2.25                longterm          until bw or losses say full
 *   ProbeRTT        1       0.5   bw_shortterm  0.85 longterm     for 200 ms and a round
 *
 *   a round with losses, not probing   bw_shortterm, inflight_shortterm = max(latest, 0.7 of it)  5.5.10.3
 *   losses above 2 % while probing     inflight_longterm = max(flight at the loss, 0.7 BDP)  5.5.10.2
 *   timeout                            cwnd = in flight + 1; at the end of it the cwnd before it  5.6.4.4
 *
 * The host measures the delivery rate (4.1), reports each segment that it sends or finds lost, paces by
 * window->pacing and runs no recovery arithmetic of its own. tests/core/bbr3_sentences.toml lists the draft's
 * normative sentences, and says which line follows each.
 *
 * Settings hold the constants on which implementations differ; the profiles linux-v3 and quiche set them.
 *
 * Deviations and what the draft leaves open:
 *   - Volumes are whole segments. The BDP is rounded up, and InflightAtLoss() down.
 *   - C.is_cwnd_limited is measured here, from the segments sent.
 *   - A cycle without a sample does not advance the filter of max_bw (as in Linux): it would be empty.
 *   - The initial pacing rate is set with the first segment, and again with the first RTT if none was
 *     known then: a guess of 1 ms would last until the end of Startup.
 *   - The state for an undo is saved once in an episode of losses, as section 5.5.11.1 says. By the pseudocode
 *     entering fast recovery, and the next loss after StartProbeBW_DOWN(), would save it again and forget what the
 *     first losses changed.
 *   - A congestion mark counts as a loss, and ends a probe: the draft's "MUST treat any CE marks as
 *     congestion" (3.7) has no pseudocode.
 *   - Random numbers come from the clock's low bits, because the core has none.
 */
#ifndef WW_BBR3_H
#define WW_BBR3_H

#include "bbr3_phases.h"

/* ---- The minimum RTT */

/*
 * 5.3.4.3: UpdateMinRTT(); 5.3.4.2: "each BBR flow MUST use the standard BBR.ProbeRTTInterval of 5
 * secs", unless its user sets another. With bbr3_prior_rtt ProbeRTT's cwnd is computed before min_rtt expires:
 * issue 109 of the draft's repository, against a ProbeRTT that takes an inflated min_rtt.
 */
static inline void ww_bbr3_update_min_rtt(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                          const struct ww_sample *sample) {
    const uint64_t now_us = sample->now_us;
    const bool expired = ww_since(bbr->probe_rtt_min_at_us, now_us) > config->bbr3_probe_rtt_us;
    ww_bbr3_set(bbr, WW_BBR3_PROBE_RTT_EXPIRED, expired);
    if (expired && bbr->mode != WW_BBR3_PROBE_RTT) {
        bbr->probe_rtt_cwnd = 0;
        if (config->bbr3_prior_rtt) bbr->probe_rtt_cwnd = ww_bbr3_probe_rtt_cwnd(bbr, sample->mss);
    }
    if (sample->rate_rtt_us != 0 &&
        (sample->rate_rtt_us < bbr->probe_rtt_min_delay_us || expired)) {
        bbr->probe_rtt_min_delay_us = sample->rate_rtt_us;
        bbr->probe_rtt_min_at_us = now_us;
    }
    const bool min_rtt_expired = ww_since(bbr->min_rtt_at_us, now_us) > config->bbr3_min_rtt_us;
    if (bbr->probe_rtt_min_delay_us < bbr->min_rtt_us || min_rtt_expired) {
        bbr->min_rtt_us = bbr->probe_rtt_min_delay_us;
        bbr->min_rtt_at_us = bbr->probe_rtt_min_at_us;
    }
}

/* 5.3.4.4: ExitProbeRTT() */
static inline void ww_bbr3_exit_probe_rtt(struct ww_bbr3_state *bbr, uint64_t now_us) {
    ww_bbr3_reset_short_term(bbr);
    if (!ww_bbr3_is(bbr, WW_BBR3_FULL_REACHED)) {
        bbr->mode = WW_BBR3_STARTUP;
        return;
    }
    ww_bbr3_start_down(bbr, now_us);
    bbr->mode = WW_BBR3_CRUISE;
}

/* 5.3.4.3: CheckProbeRTTDone() */
static inline void ww_bbr3_check_probe_rtt_done(struct ww_bbr3_state *bbr, struct ww_window *window,
                                                uint64_t now_us) {
    if (!ww_bbr3_is(bbr, WW_BBR3_PROBE_RTT_TIMED) ||
        ww_since(bbr->probe_rtt_timed_us, now_us) <= WW_BBR3_PROBE_RTT_US)
        return;
    bbr->probe_rtt_min_at_us = now_us;
    ww_bbr3_restore_cwnd(bbr, window);
    ww_bbr3_exit_probe_rtt(bbr, now_us);
}

/* 4.1.2.4: MarkConnectionAppLimited(), for what ProbeRTT sends */
static inline void ww_bbr3_mark_limited(struct ww_bbr3_state *bbr, uint32_t pipe) {
    bbr->limited_until = ww_wrapping_add(ww_wrapping_add(bbr->delivered, pipe), 1);
}

/* Returns true if ProbeRTT limited what was sent when this much had been delivered. */
static inline bool ww_bbr3_was_limited(const struct ww_bbr3_state *bbr, uint32_t delivered) {
    return ww_wrapping_sub(delivered, bbr->limited_from) <
           ww_wrapping_sub(bbr->limited_until, bbr->limited_from);
}

/* 5.3.4.3: HandleProbeRTT() */
static inline void ww_bbr3_handle_probe_rtt(struct ww_bbr3_state *bbr, struct ww_window *window,
                                            const struct ww_sample *sample) {
    ww_bbr3_mark_limited(bbr, sample->pipe);
    if (!ww_bbr3_is(bbr, WW_BBR3_PROBE_RTT_TIMED)) {
        if (sample->pipe > ww_bbr3_probe_rtt_cwnd(bbr, sample->mss)) return;
        bbr->probe_rtt_timed_us = sample->now_us;
        ww_bbr3_set(bbr, WW_BBR3_PROBE_RTT_TIMED, true);
        ww_bbr3_set(bbr, WW_BBR3_PROBE_RTT_ROUND, false);
        ww_bbr3_start_round(bbr);
        return;
    }
    if (ww_bbr3_is(bbr, WW_BBR3_ROUND_START)) ww_bbr3_set(bbr, WW_BBR3_PROBE_RTT_ROUND, true);
    if (ww_bbr3_is(bbr, WW_BBR3_PROBE_RTT_ROUND))
        ww_bbr3_check_probe_rtt_done(bbr, window, sample->now_us);
}

/* 5.3.4.3: CheckProbeRTT() and EnterProbeRTT() */
static inline void ww_bbr3_check_probe_rtt(struct ww_bbr3_state *bbr, struct ww_window *window,
                                           const struct ww_sample *sample) {
    if (bbr->mode != WW_BBR3_PROBE_RTT && ww_bbr3_is(bbr, WW_BBR3_PROBE_RTT_EXPIRED) &&
        !ww_bbr3_is(bbr, WW_BBR3_IDLE_RESTART)) {
        bbr->mode = WW_BBR3_PROBE_RTT;
        ww_bbr3_save_cwnd(bbr, window->cwnd); /* never below the cwnd saved before */
        bbr->limited_from = bbr->delivered;
        ww_bbr3_set(bbr, WW_BBR3_PROBE_RTT_TIMED, false);
        bbr->ack_phase = WW_BBR3_ACKS_PROBE_STOPPING;
        ww_bbr3_start_round(bbr);
    }
    if (bbr->mode == WW_BBR3_PROBE_RTT) ww_bbr3_handle_probe_rtt(bbr, window, sample);
    if (sample->rate_segments > 0) ww_bbr3_set(bbr, WW_BBR3_IDLE_RESTART, false);
}

/* ---- The host's calls */

/* 5.2.1: OnInit(), what needs the clock and the windows */
static inline void ww_bbr3_start(struct ww_bbr3_state *bbr, struct ww_window *window,
                                 uint64_t now_us, uint32_t mss, uint32_t srtt_us) {
    if (ww_bbr3_is(bbr, WW_BBR3_STARTED)) return;
    ww_bbr3_set(bbr, WW_BBR3_STARTED, true);
    bbr->initial_cwnd = window->cwnd;
    if (srtt_us != 0) bbr->min_rtt_us = srtt_us;
    bbr->min_rtt_at_us = bbr->probe_rtt_min_at_us = bbr->extra_at_us = now_us;
    ww_bbr3_init_pacing(bbr, window, mss, srtt_us);
}

/* 5.2.2: OnTransmit(); 5.4.1: HandleRestartFromIdle() */
static inline void ww_bbr3_on_packet_sent(struct ww_bbr3_state *bbr, struct ww_window *window,
                                          const struct ww_sent *sent) {
    ww_bbr3_start(bbr, window, sent->now_us, sent->mss, sent->srtt_us);
    if (sent->pipe == 0 && (sent->is_app_limited || ww_bbr3_was_limited(bbr, sent->delivered))) {
        ww_bbr3_set(bbr, WW_BBR3_IDLE_RESTART, true);
        bbr->extra_at_us = sent->now_us;
        if (ww_bbr3_in_probe_bw(bbr))
            ww_bbr3_set_pacing(bbr, window, WW_BBR3_UNIT);
        else if (bbr->mode == WW_BBR3_PROBE_RTT)
            ww_bbr3_check_probe_rtt_done(bbr, window, sent->now_us);
    }
    if (sent->pipe >= window->cwnd - 1) ww_bbr3_set(bbr, WW_BBR3_CWND_LIMITED, true);
}

/* 5.2.4, 5.5.10.2: HandleLostPacket() */
static inline void ww_bbr3_on_packet_lost(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                          struct ww_window *window, const struct ww_lost *lost) {
    bbr->delivered = lost->delivered;
    if (!lost->continues) bbr->lost_ranges = (uint8_t)(ww_min_u32(bbr->lost_ranges, 254) + 1);
    ww_bbr3_note_loss(bbr, window->cwnd);
    ww_bbr3_set(bbr, WW_BBR3_REPORTED, true);
    /* 5.6.4.4: OnEnterRTO(): "C.cwnd = C.inflight + 1", of what is left after these losses */
    if (ww_bbr3_is(bbr, WW_BBR3_AFTER_RTO))
        window->cwnd = ww_min_u32(lost->pipe, WW_CWND_MAX - 1) + 1;
    if (!ww_bbr3_is(bbr, WW_BBR3_PROBE_SAMPLE)) return;
    struct ww_bbr3_sample rs = {
        0, 0, lost->prior_pipe, lost->lost_since,
        lost->is_app_limited || ww_bbr3_was_limited(bbr, lost->prior_delivered)};
    if (!ww_bbr3_is_too_high(config, &rs)) return;
    rs.tx_in_flight = ww_bbr3_inflight_at_loss(config, &rs);
    ww_bbr3_on_too_high(bbr, window->cwnd, lost->now_us, lost->mss, &rs);
}

/* 5.2.3: UpdateModelAndState() */
static inline void ww_bbr3_update_model(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                        struct ww_window *window, const struct ww_sample *sample,
                                        const struct ww_bbr3_sample *rs) {
    ww_bbr3_update_latest(bbr, sample->prior_delivered, rs);
    ww_bbr3_update_signals(bbr, window->cwnd, sample->prior_delivered, rs);
    ww_bbr3_update_aggregation(bbr, window->cwnd, sample);
    ww_bbr3_check_full_bw(bbr, rs);
    ww_bbr3_check_startup(config, bbr, sample, rs);
    ww_bbr3_check_drain(bbr, window->pacing, sample);
    ww_bbr3_update_cycle(config, bbr, window, sample, rs);
    ww_bbr3_update_min_rtt(config, bbr, sample);
    ww_bbr3_check_probe_rtt(bbr, window, sample);
    ww_bbr3_advance_latest(bbr, rs);
    ww_bbr3_bound_bw(bbr);
}

/*
 * 5.2.3: UpdateOnACK(), UpdateControlParameters(); 5.6.2: SetPacingRate(). The host has done 5.2.3's
 * GenerateRateSample(). An ACK that delivers nothing has no rate sample, and changes nothing.
 */
static inline void ww_bbr3_on_ack(const struct ww_config *config, struct ww_bbr3_state *bbr,
                                  struct ww_window *window, const struct ww_sample *sample) {
    ww_bbr3_start(bbr, window, sample->now_us, sample->mss, sample->srtt_us);
    ww_bbr3_set(bbr, WW_BBR3_AFTER_RTO, false);
    if (sample->newly_delivered == 0) return;
    bbr->delivered = sample->delivered;
    /* `delivered` wraps: what ProbeRTT limited long ago must not lie ahead again. */
    if (ww_reached(sample->prior_delivered, ww_wrapping_add(bbr->limited_until, WW_BBR3_LONG_AGO)))
        bbr->limited_from = bbr->limited_until;
    const struct ww_bbr3_sample rs = {
        ww_rate((uint64_t)sample->rate_segments * sample->mss, sample->rate_interval_us),
        ww_min_u32(sample->rate_segments, WW_BBR3_ANY_VOLUME), sample->prior_pipe,
        sample->lost_since,
        sample->is_app_limited || ww_bbr3_was_limited(bbr, sample->prior_delivered)};
    /* 5.6.4.4: "When BBR exits loss recovery it restores C.cwnd" */
    if (ww_bbr3_is(bbr, WW_BBR3_RECOVERING) && sample->phase < WW_RECOVERY) {
        ww_bbr3_set(bbr, WW_BBR3_RECOVERING, false);
        ww_bbr3_restore_cwnd(bbr, window);
    }
    ww_bbr3_update_model(config, bbr, window, sample, &rs);
    if (!ww_bbr3_is(bbr, WW_BBR3_PACED_BY_RTT) && sample->srtt_us != 0)
        ww_bbr3_init_pacing(bbr, window, sample->mss, sample->srtt_us);
    ww_bbr3_set_pacing(bbr, window, ww_bbr3_pacing_gain(config, bbr));
    ww_bbr3_set_cwnd(bbr, window, sample);
}

/* 5.6.4.4: OnEnterFastRecovery(). Also a loss that its own probe repaired: no segment was reported. */
static inline void ww_bbr3_on_loss(struct ww_bbr3_state *bbr, const struct ww_window *window) {
    if (!ww_bbr3_is(bbr, WW_BBR3_REPORTED)) ww_bbr3_note_loss(bbr, window->cwnd);
    ww_bbr3_set(bbr, WW_BBR3_REPORTED, false);
    ww_bbr3_set(bbr, WW_BBR3_RECOVERING, true);
}

/* 5.6.4.4: OnEnterRTO(). The host marks and reports the losses after this call. */
static inline void ww_bbr3_on_rto(struct ww_bbr3_state *bbr, struct ww_window *window) {
    ww_bbr3_save_state(bbr, window->cwnd);
    ww_bbr3_set(bbr, WW_BBR3_RECOVERING, true);
    ww_bbr3_set(bbr, WW_BBR3_AFTER_RTO, true);
    window->cwnd = 1;
}

/* 5.6.4.4: "Upon exiting loss recovery" */
static inline void ww_bbr3_on_recovery_exit(struct ww_bbr3_state *bbr, struct ww_window *window,
                                            uint32_t mss) {
    ww_bbr3_set(bbr, WW_BBR3_RECOVERING, false);
    ww_bbr3_set(bbr, WW_BBR3_REPORTED, false);
    ww_bbr3_restore_cwnd(bbr, window);
    ww_bbr3_bound_cwnd(bbr, window, mss);
}

/* 3.7: "the congestion controller response MUST treat any CE marks as congestion" */
static inline void ww_bbr3_on_mark(struct ww_bbr3_state *bbr, const struct ww_window *window,
                                   uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_bbr3_note_loss(bbr, window->cwnd);
    if (bbr->mode == WW_BBR3_STARTUP) ww_bbr3_leave_startup(bbr, mss);
    if (!ww_bbr3_is(bbr, WW_BBR3_PROBE_SAMPLE)) return;
    const struct ww_bbr3_sample rs = {0, 0, in_flight, 0, false};
    ww_bbr3_on_too_high(bbr, window->cwnd, now_us, mss, &rs);
}

/* 5.2.5, 5.5.11.2: HandleSpuriousLossDetection() */
static inline void ww_bbr3_on_undo(struct ww_bbr3_state *bbr, struct ww_window *window) {
    const uint8_t undo_mode = bbr->undo_mode;
    ww_bbr3_set(bbr, WW_BBR3_RECOVERING, false);
    ww_bbr3_set(bbr, WW_BBR3_REPORTED, false);
    ww_bbr3_set(bbr, WW_BBR3_AFTER_RTO, false);
    ww_bbr3_restore_cwnd(bbr, window);
    ww_bbr3_set(bbr, WW_BBR3_LOSS_IN_ROUND, false);
    ww_bbr3_reset_full_bw(bbr);
    bbr->bw_shortterm = ww_max_u64(bbr->bw_shortterm, bbr->undo_bw_shortterm);
    bbr->inflight_shortterm = ww_max_u32(bbr->inflight_shortterm, bbr->undo_inflight_shortterm);
    bbr->inflight_longterm = ww_max_u32(bbr->inflight_longterm, bbr->undo_inflight_longterm);
    bbr->undo_mode = WW_BBR3_NONE;
    if (undo_mode == WW_BBR3_STARTUP && bbr->mode != WW_BBR3_STARTUP) {
        ww_bbr3_set(bbr, WW_BBR3_FULL_REACHED, false);
        if (bbr->mode != WW_BBR3_PROBE_RTT) bbr->mode = WW_BBR3_STARTUP;
    } else if (undo_mode == WW_BBR3_UP && bbr->mode != WW_BBR3_UP &&
               bbr->mode != WW_BBR3_PROBE_RTT) {
        ww_bbr3_start_refill(bbr);
    }
}

/* Returns max_bw, the last round's bandwidth and min_rtt. */
static inline struct ww_observation ww_bbr3_observe(const struct ww_bbr3_state *bbr) {
    const struct ww_observation seen = {ww_bbr3_max_bw(bbr), bbr->bw_latest, bbr->min_rtt_us,
                                        bbr->round_count};
    return seen;
}

/* BBRv3's operations: westwood.h calls them, see reno.h. */
#define WW_BBR3_TRAITS \
    (WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_ESTIMATES | WW_FOLLOWS_PACKETS | WW_SHOWS)
#define WW_BBR3_INIT ww_bbr3_init
#define WW_BBR3_ON_ACK ww_bbr3_on_ack
#define WW_BBR3_SSTHRESH WW_RENO_SSTHRESH
#define WW_BBR3_ON_LOSS(config, bbr, window, now_us, in_flight, mss) ww_bbr3_on_loss(bbr, window)
#define WW_BBR3_ON_MARK(config, bbr, window, now_us, in_flight, mss) \
    ww_bbr3_on_mark(bbr, window, now_us, in_flight, mss)
#define WW_BBR3_ON_RECOVERY_EXIT(config, bbr, window, now_us, mss) \
    ww_bbr3_on_recovery_exit(bbr, window, mss)
#define WW_BBR3_ON_RTO(config, bbr, window, now_us, in_flight, mss, repeated) \
    ww_bbr3_on_rto(bbr, window)
#define WW_BBR3_ON_UNDO(config, bbr, window) ww_bbr3_on_undo(bbr, window)
#define WW_BBR3_ON_RESTART WW_RENO_ON_RESTART /* it hears of it with the first segment */
#define WW_BBR3_ON_PACKET_SENT(config, bbr, window, sent) ww_bbr3_on_packet_sent(bbr, window, sent)
#define WW_BBR3_ON_PACKET_LOST ww_bbr3_on_packet_lost
#define WW_BBR3_QUANTUM(config, window, mss) ww_bbr3_quantum((window)->pacing, mss)
#define WW_BBR3_OBSERVE(config, bbr, now_us) ww_bbr3_observe(bbr)
#define WW_BBR3_MODES(X) \
    X("Startup")         \
    X("Drain")           \
    X("ProbeBW_DOWN") X("ProbeBW_CRUISE") X("ProbeBW_REFILL") X("ProbeBW_UP") X("ProbeRTT")
#define WW_BBR3_MODE(control) ((control)->mode + UINT32_C(1))
#define WW_BBR3_QUANTITIES(X)                                     \
    X(bw_bps, WW_BANDWIDTH, control->bw)                          \
    X(inflight_longterm, WW_VOLUME, control->inflight_longterm)   \
    X(inflight_shortterm, WW_VOLUME, control->inflight_shortterm) \
    X(min_rtt_s, WW_DURATION, control->min_rtt_us)

#endif
