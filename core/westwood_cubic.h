/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood-CUBIC: CUBIC that reduces the window only after asking whether its losses come from a full queue.
 *
 *   B         = largest delivery rate sample; it fades by 1/8 per round
 *   RTTmin    = smallest RTT since the start, or since a timeout
 *   BDP       = B RTTmin / MSS
 *   evidence  = how far SRTT is above its mean when packets are lost, 0 to 1; why: westwood_cubic_evidence.h
 *
 *   cause of the loss                  cwnd and ssthresh become
 *   a mark, or evidence > threshold    0.7 cwnd                     a full queue loses packets
 *   a queue stands                     max(0.7 cwnd, gain BDP)      the path stays full, the queue empties
 *   otherwise                          unchanged                    the link loses packets
 *   many, and not from a full queue    gain BDP, between 0.7 cwnd and gain cwnd
 *   a timeout                          ssthresh as for a loss, cwnd = 1
 *   no loss, sure of the link          cwnd (1 + growth) after a round, from 8 segments up to the capacity
 *   no loss otherwise                  CUBIC's growth (cubic_curve.h)
 *
 *   a queue stands   the smallest RTT of this round and the last > (1 + queue) RTTmin
 *   many             more than heavy cwnd and more than 4 segments in a round
 *   capacity         BDP at the end of the last round in which a queue stood, or at the last answer to many
 *                    losses, up to 65535; none before
 *
 * Below `small` segments, once the first slow start has ended, a loss is answered as in Reno: ssthresh =
 * cwnd = cwnd / 2. At the loss rates of a radio link Reno has such small windows anyway. There a flow cannot
 * tell the link's losses from those of many competing flows, whose queue it must not keep full.
 *
 * What a recovery may do is a state machine (enum ww_wc_answer):
 *
 *   WATCHES   -- loss, window kept -->     KEEPS    -- round ends -->      WATCHES
 *   WATCHES, KEEPS, PRR -- reduction, or many losses --> CUTS              at once
 *   CUTS      -- next ACK -->              WAITS    -- round ends -->      PRR
 *   any       -- recovery ends, undo, timeout --> WATCHES
 *
 * proofs/theorems.c proves its invariant. When the losses that an ACK reports in recovery are counted, a round
 * with many losses is in CUTS or WAITS, and no round that follows WAITS is in WAITS. So many losses are answered
 * by the ACK that reports them, or by the first one of a later round, one round trip after the last answer.
 *
 * How the window grows is another one (enum ww_wc_start):
 *
 *   DOUBLES <-- SRTT long, or not --> HOLDS    both end with the first slow start
 *   STARTED -- ACK that finds: sure of the link, and cwnd below the capacity --> GROWS
 *   GROWS   -- the next ACK that does not find it, or that has a reduced window in recovery --> STARTED
 *
 * While it GROWS, the time of CUBIC's stage runs on. So afterwards CUBIC's curve takes over where it would have
 * been, and lets the window stand until it comes by. proofs/theorems.c proves that no ACK leaves GROWS while
 * the link is in doubt, or while a round with many losses is answered.
 *
 * A reduced window falls as in PRR (RFC 9937). While more is in flight than ssthresh, each segment delivered
 * allows ssthresh / prior cwnd segments. Below that, cwnd = min(ssthresh, in flight + delivered), and one
 * more on an ACK that advances and reports no loss.
 *
 * Reductions at scores under 1/2, from `small` segments or more, are doubtful. If a round outside a reduced
 * recovery ends and the link is sure to lose packets, ssthresh returns to the largest window before them.
 *
 * Slow start is paced at pacing cwnd / SRTT, so that its bursts do not overflow a short queue. The first one
 * holds the window while SRTT exceeds RTTmin by HyStart++'s threshold (RFC 9406, 4.2). If all RTTs of a round
 * do, it ends with ssthresh = cwnd = max(cwnd / 2, BDP), but never more than cwnd.
 *
 * Sources. The window after a loss is Westwood's (Mascolo 2001), or CUBIC's (RFC 9438, 4.6) if that is larger.
 * The maximum of delivery rates is BBRv1's (draft-cardwell-iccrg-bbr-congestion-control-00, 4.1.1). TCP Veno (Fu &
 * Liew 2003) classifies losses by the queue, and Copa (Arun & Balakrishnan 2018) sees the queue in the smallest
 * recent RTT. A slow start that ends at the estimated BDP is Astart (Wang, Pau, Yamada, Sanadidi, Gerla: TCP
 * startup performance in large bandwidth delay networks, INFOCOM 2004). docs/westwood-cubic.md measures each part.
 *
 * Deviations from RFC 9438: cwnd stands for the flight (4.6; so in Linux). A loss that does not reduce the
 * window does not end the stage. The undo of a spurious reduction restores the windows but not the stage (4.9;
 * so in Linux). A mark leaves at least min_cwnd, as in Linux, where 4.6 allows one segment. To fit into the
 * state, rates are kept in units of 32 bytes/s, and a queueing delay counts up to 2^20 us.
 */
