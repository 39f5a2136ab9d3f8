/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * CUBIC (RFC 9438), with C = 0.4 and beta = 0.7.
 *
 *   W_cubic(t) = C (t - K)^3 + W_max          K = cbrt((W_max - cwnd_epoch) / C)            4.2
 *   target     = W_cubic(t + RTT), within cwnd .. 1.5 cwnd                                  4.2
 *   W_est     += alpha segments_acked / cwnd  alpha = 3 (1 - beta) / (1 + beta) = 9/17;
 *                1 once W_est >= cwnd_prior                                                 4.3
 *   an ACK       cwnd = W_est if W_cubic(t) < W_est, else cwnd += (target - cwnd) / cwnd
 *                per segment acknowledged                                                   4.3 - 4.5
 *   loss         ssthresh = max(0.7 min(flight, cwnd), 2), cwnd = ssthresh                  4.6
 *   mark         the same, but cwnd = max(0.7 min(flight, cwnd), 1)                         4.6
 *   fast convergence  W_max = cwnd (1 + beta) / 2 if cwnd < the last W_max                  4.7
 *   timeout      as Reno, with beta; the next stage has K = 0 and W_max = its first cwnd    4.8
 *   spurious     cwnd, ssthresh, cwnd_prior, W_max, K, t_epoch, W_est as before the loss,
 *                unless cwnd has exceeded what it was                                       4.9
 *   slow start   Reno's; the first one with HyStart++ (hystart_plus_plus.h), after which
 *                K and W_max are as after a timeout, and cwnd_prior = cwnd                  4.10
 *   idle         time in which the sender did not fill cwnd does not count                  5.8
 *
 * Section 4.6 takes 0.7 of the flight, or of cwnd if cwnd does not grow beyond what is sent. Here it is
 * the smaller of the two: the flight of a sender that does not fill cwnd, but never more than cwnd, because
 * FlightSize includes segments that arrived behind a hole. So a reduction never raises the window.
 *
 * With the rules of Linux 6 (net/ipv4/tcp_cubic.c, cubic_rules = linux) these parts differ:
 *
 *   W_max, target     whole segments; target = W_cubic(t + delay_min), delay_min the smallest round trip
 *   an ACK            cwnd += 1 per n segments, n = cwnd / (target - cwnd), 100 cwnd if target <= cwnd;
 *                     n <= 20 before the first loss and after a timeout; n <= cwnd / (W_est - cwnd); n >= 2
 *   W_est             += 1 per 15/8 cwnd segments, whatever cwnd_prior was
 *   loss, timeout     ssthresh = max(0.7 cwnd, 2): 717/1024 there; a timeout forgets delay_min and
 *                     restarts HyStart
 *   spurious          cwnd and ssthresh as before the loss; the next stage has K = 0
 *   slow start        cwnd += 1 per segment delivered, up to ssthresh; the rest of the ACK counts
 *                     beyond it. After a timeout an ACK delivers one: what else it covers was SACKed
 *
 * Two differences from the kernel remain. n is computed on every ACK; the kernel does so once cwnd changed or
 * after 1/32 s. Idle time is counted from the last ACK; the kernel counts it from the last packet.
 *
 * The rules of ns-3 3.44 (tcp-cubic.cc, cubic_rules = ns3) are the kernel's except for how an ACK's segments
 * are counted: cwnd grows by at most one per ACK; what was counted beyond n stays, even across a loss; and
 * everything covered by the ACK that completes recovery is counted. A timeout sets W_max as a loss does,
 * because CubicReset() leaves m_lastMaxCwnd as it is.
 *
 * Deviations: t counts from the first ACK after the reduction on which the window may grow. 4.4 and 4.5
 * add (target - cwnd) / cwnd on each ACK; here each segment acknowledged adds it, because target is the window
 * one round trip ahead, which delayed ACKs would otherwise miss by half.
 */
#ifndef WW_CUBIC_H
#define WW_CUBIC_H

#include "cubic_curve.h"
#include "hystart.h"
#include "reno.h"

