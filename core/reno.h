/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Reno: slow start, congestion avoidance and multiplicative decrease.
 *
 *   slow start            cwnd < ssthresh: cwnd += 1 per ACK                RFC 5681, 3.1, eq. 2
 *   congestion avoidance  cwnd += 1 per window of ACKs                      RFC 5681, 3.1
 *   byte counting         slow start += min(acked, L), L = 2, after a timeout L = 1;
 *                         congestion avoidance += 1 per window of data      RFC 3465, 2.1 - 2.3
 *   a fraction of cwnd    congestion avoidance += 1 / cwnd per ACK          RFC 5681, 3.1, eq. 3
 *   batched ACKs          slow start += acked up to ssthresh, the rest goes to congestion
 *                         avoidance, += 1 per window of them                Linux, tcp_cong.c
 *   loss                  ssthresh = max(flight / 2, 2), cwnd = ssthresh    RFC 5681, 3.1, eq. 4
 *   congestion mark       as a loss, but cwnd = max(flight / 2, 1)          RFC 3168, 6.1.2
 *   timeout               the same ssthresh, cwnd = 1; a second timeout of one segment holds ssthresh
 *
 * The Westwood family grows in the same way: "cwnd increases as stated in RFC 2581" (Dell'Aera 2003, 2.1).
 * Windows are whole segments; the fraction is a counter, as in 4.4BSD and Linux, unless a setting asks for it.
 * The inflation by duplicate ACKs (RFC 5681, 3.2) belongs to the host's recovery.
 */
#ifndef WW_RENO_H
#define WW_RENO_H

#include "arith.h"

/* Only an ACK for new data opens the window; in fast recovery the host's recovery owns it. */
static inline bool ww_may_grow(const struct ww_sample *sample) {
    return !sample->is_dupack && sample->acked_segments != 0 && sample->phase != WW_RECOVERY;
}

/* Grows the window by one per `each` segments acknowledged; `each` is below 2^31. */
static inline void ww_grow_linearly(struct ww_common *common, struct ww_window *window,
                                    uint32_t each, uint32_t segments) {
    if (common->cwnd_count >= each) { /* counted towards a larger number */
        common->cwnd_count = 0;
        window->cwnd = ww_min_u32(window->cwnd + 1, WW_CWND_MAX);
    }
    common->cwnd_count += ww_min_u32(segments, WW_CWND_MAX); /* below 2^31 + WW_CWND_MAX */
    const uint32_t steps = (uint32_t)ww_div(common->cwnd_count, each);
    common->cwnd_count -= steps * each;
    window->cwnd = ww_min_u32(window->cwnd + steps, WW_CWND_MAX);
}

/* Grows the window in slow start by the segments, up to ssthresh. Returns those left over. */
static inline uint32_t ww_slow_start(struct ww_window *window, uint32_t segments) {
    segments = ww_min_u32(segments, WW_CWND_MAX);
    if (window->cwnd >= window->ssthresh) return segments;
    const uint32_t opened = ww_min_u32(segments, window->ssthresh - window->cwnd);
    window->cwnd = ww_min_u32(window->cwnd + opened, WW_CWND_MAX);
    return segments - opened;
}

/*
 * Grows the window on hosts that merge ACKs (GRO), where growth per ACK, or by at most 2, would be
 * far too slow. Each segment opens the window by no more than its own ACK would have.
 */
static inline void ww_grow_by_batch(struct ww_common *common, struct ww_window *window,
                                    uint32_t segments) {
    segments = ww_slow_start(window, segments);
    ww_grow_linearly(common, window, window->cwnd, segments);
}

/*
 * Keeps rarely used code out of its callers, at almost no cost for the others; BPF has only one
 * section.
 */
#ifdef __bpf__
#define WW_APART static inline
#else
#define WW_APART __attribute__((cold, noinline)) static
#endif

/*
 * Grows the window by `segments` / cwnd, but at most by 1. cwnd_count is its fraction, which a loss
 * cuts off. The smallest step is one unit of the fraction, as RFC 5681 has one byte. Product: 2^48
 * * 2^28 / 2^24 = 2^52.
 */
WW_APART void ww_grow_by_fraction(struct ww_common *common, struct ww_window *window,
                                  uint32_t segments) {
    const uint32_t unit = UINT32_C(1) << 24;
    const uint32_t fraction = ww_min_u32(common->cwnd_count, unit - 1);
    const uint64_t cwnd = (uint64_t)window->cwnd * unit + fraction; /* below 2^53 */
    const uint64_t step = ww_max_u64(ww_div((uint64_t)unit * unit, cwnd), 1);
    const uint64_t sum = fraction + ww_min_u64(step * ww_min_u32(segments, WW_CWND_MAX), unit);
    window->cwnd = ww_min_u32(window->cwnd + (sum >= unit), WW_CWND_MAX);
    common->cwnd_count = (uint32_t)(sum >= unit ? sum - unit : sum);
}

static inline void ww_grow(const struct ww_config *config, struct ww_common *common,
                           struct ww_window *window, const struct ww_sample *sample) {
    if (config->validate_cwnd && !sample->is_cwnd_limited) return;
    if (config->batched_acks) {
        ww_grow_by_batch(common, window, sample->acked_segments);
        return;
    }
    const bool slow_start = window->cwnd < window->ssthresh;
    uint32_t credit = 1;
    if (config->byte_counting) {
        const uint32_t limit = sample->phase == WW_LOSS ? 1 : 2;
        credit = slow_start ? ww_min_u32(sample->acked_segments, limit) : sample->acked_segments;
    }
    if (slow_start) {
        window->cwnd = ww_min_u32(window->cwnd + credit, WW_CWND_MAX);
        return;
    }
    if (config->fractional_cwnd) {
        ww_grow_by_fraction(common, window, credit); /* ns-2: opencwnd() */
        return;
    }
    common->cwnd_count += ww_min_u32(credit, WW_CWND_MAX); /* below 2 * WW_CWND_MAX */
    if (common->cwnd_count >= window->cwnd) {
        common->cwnd_count -= window->cwnd;
        /*
         * An ACK that covers several windows grows by one: RFC 5681 allows one segment per round
         * trip.
         */
        if (common->cwnd_count >= window->cwnd) common->cwnd_count = 0;
        window->cwnd = ww_min_u32(window->cwnd + 1, WW_CWND_MAX);
    }
}

static inline uint32_t ww_reno_ssthresh(const struct ww_config *config, uint32_t in_flight) {
    return ww_max_u32(ww_min_u32(in_flight / 2, WW_CWND_MAX), config->min_cwnd);
}

struct ww_reno_state {
    struct ww_common common;
};

static inline void ww_reno_init(struct ww_common *common) {
    const struct ww_common fresh = {0, 0, 0};
    *common = fresh;
}

static inline void ww_reno_on_ack(const struct ww_config *config, struct ww_common *common,
                                  struct ww_window *window, const struct ww_sample *sample) {
    if (ww_may_grow(sample)) ww_grow(config, common, window, sample);
}

/*
 * Keeps the windows from before a reduction, for ww_reno_on_undo. The ACKs counted towards the next
 * increment no longer count.
 */
static inline void ww_remember(struct ww_common *common, const struct ww_window *window) {
    common->prior_cwnd = window->cwnd;
    common->prior_ssthresh = window->ssthresh;
    common->cwnd_count = 0;
}

/* Responds to a loss found by duplicate ACKs or SACK; `ssthresh` is the control's choice. */
static inline void ww_reno_on_loss(struct ww_common *common, struct ww_window *window,
                                   uint32_t ssthresh) {
    ww_remember(common, window);
    window->ssthresh = ssthresh;
    window->cwnd = ssthresh;
}

/* Returns the configuration for a mark: cwnd may fall below the floor of ssthresh. */
static inline struct ww_config ww_config_for_mark(const struct ww_config *config) {
    struct ww_config marked = *config;
    marked.min_cwnd = config->min_marked_cwnd;
    return marked;
}

/* Responds to a congestion mark as the control with this ID responds to a loss. */
#define WW_MARK_AS_LOSS(ID, config, state, window, now_us, in_flight, mss)       \
    do {                                                                         \
        const struct ww_config marked = ww_config_for_mark(config);              \
        WW_##ID##_ON_LOSS(&marked, state, window, now_us, in_flight, mss);       \
        (window)->ssthresh = ww_max_u32((window)->ssthresh, (config)->min_cwnd); \
    } while (0)

static inline void ww_reno_on_rto(struct ww_common *common, struct ww_window *window,
                                  uint32_t ssthresh, bool repeated) {
    common->cwnd_count = 0;
    if (!repeated) {
        ww_remember(common,
                    window); /* an undo restores the windows from before the first: RFC 4015, 3.1 */
        window->ssthresh = ssthresh;
    }
    window->cwnd = 1;
}

static inline void ww_reno_on_recovery_exit(struct ww_common *common) { common->cwnd_count = 0; }

static inline void ww_reno_on_undo(const struct ww_common *common, struct ww_window *window) {
    window->cwnd = ww_max_u32(window->cwnd, common->prior_cwnd);
    window->ssthresh = ww_max_u32(window->ssthresh, common->prior_ssthresh);
}

/* Idle time changes nothing in what the control has learnt. */
static inline void ww_reno_on_restart(void) {}

/* A control that estimates no bandwidth has nothing to show. */
static inline struct ww_observation ww_observe_nothing(void) {
    const struct ww_observation seen = {0, 0, UINT32_MAX, 0};
    return seen;
}

/*
 * Reno's operations. Where a host calls ww_on_ack, westwood.h calls WW_RENO_ON_ACK, and so on;
 * `reno` points to a struct ww_reno_state. The header of every control ends with such a list. An
 * entry without parameters names a function that takes all arguments of the call. A control that
 * does as Reno does names an entry of this list: every state has a member `common`.
 */
#define WW_RENO_TRAITS 0u
#define WW_RENO_INIT(reno) ww_reno_init(&(reno)->common)
#define WW_RENO_ON_ACK(config, reno, window, sample) \
    ww_reno_on_ack(config, &(reno)->common, window, sample)
#define WW_RENO_SSTHRESH(config, reno, now_us, in_flight, mss) ww_reno_ssthresh(config, in_flight)
#define WW_RENO_ON_LOSS(config, reno, window, now_us, in_flight, mss) \
    ww_reno_on_loss(&(reno)->common, window, ww_reno_ssthresh(config, in_flight))
#define WW_RENO_ON_MARK(...) WW_MARK_AS_LOSS(RENO, __VA_ARGS__)
#define WW_RENO_ON_RECOVERY_EXIT(config, reno, window, now_us, mss) \
    ww_reno_on_recovery_exit(&(reno)->common)
#define WW_RENO_ON_RTO(config, reno, window, now_us, in_flight, mss, repeated) \
    ww_reno_on_rto(&(reno)->common, window, ww_reno_ssthresh(config, in_flight), repeated)
#define WW_RENO_ON_UNDO(config, reno, window) ww_reno_on_undo(&(reno)->common, window)
/* A control without WW_FOLLOWS_PACKETS does not hear of single packets. */
#define WW_RENO_ON_PACKET_SENT(config, reno, window, sent) \
    ((void)(reno), (void)(window), (void)(sent))
#define WW_RENO_ON_PACKET_LOST WW_RENO_ON_PACKET_SENT
#define WW_RENO_QUANTUM(config, window, mss) 1
#define WW_RENO_ON_RESTART(config, reno, now_us) ww_reno_on_restart()
#define WW_RENO_OBSERVE(config, reno, now_us) ww_observe_nothing()
/*
 * What a trace shows of a control with WW_SHOWS: X("name") for each mode, the number of the present one, from 1,
 * and X(name, unit, value) for at most WW_QUANTITIES_MAX quantities. Here `control` points to its state.
 */
#define WW_RENO_MODES(X)
#define WW_RENO_MODE(control) 0
#define WW_RENO_QUANTITIES(X)

#endif
