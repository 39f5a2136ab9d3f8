/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood-CUBIC: CUBIC, whose window after a loss is what the path was measured to deliver.
 *
 *   B       = largest delivery rate sample of this and of the last round
 *   RTTmin  = smallest RTT since the start, or since a timeout
 *   pipe    = B RTTmin / MSS
 *
 *   a loss without a queue   cwnd and ssthresh stay; growth goes on, that of slow start too
 *   a loss with a queue      ssthresh = cwnd = max(0.7 cwnd, gain pipe), but never more than cwnd
 *   many losses, a mark      ssthresh = cwnd = 0.7 cwnd
 *   a timeout                ssthresh as for a loss, cwnd = 1; RTTmin and SRTT begin anew
 *   otherwise                CUBIC's growth (cubic_curve.h)
 *
 *   there is a queue         SRTT > (1 + queue) RTTmin; with wc_least_rtt the least RTT of this and of the last round
 *   losses are many          more than heavy cwnd and more than 4 segments of a round
 *
 * With less than `small` segments any loss is answered as Reno does, ssthresh = cwnd = cwnd / 2. At the loss
 * rates of a radio link Reno has such windows anyway; there a flow cannot tell the path's losses from those of
 * a crowd, and must not be what keeps the crowd's queue full.
 *
 * In recovery a reduced window is let go by PRR's bounds (RFC 9937): cwnd = min(ssthresh, in flight + delivered), one
 * more on an ACK that advances and tells of no loss. Where the window was not reduced growth goes on, and if
 * another round of this recovery has losses, they are answered in turn; where it was, only many are.
 *
 * Slow start is paced, at pacing cwnd / SRTT, so that its bursts do not overflow a short queue. The first one holds
 * the window while the smallest of 8 RTTs is above RTTmin by HyStart++'s threshold (RFC 9406, 4.2). If all of a
 * round are, it ends with ssthresh = cwnd = max(cwnd / 2, pipe), but never more than cwnd.
 *
 * A wireless path that jitters delays some packets more than others, where a queue delays all: the mean takes the one
 * for the other, the least does not. The mean is the default, because it sees the short queues of a crowd earlier.
 *
 * Sources. The window after a loss is Westwood's (Mascolo 2001), or CUBIC's (RFC 9438, 4.6) where that is larger.
 * The maximum of delivery rates is BBR's (draft-cardwell-iccrg-bbr-congestion-control-00, 4.1.1). TCP Veno (Fu &
 * Liew 2003) tells one loss from another by the queue, and Copa (Arun & Balakrishnan 2018) sees it in the least
 * RTT of late. A slow start that ends at the estimated pipe is Astart (Wang, Pau, Yamada, Sanadidi, Gerla: TCP
 * startup performance in large bandwidth delay networks, INFOCOM 2004).
 * docs/new-member.md has what each of them is worth.
 *
 * Deviations from RFC 9438: cwnd is taken for the flight (4.6; so in Linux); a loss that does not reduce the
 * window does not end the stage; a spurious reduction gives back the windows but not the stage (4.9; so in
 * Linux). Rates are kept in units of 32 bytes/s, so that the state fits.
 */
#ifndef WW_WESTWOOD_CUBIC_H
#define WW_WESTWOOD_CUBIC_H

#include "cubic_curve.h"
#include "hystart_plus_plus.h"

enum ww_westwood_cubic_flag {
    WW_WC_STARTED = 1,  /* slow start has ended once */
    WW_WC_REDUCED = 2,  /* this recovery has reduced the window */
    WW_WC_ANSWERED = 4, /* the losses of this round are of data sent before the last reduction */
    WW_WC_RESTART = 8,  /* the next ACK begins a round */
    WW_WC_HOLDS = 16,   /* the first slow start waits for the queue to show itself, or to go */
};

enum {
    WW_WC_RATE_SHIFT = 13, /* bandwidths are kept without these bits */
    WW_WC_FEW_LOST = 4,    /* so few losses of a round are never many */
};

struct ww_westwood_cubic_state {
    struct ww_common common;
    uint32_t last_ms; /* when the last ACK came */
    struct ww_cubic_curve curve;
    uint32_t max_bw;       /* of this round, bandwidth >> WW_WC_RATE_SHIFT */
    uint32_t last_max_bw;  /* of the round before */
    uint32_t rtt_min_us;   /* UINT32_MAX: none */
    uint32_t srtt_us;      /* 7/8, of the round trips of deliveries; 0: none */
    uint32_t round_end;    /* `delivered` that ends this round */
    uint32_t lost;         /* segments found lost in this round */
    uint32_t round_rtt_us; /* smallest RTT of this round; 0: none */
    uint32_t last_rtt_us;  /* of the round before */
    uint32_t block_rtt_us; /* smallest of the `samples` RTTs of this block of 8 */
    uint8_t samples;
    uint8_t flags; /* enum ww_westwood_cubic_flag */
};