enum {
    WW_CUBIC_COUNTED_MAX = 1 << 16, /* segments; an ACK counts for no more */
    WW_KERNEL_FIRST_EACH = 20,      /* segments per increment, before a loss has shown W_max */
    WW_KERNEL_SKIPPED_MS = 1000,    /* start of a stage in which RTTs do not count for delay_min */
    WW_NS3_SKIPPED_MS = 10,
};

/* What the undo of a spurious loss restores: RFC 9438, 4.9. */
struct ww_cubic_undo {
    uint32_t epoch_ms;
    uint32_t w_est; /* segments << 8 */
    uint32_t w_max;
    uint32_t k_ms;
    uint32_t cwnd_prior;
    bool epoch_open;
    bool w_max_known;
};

struct ww_cubic_state {
    struct ww_common common;
    uint32_t last_ms; /* time of the last ACK */
    struct ww_cubic_curve curve;
    uint32_t delay_min_us; /* smallest RTT since the start or a timeout; 0: none */
    struct ww_cubic_undo undo;
    union {
        struct ww_hystart_plus_plus_state plus_plus;
        struct ww_hystart_state hystart;
    };
};

/* ns-3's rules are the kernel's unless stated otherwise. */
static inline bool ww_kernel_rules(const struct ww_config *config) {
    return config->cubic_rules != WW_RULES_RFC9438;
}

static inline void ww_cubic_init(struct ww_cubic_state *cubic) {
    const struct ww_cubic_state fresh = {{0, 0, 0},
                                         0,
                                         {0, 0, 0, 0, 0, 0, false, false, 0},
                                         0,
                                         {0, 0, 0, 0, 0, false, false},
                                         {{{0, 0}, 0, 0, 0, 0, 0, false}}};
    *cubic = fresh;
}

/*
 * Returns the kernel's W_est in segments, after `segments` more were acknowledged. cwnd * 15 <
 * 2^28.
 */
static inline uint32_t ww_kernel_reno_friendly(struct ww_cubic_state *cubic, uint32_t cwnd,
                                               uint32_t segments) {
    const uint32_t each = cwnd * 15 / 8;
    uint32_t window = (uint32_t)(cubic->curve.w_est >> 32),
             acked = (uint32_t)cubic->curve.w_est + segments;
    const uint32_t steps = acked > each ? (uint32_t)ww_div(acked - 1, each) : 0;
    acked -= steps * each;
    window = ww_min_u32(window + steps, WW_CUBIC_CWND_MAX);
    cubic->curve.w_est = (uint64_t)window << 32 | acked;
    return window;
}

/* ns-3 grows by one per ACK and keeps the rest of the count. */
static inline void ww_ns3_count(struct ww_common *common, struct ww_window *window, uint32_t each,
                                uint32_t segments) {
    common->cwnd_count = ww_min_u32(common->cwnd_count, UINT32_C(1) << 31) + segments;
    if (common->cwnd_count < each) return;
    common->cwnd_count -= each;
    window->cwnd++;
}

/* Grows the window in congestion avoidance as the kernel does. 100 * 2^24 < 2^31. */
static inline void ww_kernel_grow(const struct ww_config *config, struct ww_cubic_state *cubic,
                                  struct ww_window *window, uint32_t elapsed_ms,
                                  uint32_t segments) {
    const uint32_t cwnd = window->cwnd;
    const uint32_t reno = ww_kernel_reno_friendly(cubic, cwnd, segments);
    const uint64_t target =
        ww_cubic_whole_window(&cubic->curve, (uint64_t)elapsed_ms + cubic->delay_min_us / 1000);
    uint32_t each = target > cwnd ? (uint32_t)ww_div(cwnd, target - cwnd) : 100 * cwnd;
    if (!cubic->curve.w_max_known) each = ww_min_u32(each, WW_KERNEL_FIRST_EACH);
    if (reno > cwnd) each = ww_min_u32(each, (uint32_t)ww_div(cwnd, reno - cwnd));
    each = ww_max_u32(each, 2);
    if (config->cubic_rules == WW_RULES_NS3)
        ww_ns3_count(&cubic->common, window, each, segments);
    else
        ww_grow_linearly(&cubic->common, window, each, segments);
    window->cwnd = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
}