#ifndef WW_WESTWOOD_CUBIC_H
#define WW_WESTWOOD_CUBIC_H

#include "westwood_cubic_answer.h"

/* ---- what an ACK shows */

/* Returns true if an RTT exceeds the path's by HyStart++'s threshold. */
static inline bool ww_wc_is_longer(const struct ww_westwood_cubic_state *wc, uint32_t rtt_us) {
    return rtt_us >= (uint64_t)wc->rtt_min_us + ww_hystart_threshold(wc->rtt_min_us);
}

/* Takes the RTT and the rate sample of an ACK. */
static inline void ww_wc_measure(struct ww_westwood_cubic_state *wc,
                                 const struct ww_sample *sample) {
    const uint32_t rtt_us = sample->rate_rtt_us;
    if (rtt_us != 0) {
        wc->rtt_min_us = ww_min_u32(wc->rtt_min_us, rtt_us);
        wc->srtt_us = wc->srtt_us == 0 ? rtt_us : wc->srtt_us - wc->srtt_us / 8 + rtt_us / 8;
        wc->round_rtt_us = ww_least_rtt(wc->round_rtt_us, rtt_us);
        ww_wc_add_delay(wc);
        if (!ww_wc_has_started(wc))
            wc->start = ww_wc_is_longer(wc, wc->srtt_us) ? WW_WC_HOLDS : WW_WC_DOUBLES;
    }
    if (sample->rate_interval_us == 0) return;
    const uint64_t bw =
        ww_rate((uint64_t)sample->rate_segments * sample->mss, sample->rate_interval_us);
    const uint64_t kept = ww_min_u64(bw >> WW_WC_RATE_SHIFT, UINT32_MAX);
    wc->max_bw = ww_max_u32(wc->max_bw, (uint32_t)kept);
}

/* Ends the first slow start at what the path delivers. */
static inline void ww_wc_end_slow_start(const struct ww_config *config,
                                        struct ww_westwood_cubic_state *wc,
                                        struct ww_window *window, uint32_t mss) {
    wc->start = WW_WC_STARTED;
    const uint32_t bdp = ww_max_u32(ww_wc_bdp(wc, mss), window->cwnd / 2);
    window->cwnd = ww_min_u32(window->cwnd, ww_max_u32(bdp, config->min_cwnd));
    window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
}

/*
 * Ends a round: answers losses that are not answered yet, and ends slow start if all RTTs of the
 * round were long.
 */
static inline void ww_wc_end_round(const struct ww_config *config,
                                   struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                   const struct ww_sample *sample) {
    const bool is_unanswered = wc->answer == WW_WC_WATCHES && wc->lost != 0;
    if (sample->phase == WW_RECOVERY && is_unanswered)
        ww_wc_answer(config, wc, window, sample->mss, WW_WC_LOSS);
    if (!ww_wc_has_started(wc) && window->cwnd < window->ssthresh &&
        ww_wc_is_longer(wc, wc->round_rtt_us))
        ww_wc_end_slow_start(config, wc, window, sample->mss);
    wc->answer = ww_wc_after_round(wc->answer);
    ww_wc_take_back(config, wc, window);
    ww_wc_end_delays(wc);
    if (ww_wc_queue_stands(config, wc)) ww_wc_note_capacity(wc, sample->mss);
    wc->max_bw -= wc->max_bw / 8;
    wc->last_rtt_us = wc->round_rtt_us;
    wc->round_rtt_us = 0;
}

