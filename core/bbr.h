/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * BBRv1 (draft-cardwell-iccrg-bbr-congestion-control-00; Cardwell et al., ACM Queue 14(5), 2016).
 *
 *   BtlBw    = largest delivery rate sample of the last 10 round trips                      4.1.1
 *   RTprop   = smallest RTT of the last 10 s                                                4.1.2
 *   pacing   = pacing_gain * BtlBw                                                          4.2.1
 *   inflight(gain) = gain * BtlBw * RTprop + 3 send quanta                                  4.2.3.2
 *   cwnd     = inflight(cwnd_gain)                                                          4.2.3
 *
 *   STARTUP    gains 2.89, 2.89   until BtlBw grew by less than 25 % in three rounds        4.3.2
 *   DRAIN      gains 1/2.89, 2.89 until in flight <= inflight(1)                            4.3.3
 *   PROBE_BW   gains 5/4, 3/4, 1 1 1 1 1 1, each for RTprop; cwnd_gain 2                    4.3.4
 *   PROBE_RTT  cwnd 4 for 200 ms and a round, when RTprop is 10 s old                       4.3.5
 *
 *   fast recovery  packet conservation for a full round: cwnd = in flight + delivered; then growth
 *                  towards the target; at its end the cwnd before it                        4.2.3.4
 *   timeout        cwnd = 1; at the end of it the cwnd before it                            4.2.3.4
 *
 * The host measures the delivery rate (draft-cheng-iccrg-delivery-rate-estimation-00), paces by
 * window->pacing and runs no recovery arithmetic of its own: ww_owns_recovery.
 *
 * Five things follow Linux (tcp_bbr.c) and not the draft. Pacing stays 1 % below the rate, so that queues
 * drain. A timeout restarts the search for the full pipe, and so does an undo (bbr_undo_cwnd). The round of
 * packet conservation begins with the recovery (next_rtt_delivered). cwnd has room for aggregated ACKs: the largest
 * number of segments acknowledged beyond BtlBw * time in the last 5 to 10 round trips:
 *
 *   epoch    restarts when acked <= BtlBw * (time since it began)
 *   extra    = max(acked in the epoch - BtlBw * time), at most cwnd and BtlBw * 100 ms
 *   cwnd     = inflight(cwnd_gain) + extra, once the pipe was filled
 *
 * With bbr_rules = linux it also detects policers (bbr_policer.h), and the RTT follows bbr_update_min_rtt().
 *
 * Left out: the pacing rate before the first sample (4.2.1, BBRInitPacingRate), and
 * the restart from idle (4.3.4.4, bbr_cwnd_event): after a silence pacing keeps its gain, and PROBE_RTT may follow at
 * once. The first phase of PROBE_BW is drawn from the clock's low bits, because the core has no random numbers.
 * docs/gallery.md lists all differences and what they cost.
 */
#ifndef WW_BBR_H
#define WW_BBR_H

#include "bbr_state.h"
#include "max_filter.h"

static inline void ww_bbr_update_max(struct ww_bbr_state *bbr, uint64_t bw) {
    ww_max_update(bbr->max_bw, bbr->max_bw_round, bw, (uint16_t)bbr->rounds, WW_BBR_BW_ROUNDS);
}

/* Returns BtlBw, or a policer's rate. */
static inline uint64_t ww_bbr_bandwidth(const struct ww_bbr_state *bbr) {
    return ww_bbr_is_policed(&bbr->policer) ? ww_bbr_policed_bw(&bbr->policer) : bbr->max_bw[0];
}

static inline void ww_bbr_enter_probe_bw(struct ww_bbr_state *bbr, uint64_t now_us) {
    bbr->mode = WW_BBR_PROBE_BW;
    bbr->cycle_at_us = (uint32_t)now_us;
    /* The cycle begins in any phase except that of gain 3/4: 0, 2..7. */
    const uint32_t draw =
        (uint32_t)(ww_wrapping_mul(now_us, UINT64_C(2654435761)) >> 16) % (WW_BBR_CYCLE - 1);
    bbr->cycle = (uint8_t)(draw == 0 ? 0 : draw + 1);
}