/* Begins a stage if none is open. Returns how long the stage has lasted, in ms. */
static inline uint32_t ww_cubic_elapsed(struct ww_cubic_state *cubic, struct ww_window *window,
                                        uint32_t now_ms) {
    window->cwnd = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    if (!cubic->curve.epoch_open) ww_cubic_begin(&cubic->curve, window->cwnd, now_ms);
    return ww_wrapping_sub(now_ms, cubic->curve.epoch_ms);
}

/* Measures delay_min, which HyStart and the target need. ns-3 takes smoothed round trips for it. */
static inline struct ww_hystart_delays ww_cubic_measure(const struct ww_config *config,
                                                        struct ww_cubic_state *cubic,
                                                        const struct ww_sample *sample,
                                                        uint32_t now_ms) {
    const bool as_ns3 = config->slow_start == WW_HYSTART_NS3;
    const uint32_t skipped_ms = as_ns3 ? WW_NS3_SKIPPED_MS : WW_KERNEL_SKIPPED_MS;
    struct ww_hystart_delays delays = {as_ns3 ? sample->srtt_us : sample->rtt_us, sample->srtt_us,
                                       cubic->delay_min_us};
    if (delays.rtt_us == 0) return delays;
    if (!cubic->curve.epoch_open || ww_wrapping_sub(now_ms, cubic->curve.epoch_ms) >= skipped_ms)
        cubic->delay_min_us = ww_least_rtt(cubic->delay_min_us, delays.rtt_us);
    else
        delays.rtt_us = 0;
    delays.least_us = cubic->delay_min_us;
    return delays;
}

/* Returns true if this ACK does not grow the window, in conservative slow start: RFC 9438, 4.10. */
static inline bool ww_cubic_holds(const struct ww_config *config, struct ww_cubic_state *cubic) {
    const bool css = config->slow_start == WW_HYSTART_PLUS_PLUS && cubic->curve.cwnd_prior == 0;
    return css && !ww_css_may_grow(&cubic->plus_plus, &cubic->common.cwnd_count);
}

static inline void ww_cubic_on_ack(const struct ww_config *config, struct ww_cubic_state *cubic,
                                   struct ww_window *window, const struct ww_sample *sample) {
    const uint32_t now_ms = (uint32_t)(sample->now_us / 1000);
    const uint32_t since_last_ms = ww_wrapping_sub(now_ms, cubic->last_ms);
    const bool plus_plus = config->slow_start == WW_HYSTART_PLUS_PLUS;
    const struct ww_hystart_delays delays = ww_cubic_measure(config, cubic, sample, now_ms);
    cubic->last_ms = now_ms;
    if (config->cubic_rules == WW_RULES_NS3) cubic->curve.fraction = sample->acked_segments;
    if (!plus_plus) ww_count_acked(&cubic->hystart.rounds, sample);
    if (!ww_may_grow(sample)) return;
    if (window->cwnd < window->ssthresh) {
        if (plus_plus && cubic->curve.cwnd_prior == 0)
            ww_hystart_plus_plus_on_ack(config, &cubic->plus_plus, window, sample);
        else if (ww_has_hystart(config))
            ww_hystart_on_ack(config, &cubic->hystart, &delays, window, sample);
    }
    if (config->validate_cwnd && !sample->is_cwnd_limited) {
        cubic->curve.epoch_ms =
            ww_wrapping_add(cubic->curve.epoch_ms, since_last_ms); /* RFC 9438, 5.8 */
        return;
    }
    const bool slow_start = window->cwnd < window->ssthresh;
    if (slow_start && ww_cubic_holds(config, cubic)) return;
    uint32_t segments = sample->acked_segments;
    if (ww_kernel_rules(config)) {
        /* The kernel counts what an ACK delivers: after a timeout that is the retransmission. */
        if (sample->phase == WW_LOSS) segments = 1;
        segments = ww_slow_start(window, segments);
        if (segments == 0) return;
    } else if (slow_start) {
        ww_grow(config, &cubic->common, window, sample);
        return;
    }
    segments = ww_min_u32(segments, WW_CUBIC_COUNTED_MAX);
    const uint32_t elapsed_ms = ww_cubic_elapsed(cubic, window, now_ms);
    if (ww_kernel_rules(config))
        ww_kernel_grow(config, cubic, window, elapsed_ms, segments);
    else
        ww_cubic_grow(&cubic->curve, window, elapsed_ms, segments, sample->srtt_us);
}

