/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Westwood and Westwood+: after a loss the window becomes what the path was measured to carry.
 *
 *   3 DUPACKs   ssthresh = max(2, BWE * RTTmin / MSS)
 *               cwnd = min(cwnd, ssthresh)        Westwood: Mascolo 2001; Gangadhar 2013, 3.2.2 DupAck
 *               cwnd = ssthresh                   Westwood+: Dell'Aera 2003, 2.1
 *   timeout     ssthresh = max(2, BWE * RTTmin / MSS), cwnd = 1
 *   ACKs        as Reno
 *
 * The two also differ in the estimator's sampler and filter: see their rows in catalogue.h. Before the
 * first sample the window is the floor of 2 segments, as in Linux. Deviation: Mascolo 2001 states the
 * floor for timeouts only, but cannot mean a window of 0.
 *
 * Deviation: when a segment times out again, ssthresh stays (RFC 5681, 3.1). The slides and Frikha 2005 set it at
 * every coarse timeout, as the flow's repeated_timeouts_reduce does. That changes goodput by -0.9 to +0.2 % at
 * 0.5 to 5 % loss on Table 1's path (10 seeds of 300 s), and by -1.5 to +2.4 % under blackouts (5 seeds).
 *
 * WestwoodNR+ (Frikha 2005) replaces the reduction after 3 DUPACKs by a plateau, if cwnd > ssthresh:
 *
 *   plateau = ssthresh + (cwnd - ssthresh) / cte                              equations 1 and 6
 *   counter = ssthresh                                                        equation 2
 *   a new ACK: counter += 1 / counter                                         equation 3
 *              cwnd = plateau while counter < plateau, else counter           equations 4 and 5
 *
 * The counter grows as congestion avoidance would. Once it reaches the plateau, they are equal and growth
 * continues as Reno's. Equation 4 sets cwnd on every ACK, even where recovery left it lower. A timeout
 * ends the plateau (Frikha 2005, section 2: cwnd = 1).
 *
 * UCLA's module for ns-2 (Valla 2002) divides ssthresh after a timeout by a: `divided_timeouts`.
 *
 *   timeout, cwnd < ssthresh      a = min(a + 1, 4)        ssthresh = max(2, BWE * RTTmin / MSS / a)
 *   3 DUPACKs, cwnd < ssthresh    a = min(a + 1/4, 4)      ssthresh as above, not divided
 *   either, in avoidance          a = 1
 *
 * Linux (tcp_westwood.c): fast recovery runs on Reno's ssthresh. When it completes, cwnd = ssthresh =
 * BWE * RTTmin, even upwards. After a timeout RTTmin starts again: `halve_on_loss`, `set_at_exit`,
 * `reset_rtt_min`. Linux 2.4's (Dell'Aera 2003, 2.2) has `set_at_exit` only.
 */
#ifndef WW_WESTWOOD_FAMILY_H
#define WW_WESTWOOD_FAMILY_H

#include "estimator.h"
#include "reno.h"

static inline void ww_westwood_init(struct ww_westwood_state *westwood) {
    const struct ww_westwood_state fresh = {{0, 0, 0},  0, 0, 0, 0, 0, 0,     0,
                                            UINT32_MAX, 0, 0, 0, 0, 0, false, false};
    *westwood = fresh;
}

#define WW_WHOLE 4u /* 1 in quarters, the divisor's unit */

/*
 * Returns BWE * RTTmin / MSS over a number in quarters, rounded down, at least the floor: part of a
 * segment cannot be in flight.
 */
static inline uint32_t ww_westwood_bdp_over(const struct ww_config *config,
                                            const struct ww_westwood_state *westwood,
                                            uint64_t now_us, uint32_t mss, uint32_t quarters) {
    if (westwood->samples == 0 || westwood->rtt_min_us == UINT32_MAX) return config->min_cwnd;
    const uint64_t bdp_bytes =
        ww_bytes_in(ww_filter_read(config, westwood, now_us), westwood->rtt_min_us);
    const uint64_t segments =
        ww_min_u64(ww_div(WW_WHOLE * bdp_bytes, (uint64_t)quarters * mss), WW_CWND_MAX);
    return ww_max_u32((uint32_t)segments, config->min_cwnd);
}

static inline uint32_t ww_westwood_bdp(const struct ww_config *config,
                                       const struct ww_westwood_state *westwood, uint64_t now_us,
                                       uint32_t mss) {
    return ww_westwood_bdp_over(config, westwood, now_us, mss, WW_WHOLE);
}

/*
 * Valla's a, in quarters: a loss increases it in slow start and resets it to 1 in congestion
 * avoidance.
 */
static inline void ww_westwood_adapt(const struct ww_config *config,
                                     struct ww_westwood_state *westwood,
                                     const struct ww_window *window, uint32_t more) {
    const bool slow_start = window->cwnd < window->ssthresh;
    if (!config->divided_timeouts) return;
    westwood->divisor =
        slow_start ? (uint8_t)ww_min_u32(westwood->divisor + more, 4 * WW_WHOLE) : WW_WHOLE;
}

/* Grows the window by Frikha 2005, equations 3 to 5. */
static inline void ww_plateau_grow(const struct ww_config *config,
                                   struct ww_westwood_state *westwood, struct ww_window *window,
                                   const struct ww_sample *sample) {
    struct ww_window counter = {westwood->counter, westwood->counter, 0};
    ww_grow(config, &westwood->common, &counter, sample);
    westwood->counter = counter.cwnd;
    window->cwnd = ww_max_u32(westwood->plateau, westwood->counter);
    if (westwood->counter >= westwood->plateau) westwood->plateau = 0;
}