static inline void ww_bbr_watch_policer(struct ww_bbr_state *bbr, const struct ww_sample *sample,
                                        bool is_limited) {
    const bool begins_round = ww_bbr_is(bbr, WW_BBR_ROUND_START);
    if (!ww_bbr_is_policed(&bbr->policer))
        ww_bbr_find_policer(&bbr->policer, sample, is_limited, begins_round);
    else if (bbr->mode == WW_BBR_PROBE_BW && begins_round && ww_bbr_ends_policer(&bbr->policer))
        ww_bbr_enter_probe_bw(bbr, sample->now_us);
}

static inline void ww_bbr_update_bandwidth(const struct ww_config *config, struct ww_bbr_state *bbr,
                                           const struct ww_sample *sample) {
    const bool as_linux = config->bbr_rules == WW_BBR_RULES_LINUX;
    if (as_linux) ww_bbr_count_losses(&bbr->policer, sample);
    ww_bbr_set(bbr, WW_BBR_ROUND_START, false);
    if (sample->rate_interval_us == 0) return;
    if (ww_reached(sample->prior_delivered, bbr->round_end)) {
        bbr->round_end = sample->delivered;
        bbr->rounds = ww_wrapping_add(bbr->rounds, 1);
        ww_bbr_set(bbr, WW_BBR_ROUND_START, true);
        ww_bbr_set(bbr, WW_BBR_CONSERVATION, false);
    }
    /* `delivered` wraps: a limit from long ago must not seem to lie ahead. */
    if (ww_reached(sample->prior_delivered, ww_wrapping_add(bbr->limited_until, WW_BBR_LONG_AGO)))
        bbr->limited_until = ww_wrapping_sub(sample->prior_delivered, WW_BBR_LONG_AGO);
    const bool limited = sample->is_app_limited || bbr->mode == WW_BBR_PROBE_RTT ||
                         !ww_reached(sample->prior_delivered, bbr->limited_until);
    if (as_linux) ww_bbr_watch_policer(bbr, sample, limited);
    const uint64_t bw =
        ww_rate((uint64_t)sample->rate_segments * sample->mss, sample->rate_interval_us);
    if (!limited || bw >= bbr->max_bw[0]) ww_bbr_update_max(bbr, bw);
}

static inline uint32_t ww_bbr_pacing_gain(const struct ww_bbr_state *bbr) {
    if (bbr->mode == WW_BBR_STARTUP) return WW_BBR_HIGH_GAIN;
    if (bbr->mode == WW_BBR_DRAIN) return WW_BBR_DRAIN_GAIN;
    if (ww_bbr_is_policed(&bbr->policer)) return WW_BBR_UNIT;
    if (bbr->mode == WW_BBR_PROBE_BW && bbr->cycle == 0) return WW_BBR_UNIT * 5 / 4;
    if (bbr->mode == WW_BBR_PROBE_BW && bbr->cycle == 1) return WW_BBR_UNIT * 3 / 4;
    return WW_BBR_UNIT;
}

static inline uint32_t ww_bbr_cwnd_gain(const struct ww_bbr_state *bbr) {
    if (bbr->mode == WW_BBR_PROBE_BW) return WW_BBR_CWND_GAIN;
    return bbr->mode == WW_BBR_PROBE_RTT ? WW_BBR_UNIT : WW_BBR_HIGH_GAIN;
}

/* Returns BBRInflight without its quanta: gain * bw * RTprop, rounded up. 2^46 bytes * 2^10. */
static inline uint32_t ww_bbr_bdp(const struct ww_bbr_state *bbr, uint64_t bw, uint32_t gain,
                                  uint32_t mss) {
    if (bbr->rtprop_us == UINT32_MAX) return 10; /* InitialCwnd, RFC 6928 */
    const uint64_t bytes = ww_bytes_in(bw, bbr->rtprop_us) * gain / WW_BBR_UNIT + mss - 1;
    return (uint32_t)ww_min_u64(ww_div(bytes, mss), WW_CWND_MAX);
}

/* Returns BBR.send_quantum, 4.2.2, in segments. */
static inline uint32_t ww_bbr_quantum(uint64_t pacing, uint32_t mss) {
    const uint64_t bytes_per_s = pacing >> WW_BW_FRACTION;
    if (bytes_per_s < 1200000 / 8) return 1;
    if (bytes_per_s < 24000000 / 8) return 2;
    return ww_max_u32((uint32_t)ww_div(ww_min_u64(bytes_per_s / 1000, 65536), mss), 2);
}

/*
 * Returns BBRInflight, 4.2.3.2: segments in flight at this gain, with the quanta that the end hosts
 * hold. As in Linux (bbr_quantization_budget), it is even, so that no last segment waits for a
 * delayed ACK, and 2 more while PROBE_BW probes, so that probing also works on paths with a small
 * BDP.
 */