static inline void ww_wc_init(struct ww_westwood_cubic_state *wc) {
    const struct ww_westwood_cubic_state fresh = {
        {0, 0, 0}, 0, {0, 0, 0, 0, 0, 0, false, false}, 0, 0, UINT32_MAX, 0, 0, 0, 0, 0, 0, 0, 0};
    *wc = fresh;
}

static inline bool ww_wc_is(const struct ww_westwood_cubic_state *wc,
                            enum ww_westwood_cubic_flag flag) {
    return (wc->flags & flag) != 0;
}

static inline void ww_wc_set(struct ww_westwood_cubic_state *wc, enum ww_westwood_cubic_flag flag,
                             bool on) {
    wc->flags = (uint8_t)(on ? wc->flags | flag : wc->flags & ~(unsigned)flag);
}

static inline uint64_t ww_wc_bandwidth(const struct ww_westwood_cubic_state *wc) {
    return (uint64_t)ww_max_u32(wc->max_bw, wc->last_max_bw) << WW_WC_RATE_SHIFT;
}

/* Returns B RTTmin in segments, rounded up; 0 if either is unknown. */
static inline uint32_t ww_wc_pipe(const struct ww_westwood_cubic_state *wc, uint32_t mss) {
    if (wc->rtt_min_us == UINT32_MAX) return 0;
    const uint64_t bytes = ww_bytes_in(ww_wc_bandwidth(wc), wc->rtt_min_us);
    return (uint32_t)ww_min_u64(ww_div(bytes + mss - 1, mss), WW_CWND_MAX);
}

/* Returns the RTT that a queue shows in; 0: none is known. */
static inline uint32_t ww_wc_telling_rtt(const struct ww_config *config,
                                         const struct ww_westwood_cubic_state *wc) {
    if (!config->wc_least_rtt) return wc->srtt_us;
    if (wc->round_rtt_us == 0) return wc->last_rtt_us;
    return ww_least_rtt(wc->last_rtt_us, wc->round_rtt_us);
}

static inline bool ww_wc_queues(const struct ww_config *config,
                                const struct ww_westwood_cubic_state *wc) {
    const uint32_t rtt_us = ww_wc_telling_rtt(config, wc);
    if (rtt_us == 0) return true; /* nothing says that there is none */
    return rtt_us > (uint64_t)wc->rtt_min_us * (1000 + config->wc_queue_permille) / 1000;
}

/* Says whether so many losses in a round are more than a path's own. cwnd * 1000 < 2^38. */
static inline bool ww_wc_many(const struct ww_config *config, uint32_t lost, uint32_t cwnd) {
    return lost > WW_WC_FEW_LOST &&
           (uint64_t)lost * 1000 > (uint64_t)cwnd * config->wc_heavy_permille;
}

/* Returns what a loss makes of ssthresh: at most cwnd, and min_cwnd at least. */
static inline uint32_t ww_wc_target(const struct ww_config *config,
                                    const struct ww_westwood_cubic_state *wc, uint32_t cwnd,
                                    uint32_t mss, bool congested) {
    const bool small = cwnd < config->wc_small;
    if (!small && !congested && !ww_wc_queues(config, wc))
        return ww_max_u32(cwnd, config->min_cwnd);
    uint64_t target = small ? cwnd / 2 : (uint64_t)cwnd * 7 / 10;
    if (!small && !congested)
        target =
            ww_max_u64(target, (uint64_t)ww_wc_pipe(wc, mss) * config->wc_gain_permille / 1000);
    return ww_max_u32((uint32_t)ww_min_u64(cwnd, target), config->min_cwnd);
}

/* Ends the stage of the curve with a reduction from cwnd: RFC 9438, 4.6 and 4.7. */
static inline void ww_wc_end_stage(struct ww_cubic_curve *curve, uint32_t cwnd) {
    const uint32_t scaled = cwnd << WW_CUBIC_FRACTION;
    curve->epoch_open = false;
    curve->cwnd_prior = cwnd;
    curve->w_max = scaled < curve->w_max ? (uint32_t)((uint64_t)scaled * 17 / 20) : scaled;
}