/* Begins a round if an ACK covers data sent since the last round began, or follows a reduction. */
static inline void ww_wc_take_round(const struct ww_config *config,
                                    struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample) {
    if (wc->answer == WW_WC_CUTS) {
        wc->answer = WW_WC_WAITS;
    } else {
        if (sample->rate_interval_us == 0) return;
        if (!ww_reached(sample->prior_delivered, wc->round_end)) return;
        ww_wc_end_round(config, wc, window, sample);
    }
    wc->round_end = sample->delivered;
    wc->lost = 0;
}

/* Counts the losses that an ACK reports, and in recovery answers them once there are many. */
static inline void ww_wc_count_lost(const struct ww_config *config,
                                    struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample) {
    const bool waits = wc->answer == WW_WC_CUTS || wc->answer == WW_WC_WAITS;
    if (sample->newly_lost != 0 && wc->lost == 0 && !waits) ww_wc_take_score(wc);
    wc->lost = (uint32_t)ww_min_u64((uint64_t)wc->lost + sample->newly_lost, WW_CWND_MAX);
    if (sample->phase != WW_RECOVERY || waits) return;
    if (ww_wc_is_many(config, wc->lost, ww_wc_standing(wc, window)))
        ww_wc_answer(config, wc, window, sample->mss, WW_WC_MANY);
}

/* ---- the window between losses */

/* Sets the window to `segments`, but not beyond ssthresh, in recovery or at its end. */
static inline void ww_wc_let_go(struct ww_window *window, uint64_t segments) {
    const uint64_t most = ww_min_u32(window->ssthresh, WW_CWND_MAX);
    window->cwnd = (uint32_t)ww_max_u64(ww_min_u64(segments, most), 1);
}

/*
 * Lets a reduced window fall with what each ACK delivers: RFC 9937, 6. cwnd_count keeps the
 * fraction. 2^16 * 2^31 * 2^8 < 2^56.
 */
static inline void ww_wc_prr_on_ack(struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample) {
    const uint64_t in_flight = (uint64_t)sample->pipe + sample->newly_delivered;
    const uint32_t prior_cwnd = wc->common.prior_cwnd;
    if (in_flight > window->ssthresh && prior_cwnd > window->ssthresh) {
        const uint64_t delivered = ww_min_u32(sample->newly_delivered, 1u << 16);
        const uint64_t sends = ww_div((delivered * window->ssthresh) << 8, prior_cwnd) +
                               (wc->common.cwnd_count & 255u);
        wc->common.cwnd_count = (uint32_t)(sends & 255u);
        const uint64_t cwnd = ww_min_u64(sample->pipe + (sends >> 8), prior_cwnd);
        window->cwnd = (uint32_t)ww_max_u64(cwnd, 1);
        return;
    }
    const bool is_safe = sample->acked_segments != 0 && sample->newly_lost == 0;
    ww_wc_let_go(window, in_flight + is_safe);
}

/* Returns true if the window may grow by more than CUBIC's curve. */
static inline bool ww_wc_may_grow(const struct ww_config *config,
                                  const struct ww_westwood_cubic_state *wc, uint32_t cwnd) {
    if (config->wc_growth_permille == 0 || !ww_wc_is_sure(config, wc)) return false;
    if (cwnd < WW_HYSTART_SAMPLES) return false; /* too few RTTs for their smallest to tell */
    return wc->curve.capacity == 0 || cwnd < wc->curve.capacity;
}