static inline uint32_t ww_bbr_with_quanta(const struct ww_bbr_state *bbr, uint32_t segments,
                                          uint64_t pacing, uint32_t mss) {
    const uint32_t more = bbr->mode == WW_BBR_PROBE_BW && bbr->cycle == 0 ? 2 : 0;
    return ((segments + 3 * ww_bbr_quantum(pacing, mss) + 1) & ~UINT32_C(1)) + more;
}

static inline uint32_t ww_bbr_inflight(const struct ww_bbr_state *bbr, uint32_t gain,
                                       uint64_t pacing, uint32_t mss) {
    return ww_bbr_with_quanta(bbr, ww_bbr_bdp(bbr, bbr->max_bw[0], gain, mss), pacing, mss);
}

static inline void ww_bbr_update_cycle(struct ww_bbr_state *bbr, uint64_t pacing,
                                       const struct ww_sample *sample) {
    if (bbr->mode != WW_BBR_PROBE_BW) return;
    const bool full_length =
        ww_wrapping_sub((uint32_t)sample->now_us, bbr->cycle_at_us) > bbr->rtprop_us;
    const uint64_t prior = (uint64_t)sample->pipe + sample->newly_delivered + sample->newly_lost;
    const uint32_t gain = ww_bbr_pacing_gain(bbr);
    bool next = full_length;
    if (gain > WW_BBR_UNIT) /* probes until the path is full or loses packets */
        next = full_length &&
               (sample->newly_lost > 0 || prior >= ww_bbr_inflight(bbr, gain, pacing, sample->mss));
    else if (gain < WW_BBR_UNIT) /* drains no longer than needed */
        next = full_length || prior <= ww_bbr_inflight(bbr, WW_BBR_UNIT, pacing, sample->mss);
    if (!next) return;
    bbr->cycle = (uint8_t)((bbr->cycle + 1) % WW_BBR_CYCLE);
    bbr->cycle_at_us = (uint32_t)sample->now_us;
}

static inline void ww_bbr_check_full_pipe(struct ww_bbr_state *bbr,
                                          const struct ww_sample *sample) {
    if (ww_bbr_is(bbr, WW_BBR_FULL) || !ww_bbr_is(bbr, WW_BBR_ROUND_START) ||
        sample->is_app_limited)
        return;
    if (bbr->max_bw[0] >= bbr->full_bw + bbr->full_bw / 4) {
        bbr->full_bw = bbr->max_bw[0];
        bbr->full_rounds = 0;
        return;
    }
    bbr->full_rounds++;
    ww_bbr_set(bbr, WW_BBR_FULL, bbr->full_rounds >= WW_BBR_FULL_ROUNDS);
}

static inline void ww_bbr_check_drain(struct ww_bbr_state *bbr, uint64_t pacing,
                                      const struct ww_sample *sample) {
    if (bbr->mode == WW_BBR_STARTUP && ww_bbr_is(bbr, WW_BBR_FULL)) bbr->mode = WW_BBR_DRAIN;
    if (bbr->mode == WW_BBR_DRAIN &&
        sample->pipe <= ww_bbr_inflight(bbr, WW_BBR_UNIT, pacing, sample->mss))
        ww_bbr_enter_probe_bw(bbr, sample->now_us);
}

static inline void ww_bbr_leave_probe_rtt(struct ww_bbr_state *bbr, struct ww_window *window,
                                          uint64_t now_us) {
    bbr->rtprop_at_us = (uint32_t)now_us;
    window->cwnd = ww_max_u32(window->cwnd, bbr->common.prior_cwnd);
    if (ww_bbr_is(bbr, WW_BBR_FULL))
        ww_bbr_enter_probe_bw(bbr, now_us);
    else
        bbr->mode = WW_BBR_STARTUP;
}

/* Keeps the cwnd from before recovery or PROBE_RTT reduced it. */
static inline void ww_bbr_save_cwnd(struct ww_bbr_state *bbr, const struct ww_window *window) {
    const bool reduced = ww_bbr_is(bbr, WW_BBR_RECOVERING) || bbr->mode == WW_BBR_PROBE_RTT;
    bbr->common.prior_cwnd =
        reduced ? ww_max_u32(bbr->common.prior_cwnd, window->cwnd) : window->cwnd;
}