/* Returns the window that a further reduction begins with: in recovery cwnd may be far below it for a while. */
static inline uint32_t ww_wc_standing(const struct ww_westwood_cubic_state *wc,
                                      const struct ww_window *window) {
    const uint32_t cwnd =
        ww_wc_is(wc, WW_WC_REDUCED) ? ww_max_u32(window->cwnd, window->ssthresh) : window->cwnd;
    return ww_min_u32(cwnd, WW_CUBIC_CWND_MAX);
}

/* Answers losses, or a mark (`congested`). What a recovery had at its beginning is what CUBIC goes back to. */
static inline void ww_wc_answer(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, uint32_t mss, bool congested) {
    const uint32_t cwnd = ww_wc_standing(wc, window);
    const uint32_t target = ww_wc_target(config, wc, cwnd, mss, congested);
    ww_wc_set(wc, WW_WC_RESTART, true);
    if (target >= cwnd) return;
    if (!ww_wc_is(wc, WW_WC_REDUCED)) ww_wc_end_stage(&wc->curve, cwnd);
    wc->flags |= WW_WC_REDUCED | WW_WC_ANSWERED | WW_WC_STARTED;
    ww_wc_set(wc, WW_WC_HOLDS, false);
    window->ssthresh = target;
    window->cwnd = ww_min_u32(window->cwnd, target);
}

/* Says whether a smallest RTT is longer than the path's by HyStart++'s threshold. */
static inline bool ww_wc_is_longer(const struct ww_westwood_cubic_state *wc, uint32_t rtt_us) {
    return rtt_us >= (uint64_t)wc->rtt_min_us + ww_hystart_threshold(wc->rtt_min_us);
}

/* Takes the next RTT into those of the round and of the block of 8. */
static inline void ww_wc_watch_delay(struct ww_westwood_cubic_state *wc, uint32_t rtt_us) {
    wc->round_rtt_us = ww_least_rtt(wc->round_rtt_us, rtt_us);
    wc->block_rtt_us = wc->samples == 0 ? rtt_us : ww_min_u32(wc->block_rtt_us, rtt_us);
    if (++wc->samples < WW_HYSTART_SAMPLES) return;
    wc->samples = 0;
    const bool holds = !ww_wc_is(wc, WW_WC_STARTED) && ww_wc_is_longer(wc, wc->block_rtt_us);
    ww_wc_set(wc, WW_WC_HOLDS, holds);
}

/* Takes the round trip and the rate that an ACK shows. */
static inline void ww_wc_measure(struct ww_westwood_cubic_state *wc,
                                 const struct ww_sample *sample) {
    const uint32_t rtt_us = sample->rate_rtt_us;
    if (rtt_us != 0) {
        wc->rtt_min_us = ww_min_u32(wc->rtt_min_us, rtt_us);
        wc->srtt_us = wc->srtt_us == 0 ? rtt_us : wc->srtt_us - wc->srtt_us / 8 + rtt_us / 8;
        ww_wc_watch_delay(wc, rtt_us);
    }
    if (sample->rate_interval_us == 0) return;
    const uint64_t bw =
        ww_rate((uint64_t)sample->rate_segments * sample->mss, sample->rate_interval_us);
    const uint32_t kept = (uint32_t)(bw >> WW_WC_RATE_SHIFT);
    if (!sample->is_app_limited || kept > wc->last_max_bw)
        wc->max_bw = ww_max_u32(wc->max_bw, kept);
}

/* Says whether this ACK begins a round: it is for what was sent since the last one began. */
static inline bool ww_wc_begins_round(const struct ww_westwood_cubic_state *wc,
                                      const struct ww_sample *sample) {
    if (ww_wc_is(wc, WW_WC_RESTART)) return true;
    return sample->rate_interval_us != 0 && ww_reached(sample->prior_delivered, wc->round_end);
}

static inline void ww_wc_begin_round(struct ww_westwood_cubic_state *wc,
                                     const struct ww_sample *sample) {
    if (!ww_wc_is(wc, WW_WC_RESTART)) {
        wc->last_max_bw = wc->max_bw;
        wc->max_bw = 0;
        wc->last_rtt_us = wc->round_rtt_us;
        wc->round_rtt_us = 0;
        ww_wc_set(wc, WW_WC_ANSWERED, false);
    }
    ww_wc_set(wc, WW_WC_RESTART, false);
    wc->round_end = sample->delivered;
    wc->lost = 0;
}