/* Returns beta times the flight, but at least the floor: 2^28 * 7 < 2^31. */
static inline uint32_t ww_cubic_ssthresh(const struct ww_config *config, uint32_t in_flight) {
    return ww_max_u32(ww_min_u32(in_flight, WW_CWND_MAX) * 7 / 10, config->min_cwnd);
}

static inline void ww_cubic_remember(struct ww_cubic_state *cubic) {
    struct ww_cubic_undo *undo = &cubic->undo;
    undo->epoch_ms = cubic->curve.epoch_ms;
    undo->w_est = (uint32_t)(cubic->curve.w_est >> (32 - WW_CUBIC_FRACTION));
    undo->w_max = cubic->curve.w_max;
    undo->k_ms = cubic->curve.k_ms;
    undo->cwnd_prior = cubic->curve.cwnd_prior;
    undo->epoch_open = cubic->curve.epoch_open;
    undo->w_max_known = cubic->curve.w_max_known;
}

/* Ends the stage. Returns ssthresh: RFC 9438, 4.6. */
static inline uint32_t ww_cubic_reduce(const struct ww_config *config, struct ww_cubic_state *cubic,
                                       const struct ww_window *window, uint32_t in_flight) {
    cubic->curve.epoch_open = false;
    const bool takes_cwnd = ww_kernel_rules(config) || in_flight > window->cwnd;
    return ww_cubic_ssthresh(config, takes_cwnd ? window->cwnd : in_flight);
}

/* Takes W_max from cwnd, with fast convergence: RFC 9438, 4.7. 17/20 of 2^32 needs 64 bits. */
static inline void ww_cubic_take_w_max(const struct ww_config *config, struct ww_cubic_curve *curve,
                                       const struct ww_window *window) {
    const uint32_t scaled = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX) << WW_CUBIC_FRACTION;
    const bool shrinking = config->fast_convergence && scaled < curve->w_max;
    curve->w_max = shrinking ? (uint32_t)((uint64_t)scaled * 17 / 20) : scaled;
    if (ww_kernel_rules(config)) curve->w_max &= ~((UINT32_C(1) << WW_CUBIC_FRACTION) - 1);
    curve->w_max_known = curve->w_max != 0;
}

/* Takes W_max from the BDP that Rapid Start has measured: rapid_start.h. It only falls. */
static inline void ww_cubic_take_bdp(const struct ww_config *config, struct ww_cubic_state *cubic,
                                     uint32_t bdp) {
    const uint32_t w_max = ww_min_u32(config->fast_convergence ? 2 * bdp : bdp, WW_CUBIC_CWND_MAX);
    cubic->curve.w_max = ww_min_u32(cubic->curve.w_max, w_max << WW_CUBIC_FRACTION);
}

/* Reduces the window by RFC 9438, 4.6. */
static inline void ww_cubic_on_loss(const struct ww_config *config, struct ww_cubic_state *cubic,
                                    struct ww_window *window, uint32_t in_flight) {
    ww_cubic_remember(cubic);
    const uint32_t ssthresh = ww_cubic_reduce(config, cubic, window, in_flight);
    cubic->curve.cwnd_prior = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    ww_cubic_take_w_max(config, &cubic->curve, window);
    const uint32_t counted = cubic->common.cwnd_count;
    ww_reno_on_loss(&cubic->common, window, ssthresh);
    if (config->cubic_rules == WW_RULES_NS3) cubic->common.cwnd_count = counted;
}

/* ns-3 counts everything that the ACK which completes recovery covers. */
static inline void ww_cubic_on_recovery_exit(const struct ww_config *config,
                                             struct ww_cubic_state *cubic, struct ww_window *window,
                                             uint64_t now_us) {
    if (config->cubic_rules != WW_RULES_NS3) {
        ww_reno_on_recovery_exit(&cubic->common);
        return;
    }
    const uint32_t covered = ww_min_u32(cubic->curve.fraction, WW_CUBIC_COUNTED_MAX);
    const uint32_t elapsed_ms = ww_cubic_elapsed(cubic, window, (uint32_t)(now_us / 1000));
    ww_kernel_grow(config, cubic, window, elapsed_ms, covered);
}