/* tcp_bbr.c's bbr_update_min_rtt() also takes the RTTs of SACKed segments, and equal ones renew nothing. */
static inline void ww_bbr_update_rtprop(const struct ww_config *config, struct ww_bbr_state *bbr,
                                        struct ww_window *window, const struct ww_sample *sample) {
    const bool as_linux = config->bbr_rules == WW_BBR_RULES_LINUX;
    const uint32_t rtt_us = as_linux ? sample->rate_rtt_us : sample->rtt_us;
    const bool expired =
        bbr->rtprop_us != UINT32_MAX &&
        ww_wrapping_sub((uint32_t)sample->now_us, bbr->rtprop_at_us) > WW_BBR_RTPROP_US;
    const bool renews = as_linux ? rtt_us < bbr->rtprop_us : rtt_us <= bbr->rtprop_us;
    if (rtt_us != 0 && (renews || expired)) {
        bbr->rtprop_us = rtt_us;
        bbr->rtprop_at_us = (uint32_t)sample->now_us;
    }
    if (expired && bbr->mode != WW_BBR_PROBE_RTT) {
        ww_bbr_save_cwnd(bbr, window);
        bbr->mode = WW_BBR_PROBE_RTT;
        ww_bbr_set(bbr, WW_BBR_AT_FLOOR, false);
    }
    if (bbr->mode != WW_BBR_PROBE_RTT) return;
    bbr->limited_until = ww_wrapping_add(sample->delivered, sample->pipe);
    if (!ww_bbr_is(bbr, WW_BBR_AT_FLOOR)) {
        if (sample->pipe > WW_BBR_MIN_CWND) return;
        bbr->probe_rtt_done_us = ww_wrapping_add((uint32_t)sample->now_us, WW_BBR_PROBE_RTT_US);
        bbr->round_end = sample->delivered;
        ww_bbr_set(bbr, WW_BBR_AT_FLOOR, true);
        ww_bbr_set(bbr, WW_BBR_FLOOR_ROUND, false);
        return;
    }
    if (ww_bbr_is(bbr, WW_BBR_ROUND_START)) ww_bbr_set(bbr, WW_BBR_FLOOR_ROUND, true);
    if (ww_bbr_is(bbr, WW_BBR_FLOOR_ROUND) &&
        ww_reached((uint32_t)sample->now_us, bbr->probe_rtt_done_us))
        ww_bbr_leave_probe_rtt(bbr, window, sample->now_us);
}

/* Returns how many segments the estimated bandwidth delivers in this time. */
static inline uint32_t ww_bbr_segments_in(const struct ww_bbr_state *bbr, uint32_t us,
                                          uint32_t mss) {
    return (uint32_t)ww_min_u64(ww_div(ww_bytes_in(ww_bbr_bandwidth(bbr), us), mss), WW_CWND_MAX);
}

/* Measures how far aggregated ACKs run ahead of the bandwidth. */
static inline void ww_bbr_update_extra(struct ww_bbr_state *bbr, uint32_t cwnd,
                                       const struct ww_sample *sample) {
    if (sample->newly_delivered == 0 || sample->rate_interval_us == 0) return;
    const uint32_t now_us = (uint32_t)sample->now_us;
    if (ww_bbr_is(bbr, WW_BBR_ROUND_START) && ++bbr->extra_rounds >= WW_BBR_EXTRA_ROUNDS) {
        const bool second = !ww_bbr_is(bbr, WW_BBR_SECOND_EXTRA);
        ww_bbr_set(bbr, WW_BBR_SECOND_EXTRA, second);
        bbr->extra_acked[second] = 0;
        bbr->extra_rounds = 0;
    }
    uint32_t expected =
        ww_bbr_segments_in(bbr, ww_wrapping_sub(now_us, bbr->epoch_us), sample->mss);
    if (bbr->epoch_acked <= expected || bbr->epoch_acked >= WW_BBR_EPOCH_MAX) {
        bbr->epoch_acked = 0;
        bbr->epoch_us = now_us;
        expected = 0;
    }
    bbr->epoch_acked += ww_min_u32(sample->newly_delivered, WW_BBR_EPOCH_MAX);
    const uint32_t extra =
        (uint32_t)ww_min_u64(ww_minus(bbr->epoch_acked, expected), ww_min_u32(cwnd, UINT16_MAX));
    uint16_t *most = &bbr->extra_acked[ww_bbr_is(bbr, WW_BBR_SECOND_EXTRA)];
    if (extra > *most) *most = (uint16_t)extra;
}