/* Ends the first slow start at what the path delivers. */
static inline void ww_wc_end_slow_start(const struct ww_config *config,
                                        struct ww_westwood_cubic_state *wc,
                                        struct ww_window *window, uint32_t mss) {
    ww_wc_set(wc, WW_WC_STARTED, true);
    ww_wc_set(wc, WW_WC_HOLDS, false);
    const uint32_t pipe = ww_max_u32(ww_wc_pipe(wc, mss), window->cwnd / 2);
    window->cwnd = ww_min_u32(window->cwnd, ww_max_u32(pipe, config->min_cwnd));
    window->ssthresh = ww_max_u32(window->cwnd, config->min_cwnd);
}

/* Sets the window to `segments`, in recovery and after it, but not beyond ssthresh. */
static inline void ww_wc_let_go(struct ww_window *window, uint64_t segments) {
    const uint64_t most = ww_min_u32(window->ssthresh, WW_CWND_MAX);
    window->cwnd = (uint32_t)ww_max_u64(ww_min_u64(segments, most), 1);
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
        if (!ww_wc_is(wc, WW_WC_HOLDS)) ww_slow_start(window, sample->newly_delivered);
        return;
    }
    ww_wc_set(wc, WW_WC_STARTED, true);
    window->cwnd = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    const uint32_t now_ms = wc->last_ms;
    if (!wc->curve.epoch_open) ww_cubic_begin(&wc->curve, window->cwnd, now_ms);
    ww_cubic_grow(&wc->curve, window, ww_wrapping_sub(now_ms, wc->curve.epoch_ms),
                  ww_min_u32(sample->newly_delivered, 1u << 16), wc->srtt_us);
}

/* A round of a recovery ends. Answers its losses as any others, where the first ones reduced nothing. */
static inline void ww_wc_judge_round(const struct ww_config *config,
                                     struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                     uint32_t mss) {
    if (wc->lost == 0 || ww_wc_is(wc, WW_WC_REDUCED) || ww_wc_is(wc, WW_WC_RESTART)) return;
    ww_wc_answer(config, wc, window, mss, false);
}

/* Counts the losses that an ACK of a recovery brings to light, and answers them once they are many. */
static inline void ww_wc_count_lost(const struct ww_config *config,
                                    struct ww_westwood_cubic_state *wc, struct ww_window *window,
                                    const struct ww_sample *sample) {
    wc->lost = (uint32_t)ww_min_u64((uint64_t)wc->lost + sample->newly_lost, WW_CWND_MAX);
    if (sample->phase != WW_RECOVERY || ww_wc_is(wc, WW_WC_ANSWERED)) return;
    if (ww_wc_many(config, wc->lost, ww_wc_standing(wc, window)))
        ww_wc_answer(config, wc, window, sample->mss, true);
}

/* Paces slow start at a multiple of cwnd / SRTT, and nothing else. */
static inline void ww_wc_pace(const struct ww_config *config,
                              const struct ww_westwood_cubic_state *wc, struct ww_window *window,
                              uint32_t mss) {
    window->pacing = 0;
    if (wc->srtt_us == 0) return;
    if (window->cwnd >= window->ssthresh || ww_wc_is(wc, WW_WC_REDUCED)) return;
    const uint64_t rate = ww_rate((uint64_t)window->cwnd * mss, wc->srtt_us);
    window->pacing = ww_min_u64(rate * config->wc_pacing_permille / 1000, WW_BW_MAX);
}

static inline void ww_wc_on_ack(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, const struct ww_sample *sample) {
    const uint32_t now_ms = (uint32_t)(sample->now_us / 1000);
    const uint32_t since_last_ms = ww_wrapping_sub(now_ms, wc->last_ms);
    wc->last_ms = now_ms;
    if (ww_wc_begins_round(wc, sample)) {
        if (sample->phase == WW_RECOVERY) ww_wc_judge_round(config, wc, window, sample->mss);
        if (!ww_wc_is(wc, WW_WC_STARTED) && window->cwnd < window->ssthresh &&
            ww_wc_is_longer(wc, wc->round_rtt_us))
            ww_wc_end_slow_start(config, wc, window, sample->mss);
        ww_wc_begin_round(wc, sample);
    }
    ww_wc_count_lost(config, wc, window, sample);
    ww_wc_measure(wc, sample);
    if (sample->phase == WW_RECOVERY && ww_wc_is(wc, WW_WC_REDUCED)) {
        const bool is_safe = sample->acked_segments != 0 && sample->newly_lost == 0;
        ww_wc_let_go(window, (uint64_t)sample->pipe + sample->newly_delivered + is_safe);
    } else if (sample->newly_delivered != 0) {
        ww_wc_grow(config, wc, window, sample, since_last_ms);
    }
    ww_wc_pace(config, wc, window, sample->mss);
}