static inline void ww_westwood_on_ack(const struct ww_config *config,
                                      struct ww_westwood_state *westwood, struct ww_window *window,
                                      const struct ww_sample *sample) {
    ww_estimator_on_ack(config, westwood, sample);
    if (!ww_may_grow(sample)) return;
    if (westwood->plateau != 0)
        ww_plateau_grow(config, westwood, window, sample);
    else
        ww_grow(config, &westwood->common, window, sample);
}

static inline uint32_t ww_westwood_ssthresh(const struct ww_config *config,
                                            const struct ww_westwood_state *westwood,
                                            uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    if (config->halve_on_loss) return ww_reno_ssthresh(config, in_flight);
    return ww_westwood_bdp(config, westwood, now_us, mss);
}

/* Sets the windows after 3 DUPACKs; `ssthresh` comes from ww_westwood_ssthresh. */
static inline void ww_westwood_on_loss(const struct ww_config *config,
                                       struct ww_westwood_state *westwood, struct ww_window *window,
                                       uint32_t ssthresh) {
    ww_remember(&westwood->common, window);
    ww_westwood_adapt(config, westwood, window, 1);
    window->ssthresh = ssthresh;
    westwood->plateau = 0;
    if (config->cte_permille != 0 && window->cwnd > window->ssthresh) {
        const uint64_t fall = window->cwnd - window->ssthresh; /* 2^28 * 1000 < 2^38 */
        westwood->plateau = ww_min_u32(
            window->ssthresh + (uint32_t)ww_div(fall * 1000, config->cte_permille), window->cwnd);
        westwood->counter = window->ssthresh;
        window->cwnd = westwood->plateau;
    } else if (config->set_cwnd_on_loss) {
        window->cwnd = window->ssthresh;
    } else {
        window->cwnd = ww_min_u32(window->cwnd, window->ssthresh);
    }
}

static inline void ww_westwood_on_recovery_exit(const struct ww_config *config,
                                                struct ww_westwood_state *westwood,
                                                struct ww_window *window, uint64_t now_us,
                                                uint32_t mss) {
    ww_reno_on_recovery_exit(&westwood->common);
    if (!config->set_at_exit) return;
    window->ssthresh = ww_westwood_bdp(config, westwood, now_us, mss);
    window->cwnd = window->ssthresh;
}

static inline void ww_westwood_on_rto(const struct ww_config *config,
                                      struct ww_westwood_state *westwood, struct ww_window *window,
                                      uint64_t now_us, uint32_t mss, bool repeated) {
    ww_estimator_advance(config, westwood, now_us);
    ww_westwood_adapt(config, westwood, window, WW_WHOLE);
    const uint32_t quarters = config->divided_timeouts ? westwood->divisor : WW_WHOLE;
    ww_reno_on_rto(&westwood->common, window,
                   ww_westwood_bdp_over(config, westwood, now_us, mss, quarters), repeated);
    westwood->plateau = 0;
    westwood->rtt_min_stale = config->reset_rtt_min;
}

static inline void ww_westwood_on_undo(struct ww_westwood_state *westwood,
                                       struct ww_window *window) {
    westwood->plateau = 0;
    ww_reno_on_undo(&westwood->common, window);
}

static inline struct ww_observation ww_westwood_observe(const struct ww_config *config,
                                                        const struct ww_westwood_state *westwood,
                                                        uint64_t now_us) {
    const struct ww_observation seen = {ww_filter_read(config, westwood, now_us), westwood->raw,
                                        westwood->rtt_min_us, westwood->samples};
    return seen;
}

/* The family's operations: westwood.h calls them, see reno.h. */
#define WW_WESTWOOD_TRAITS WW_ESTIMATES
#define WW_WESTWOOD_INIT ww_westwood_init
#define WW_WESTWOOD_ON_ACK ww_westwood_on_ack
#define WW_WESTWOOD_SSTHRESH ww_westwood_ssthresh
#define WW_WESTWOOD_ON_LOSS(config, westwood, window, now_us, in_flight, mss) \
    ww_westwood_on_loss(config, westwood, window,                             \
                        ww_westwood_ssthresh(config, westwood, now_us, in_flight, mss))
#define WW_WESTWOOD_ON_MARK(...) WW_MARK_AS_LOSS(WESTWOOD, __VA_ARGS__)
#define WW_WESTWOOD_ON_RECOVERY_EXIT ww_westwood_on_recovery_exit
#define WW_WESTWOOD_ON_RTO(config, westwood, window, now_us, in_flight, mss, repeated) \
    ww_westwood_on_rto(config, westwood, window, now_us, mss, repeated)
#define WW_WESTWOOD_ON_UNDO(config, westwood, window) ww_westwood_on_undo(westwood, window)
#define WW_WESTWOOD_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_WESTWOOD_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_WESTWOOD_QUANTUM WW_RENO_QUANTUM
#define WW_WESTWOOD_ON_RESTART WW_RENO_ON_RESTART
#define WW_WESTWOOD_OBSERVE ww_westwood_observe
#define WW_WESTWOOD_MODES WW_RENO_MODES
#define WW_WESTWOOD_MODE WW_RENO_MODE
#define WW_WESTWOOD_QUANTITIES WW_RENO_QUANTITIES

#endif