static inline uint32_t ww_bbr_extra(const struct ww_bbr_state *bbr, uint32_t mss) {
    if (!ww_bbr_is(bbr, WW_BBR_FULL)) return 0;
    return ww_min_u32(ww_max_u32(bbr->extra_acked[0], bbr->extra_acked[1]),
                      ww_bbr_segments_in(bbr, WW_BBR_EXTRA_US, mss));
}

static inline void ww_bbr_set_pacing(const struct ww_bbr_state *bbr, struct ww_window *window,
                                     const struct ww_sample *sample) {
    uint64_t bw = ww_bbr_bandwidth(bbr);
    if (bw == 0) { /* before the first sample: one window per round trip */
        if (sample->rtt_us == 0) return;
        bw = ww_rate((uint64_t)window->cwnd * sample->mss, sample->rtt_us);
    }
    /* 2^45 * 739 * 99 < 2^62 */
    const uint64_t rate =
        ww_min_u64(bw * ww_bbr_pacing_gain(bbr) * WW_BBR_MARGIN / (100 * WW_BBR_UNIT), WW_BW_MAX);
    if (ww_bbr_is(bbr, WW_BBR_FULL) || rate > window->pacing) window->pacing = rate;
}

static inline void ww_bbr_set_cwnd(struct ww_bbr_state *bbr, struct ww_window *window,
                                   const struct ww_sample *sample) {
    const uint32_t delivered = sample->newly_delivered;
    uint64_t cwnd = window->cwnd;
    if (sample->newly_lost > 0 && sample->phase >= WW_RECOVERY)
        cwnd = ww_max_u64(ww_minus(cwnd, sample->newly_lost), 1);
    if (ww_bbr_is(bbr, WW_BBR_RECOVERING) && sample->phase < WW_RECOVERY) {
        cwnd = ww_max_u64(cwnd, bbr->common.prior_cwnd);
        ww_bbr_set(bbr, WW_BBR_RECOVERING, false);
        ww_bbr_set(bbr, WW_BBR_CONSERVATION, false);
    }
    const uint64_t bw = ww_bbr_bandwidth(bbr);
    const uint32_t segments =
        ww_bbr_bdp(bbr, bw, ww_bbr_cwnd_gain(bbr), sample->mss) + ww_bbr_extra(bbr, sample->mss);
    const uint32_t target = ww_bbr_with_quanta(bbr, segments, window->pacing, sample->mss);
    if (ww_bbr_is(bbr, WW_BBR_CONSERVATION))
        cwnd = ww_max_u64(cwnd, (uint64_t)sample->pipe + delivered);
    else if (ww_bbr_is(bbr, WW_BBR_FULL))
        cwnd = ww_min_u64(cwnd + delivered, target);
    else if (cwnd < target || sample->delivered < 10)
        cwnd += delivered;
    if (!ww_bbr_is(bbr, WW_BBR_CONSERVATION)) cwnd = ww_max_u64(cwnd, WW_BBR_MIN_CWND);
    if (bbr->mode == WW_BBR_PROBE_RTT) cwnd = ww_min_u64(cwnd, WW_BBR_MIN_CWND);
    window->cwnd = (uint32_t)ww_min_u64(cwnd, WW_CWND_MAX);
}

static inline void ww_bbr_on_ack(const struct ww_config *config, struct ww_bbr_state *bbr,
                                 struct ww_window *window, const struct ww_sample *sample) {
    ww_bbr_update_bandwidth(config, bbr, sample);
    ww_bbr_update_extra(bbr, window->cwnd, sample);
    ww_bbr_update_cycle(bbr, window->pacing, sample);
    ww_bbr_check_full_pipe(bbr, sample);
    ww_bbr_check_drain(bbr, window->pacing, sample);
    ww_bbr_update_rtprop(config, bbr, window, sample);
    ww_bbr_set_pacing(bbr, window, sample);
    ww_bbr_set_cwnd(bbr, window, sample);
    bbr->conserved = (uint32_t)ww_min_u64(
        (uint64_t)sample->pipe + ww_max_u32(sample->newly_delivered, 1), WW_CWND_MAX);
    bbr->delivered = sample->delivered;
}