/* Adds a share of what an ACK delivered. 2^16 segments * 2^32 < 2^49. */
static inline void ww_wc_grow_by_share(const struct ww_config *config,
                                       struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                       uint32_t segments) {
    const uint64_t each = ((uint64_t)config->wc_growth_permille << 32) / 1000;
    const uint64_t growth = wc->curve.fraction + segments * each;
    wc->start = WW_WC_GROWS;
    wc->curve.fraction = (uint32_t)growth;
    window->cwnd = ww_min_u32(window->cwnd + (uint32_t)(growth >> 32), WW_CUBIC_CWND_MAX);
}

/* Grows the window by CUBIC's curve. */
static inline void ww_wc_follow_curve(struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                      uint32_t segments) {
    wc->start = WW_WC_STARTED;
    if (!wc->curve.epoch_open) ww_cubic_begin(&wc->curve, window->cwnd, wc->last_ms);
    ww_cubic_grow(&wc->curve, window, ww_wrapping_sub(wc->last_ms, wc->curve.epoch_ms), segments,
                  wc->srtt_us);
}

/* Grows the window by what an ACK delivered. */
static inline void ww_wc_grow(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                              struct ww_window *window, const struct ww_sample *sample,
                              uint32_t since_last_ms) {
    if (config->validate_cwnd && !sample->is_cwnd_limited) {
        wc->curve.epoch_ms = ww_wrapping_add(wc->curve.epoch_ms, since_last_ms);
        return;
    }
    if (window->cwnd < window->ssthresh) {
        if (wc->start != WW_WC_HOLDS) ww_slow_start(window, sample->newly_delivered);
        return;
    }
    const bool may_grow = ww_wc_may_grow(config, wc, window->cwnd);
    const uint32_t delivered = ww_min_u32(sample->newly_delivered, 1u << 16);
    window->cwnd = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    if (may_grow) {
        ww_wc_grow_by_share(config, wc, window, delivered);
    } else {
        ww_wc_follow_curve(wc, window, delivered);
    }
}

/* Changes the window after an ACK, whose losses are answered by now. */
static inline void ww_wc_move(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                              struct ww_window *window, const struct ww_sample *sample,
                              uint32_t since_last_ms) {
    if (wc->start == WW_WC_GROWS) wc->start = WW_WC_STARTED;
    if (sample->phase == WW_RECOVERY && ww_wc_is_reduced(wc)) {
        ww_wc_prr_on_ack(wc, window, sample);
    } else if (sample->newly_delivered != 0) {
        ww_wc_grow(config, wc, window, sample, since_last_ms);
    }
}

/* Paces slow start at a multiple of cwnd / SRTT; nothing else is paced. */
static inline void ww_wc_pace(const struct ww_config *config,
                              const struct ww_westwood_cubic_state *wc, struct ww_window *window,
                              uint32_t mss) {
    window->pacing = 0;
    if (wc->srtt_us == 0) return;
    if (window->cwnd >= window->ssthresh || ww_wc_is_reduced(wc)) return;
    const uint64_t rate = ww_rate((uint64_t)window->cwnd * mss, wc->srtt_us);
    window->pacing = ww_min_u64(rate * config->wc_pacing_permille / 1000, WW_BW_MAX);
}

/* ---- operations */

static inline void ww_wc_on_ack(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, const struct ww_sample *sample) {
    const uint32_t now_ms = (uint32_t)(sample->now_us / 1000);
    const uint32_t since_last_ms = ww_wrapping_sub(now_ms, wc->last_ms);
    wc->last_ms = now_ms;
    ww_wc_take_round(config, wc, window, sample);
    ww_wc_measure(wc, sample);
    ww_wc_count_lost(config, wc, window, sample);
    ww_wc_move(config, wc, window, sample, since_last_ms);
    ww_wc_pace(config, wc, window, sample->mss);
}

static inline void ww_wc_on_loss(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                 struct ww_window *window, uint32_t mss) {
    ww_remember(&wc->common, window);
    const bool is_many = ww_wc_is_many(config, wc->lost, window->cwnd);
    ww_wc_answer(config, wc, window, mss, is_many ? WW_WC_MANY : WW_WC_LOSS);
}