static inline void ww_wc_on_loss(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                 struct ww_window *window, uint32_t mss) {
    ww_remember(&wc->common, window);
    ww_wc_answer(config, wc, window, mss, ww_wc_many(config, wc->lost, window->cwnd));
}

/* Answers a mark (RFC 3168), which says that there is a queue whatever the round trips say. */
static inline void ww_wc_on_mark(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                 struct ww_window *window, uint32_t mss) {
    ww_remember(&wc->common, window);
    ww_wc_answer(config, wc, window, mss, true);
}

static inline void ww_wc_on_recovery_exit(struct ww_westwood_cubic_state *wc,
                                          struct ww_window *window) {
    if (ww_wc_is(wc, WW_WC_REDUCED)) ww_wc_let_go(window, window->ssthresh);
    ww_wc_set(wc, WW_WC_REDUCED, false);
}

static inline void ww_wc_on_rto(const struct ww_config *config, struct ww_westwood_cubic_state *wc,
                                struct ww_window *window, uint32_t mss, bool repeated) {
    const uint32_t cwnd = ww_wc_standing(wc, window);
    const uint32_t ssthresh = ww_wc_target(config, wc, cwnd, mss, false);
    if (!repeated) wc->curve.cwnd_prior = cwnd;
    wc->curve.epoch_open = false;
    wc->curve.w_max = 0;
    wc->rtt_min_us = UINT32_MAX;
    wc->srtt_us = wc->round_rtt_us = wc->last_rtt_us = 0; /* the queue that they tell of is gone */
    wc->flags = WW_WC_STARTED;
    ww_reno_on_rto(&wc->common, window, ssthresh, repeated);
    window->pacing = 0;
}

static inline void ww_wc_on_undo(struct ww_westwood_cubic_state *wc, struct ww_window *window) {
    ww_wc_set(wc, WW_WC_REDUCED, false);
    ww_reno_on_undo(&wc->common, window);
}

static inline struct ww_observation ww_wc_observe(const struct ww_westwood_cubic_state *wc) {
    const uint32_t best = ww_max_u32(wc->max_bw, wc->last_max_bw);
    const struct ww_observation seen = {ww_wc_bandwidth(wc),
                                        (uint64_t)wc->max_bw << WW_WC_RATE_SHIFT, wc->rtt_min_us,
                                        best == 0 ? 0u : 1u};
    return seen;
}

/* These are Westwood-CUBIC's operations: westwood.h calls them, see reno.h. */
#define WW_WESTWOOD_CUBIC_TRAITS (WW_NEEDS_RATE | WW_OWNS_RECOVERY | WW_ESTIMATES)
#define WW_WESTWOOD_CUBIC_INIT ww_wc_init
#define WW_WESTWOOD_CUBIC_ON_ACK ww_wc_on_ack
#define WW_WESTWOOD_CUBIC_SSTHRESH(config, wc, now_us, in_flight, mss) \
    ww_wc_target(config, wc, ww_min_u32(in_flight, WW_CUBIC_CWND_MAX), mss, false)
#define WW_WESTWOOD_CUBIC_ON_LOSS(config, wc, window, now_us, in_flight, mss) \
    ww_wc_on_loss(config, wc, window, mss)
#define WW_WESTWOOD_CUBIC_ON_MARK(config, wc, window, now_us, in_flight, mss) \
    ww_wc_on_mark(config, wc, window, mss)
#define WW_WESTWOOD_CUBIC_ON_RECOVERY_EXIT(config, wc, window, now_us, mss) \
    ww_wc_on_recovery_exit(wc, window)
#define WW_WESTWOOD_CUBIC_ON_RTO(config, wc, window, now_us, in_flight, mss, repeated) \
    ww_wc_on_rto(config, wc, window, mss, repeated)
#define WW_WESTWOOD_CUBIC_ON_UNDO(config, wc, window) ww_wc_on_undo(wc, window)
#define WW_WESTWOOD_CUBIC_OBSERVE(config, wc, now_us) ww_wc_observe(wc)

#endif