/* Enters fast recovery. BBRv1 does not use ssthresh and leaves it alone. */
static inline void ww_bbr_on_loss(struct ww_bbr_state *bbr, struct ww_window *window) {
    ww_bbr_save_cwnd(bbr, window);
    ww_bbr_set(bbr, WW_BBR_RECOVERING, true);
    ww_bbr_set(bbr, WW_BBR_CONSERVATION, true);
    bbr->round_end = bbr->delivered;
    window->cwnd = ww_min_u32(window->cwnd, ww_max_u32(bbr->conserved, 1));
}

static inline void ww_bbr_on_rto(struct ww_bbr_state *bbr, struct ww_window *window) {
    ww_bbr_save_cwnd(bbr, window);
    ww_bbr_set(bbr, WW_BBR_RECOVERING, true);
    ww_bbr_set(bbr, WW_BBR_CONSERVATION, false);
    bbr->full_bw = 0;
    window->cwnd = 1;
}

/* Leaves recovery. The host's own recovery has not changed cwnd. */
static inline void ww_bbr_on_recovery_exit(struct ww_bbr_state *bbr, struct ww_window *window) {
    window->cwnd = ww_max_u32(window->cwnd, bbr->common.prior_cwnd);
    ww_bbr_set(bbr, WW_BBR_RECOVERING, false);
    ww_bbr_set(bbr, WW_BBR_CONSERVATION, false);
}

/* Undoes a spurious reduction, which may have ended the search for the full pipe too early. */
static inline void ww_bbr_on_undo(struct ww_bbr_state *bbr, struct ww_window *window) {
    bbr->full_bw = 0;
    bbr->full_rounds = 0;
    ww_bbr_forget_policer(&bbr->policer);
    ww_reno_on_undo(&bbr->common, window);
}

/* Returns the largest delivery rate and the smallest RTT. */
static inline struct ww_observation ww_bbr_observe(const struct ww_bbr_state *bbr) {
    const struct ww_observation seen = {bbr->max_bw[0], bbr->max_bw[0], bbr->rtprop_us,
                                        bbr->rounds};
    return seen;
}

/* Returns the number of the mode in WW_BBR_MODES, which tells the phases of PROBE_BW apart. */
static inline uint32_t ww_bbr_mode(const struct ww_bbr_state *bbr) {
    if (bbr->mode == WW_BBR_PROBE_RTT) return 6;
    if (bbr->mode != WW_BBR_PROBE_BW) return bbr->mode + UINT32_C(1);
    return 3 + ww_min_u32(bbr->cycle, 2);
}

/* BBRv1's operations: westwood.h calls them, see reno.h. */
#define WW_BBR_TRAITS \
    (WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_ESTIMATES | WW_IGNORES_MARKS | WW_SHOWS)
#define WW_BBR_INIT ww_bbr_init
#define WW_BBR_ON_ACK(config, bbr, window, sample) ww_bbr_on_ack(config, bbr, window, sample)
#define WW_BBR_SSTHRESH WW_RENO_SSTHRESH
#define WW_BBR_ON_LOSS(config, bbr, window, now_us, in_flight, mss) ww_bbr_on_loss(bbr, window)
#define WW_BBR_ON_MARK(config, bbr, window, now_us, in_flight, mss) (void)0
#define WW_BBR_ON_RECOVERY_EXIT(config, bbr, window, now_us, mss) \
    ww_bbr_on_recovery_exit(bbr, window)
#define WW_BBR_ON_RTO(config, bbr, window, now_us, in_flight, mss, repeated) \
    ww_bbr_on_rto(bbr, window)
#define WW_BBR_ON_UNDO(config, bbr, window) ww_bbr_on_undo(bbr, window)
#define WW_BBR_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_BBR_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_BBR_QUANTUM(config, window, mss) ww_bbr_quantum((window)->pacing, mss)
#define WW_BBR_ON_RESTART WW_RENO_ON_RESTART
#define WW_BBR_OBSERVE(config, bbr, now_us) ww_bbr_observe(bbr)
#define WW_BBR_MODES(X) \
    X("Startup")        \
    X("Drain") X("ProbeBW_UP") X("ProbeBW_DOWN") X("ProbeBW_CRUISE") X("ProbeRTT")
#define WW_BBR_MODE ww_bbr_mode
#define WW_BBR_QUANTITIES(X)                    \
    X(bw_bps, WW_BANDWIDTH, control->max_bw[0]) \
    X(min_rtt_s, WW_DURATION, control->rtprop_us)

#endif