/* Responds to a congestion mark (RFC 3168): it proves a queue, whatever the RTTs are. */
static inline void ww_wc_on_mark(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                 struct ww_window *window, uint32_t mss) {
    ww_remember(&wc->common, window);
    ww_wc_answer(config, wc, window, mss, WW_WC_MARK);
}

static inline void ww_wc_on_recovery_exit(struct ww_westwood_cubic_state *wc,
                                          struct ww_window *window) {
    if (ww_wc_is_reduced(wc)) ww_wc_let_go(window, window->ssthresh);
    wc->answer = WW_WC_WATCHES;
}

static inline void ww_wc_on_rto(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, uint32_t mss, bool repeated) {
    const uint32_t cwnd = ww_wc_standing(wc, window);
    const uint32_t ssthresh = ww_wc_target(config, wc, cwnd, mss, WW_WC_LOSS);
    if (!repeated) wc->curve.cwnd_prior = cwnd;
    wc->curve.epoch_open = false;
    wc->curve.w_max = 0;
    wc->rtt_min_us = UINT32_MAX;
    wc->srtt_us = wc->round_rtt_us = wc->last_rtt_us = 0; /* they belong to a queue that is gone */
    wc->delay_sum_us = wc->away_sum_us = wc->mistaken = 0;
    wc->samples = 0;
    wc->answer = WW_WC_WATCHES;
    wc->start = WW_WC_STARTED;
    ww_reno_on_rto(&wc->common, window, ssthresh, repeated);
    window->pacing = 0;
}

static inline void ww_wc_on_undo(struct ww_westwood_cubic_state *wc, struct ww_window *window) {
    wc->answer = WW_WC_WATCHES;
    ww_reno_on_undo(&wc->common, window);
}

static inline struct ww_observation ww_wc_observe(const struct ww_westwood_cubic_state *wc) {
    const struct ww_observation seen = {ww_wc_bandwidth(wc), ww_wc_bandwidth(wc), wc->rtt_min_us,
                                        wc->max_bw == 0 ? 0u : 1u};
    return seen;
}

/* Westwood-CUBIC's operations: westwood.h calls them, see reno.h. */
#define WW_WESTWOOD_CUBIC_TRAITS (WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_ESTIMATES)
#define WW_WESTWOOD_CUBIC_INIT ww_wc_init
#define WW_WESTWOOD_CUBIC_ON_ACK ww_wc_on_ack
#define WW_WESTWOOD_CUBIC_SSTHRESH(config, wc, now_us, in_flight, mss) \
    ww_wc_target(config, wc, ww_min_u32(in_flight, WW_CUBIC_CWND_MAX), mss, WW_WC_LOSS)
#define WW_WESTWOOD_CUBIC_ON_LOSS(config, wc, window, now_us, in_flight, mss) \
    ww_wc_on_loss(config, wc, window, mss)
#define WW_WESTWOOD_CUBIC_ON_MARK(config, wc, window, now_us, in_flight, mss) \
    ww_wc_on_mark(config, wc, window, mss)
#define WW_WESTWOOD_CUBIC_ON_RECOVERY_EXIT(config, wc, window, now_us, mss) \
    ww_wc_on_recovery_exit(wc, window)
#define WW_WESTWOOD_CUBIC_ON_RTO(config, wc, window, now_us, in_flight, mss, repeated) \
    ww_wc_on_rto(config, wc, window, mss, repeated)
#define WW_WESTWOOD_CUBIC_ON_UNDO(config, wc, window) ww_wc_on_undo(wc, window)
#define WW_WESTWOOD_CUBIC_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_WESTWOOD_CUBIC_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_WESTWOOD_CUBIC_QUANTUM WW_RENO_QUANTUM
#define WW_WESTWOOD_CUBIC_ON_RESTART WW_CUBIC_ON_RESTART
#define WW_WESTWOOD_CUBIC_OBSERVE(config, wc, now_us) ww_wc_observe(wc)
#define WW_WESTWOOD_CUBIC_MODES WW_RENO_MODES
#define WW_WESTWOOD_CUBIC_MODE WW_RENO_MODE
#define WW_WESTWOOD_CUBIC_QUANTITIES WW_RENO_QUANTITIES

#endif