static inline void ww_cubic_on_rto(const struct ww_config *config, struct ww_cubic_state *cubic,
                                   struct ww_window *window, uint32_t in_flight, bool repeated) {
    if (!repeated) {
        ww_cubic_remember(cubic);
        cubic->curve.cwnd_prior = ww_min_u32(window->cwnd, WW_CUBIC_CWND_MAX);
    }
    const uint32_t ssthresh = ww_cubic_reduce(config, cubic, window, in_flight);
    if (config->cubic_rules == WW_RULES_NS3) {
        ww_cubic_take_w_max(config, &cubic->curve, window);
    } else { /* 4.8 */
        cubic->curve.w_max = 0;
        cubic->curve.w_max_known = false;
    }
    if (ww_kernel_rules(config)) cubic->delay_min_us = 0;
    if (config->slow_start != WW_HYSTART_PLUS_PLUS) cubic->hystart.done = false;
    const uint32_t counted = cubic->common.cwnd_count;
    ww_reno_on_rto(&cubic->common, window, ssthresh, repeated);
    if (config->cubic_rules == WW_RULES_NS3) cubic->common.cwnd_count = counted;
}

/* Undoes a spurious reduction by RFC 9438, 4.9; the kernel restores only the windows. */
static inline void ww_cubic_on_undo(const struct ww_config *config, struct ww_cubic_state *cubic,
                                    struct ww_window *window) {
    const struct ww_cubic_undo *undo = &cubic->undo;
    if (!ww_kernel_rules(config)) {
        if (window->cwnd > cubic->common.prior_cwnd) return;
        cubic->curve.epoch_ms = undo->epoch_ms;
        cubic->curve.w_est = (uint64_t)undo->w_est << (32 - WW_CUBIC_FRACTION);
        cubic->curve.w_max = undo->w_max;
        cubic->curve.k_ms = undo->k_ms;
        cubic->curve.cwnd_prior = undo->cwnd_prior;
        cubic->curve.epoch_open = undo->epoch_open;
        cubic->curve.w_max_known = undo->w_max_known;
    }
    ww_reno_on_undo(&cubic->common, window);
}

/* CUBIC's operations: westwood.h calls them, see reno.h. */
#define WW_CUBIC_TRAITS 0u
#define WW_CUBIC_INIT ww_cubic_init
#define WW_CUBIC_ON_ACK ww_cubic_on_ack
#define WW_CUBIC_SSTHRESH(config, cubic, now_us, in_flight, mss) \
    ww_cubic_ssthresh(config, in_flight)
#define WW_CUBIC_ON_LOSS(config, cubic, window, now_us, in_flight, mss) \
    ww_cubic_on_loss(config, cubic, window, in_flight)
#define WW_CUBIC_ON_MARK(...) WW_MARK_AS_LOSS(CUBIC, __VA_ARGS__)
#define WW_CUBIC_ON_RECOVERY_EXIT(config, cubic, window, now_us, mss) \
    ww_cubic_on_recovery_exit(config, cubic, window, now_us)
#define WW_CUBIC_ON_RTO(config, cubic, window, now_us, in_flight, mss, repeated) \
    ww_cubic_on_rto(config, cubic, window, in_flight, repeated)
#define WW_CUBIC_ON_UNDO ww_cubic_on_undo
#define WW_CUBIC_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_CUBIC_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_CUBIC_QUANTUM WW_RENO_QUANTUM
#define WW_CUBIC_ON_RESTART(config, cubic, now_us) \
    ww_cubic_skip_idle(config, &(cubic)->curve, &(cubic)->last_ms, now_us)
#define WW_CUBIC_OBSERVE WW_RENO_OBSERVE
#define WW_CUBIC_MODES WW_RENO_MODES
#define WW_CUBIC_MODE WW_RENO_MODE
#define WW_CUBIC_QUANTITIES WW_RENO_QUANTITIES

#endif
