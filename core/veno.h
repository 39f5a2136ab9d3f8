/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Veno (Fu & Liew, "TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks", IEEE JSAC
 * 21(2), 2003), in its Linux form (tcp_veno.c): Reno that applies Vegas' test on a loss.
 *
 *   N = cwnd (RTT - BaseRTT) / RTT             segments of ours that wait in queues
 *   slow start            as Reno
 *   congestion avoidance  N < beta: as Reno    else: cwnd += 1 every other window of ACKs
 *   loss and timeout      N < beta: the loss is considered random, ssthresh = 4/5 flight
 *                         else: it is considered congestive, ssthresh = 1/2 flight, as Reno
 *   beta = 3 segments (veno_beta); with fewer than 3 RTT samples, and while a loss is repaired: Reno's growth
 *
 * N is computed on each ACK that may open the window, from the smallest RTT since the one before. It is kept
 * in half segments, as in Linux.
 *
 * Deviations: every other window means every other ACK here, which is the same pace. RTT samples are kept
 * across idle times, which Linux forgets. A timeout is answered like a loss, as in Linux and ns-3;
 * in the paper it is Reno's.
 */
#ifndef WW_VENO_H
#define WW_VENO_H

#include "reno.h"

enum {
    WW_VENO_HALVES = 2, /* half segments in a segment */
    WW_VENO_RTTS = 3,   /* samples before N is meaningful */
};

struct ww_veno_state {
    struct ww_common common;
    uint32_t base_rtt_us; /* smallest so far; UINT32_MAX before the first */
    uint32_t min_rtt_us;  /* smallest since the window last grew; UINT32_MAX: none */
    uint32_t queued;      /* N, in half segments */
    uint8_t rtts;         /* samples so far, up to WW_VENO_RTTS */
    bool waits;           /* the queue is full: the next ACK does not grow the window */
};

static inline void ww_veno_init(struct ww_veno_state *veno) {
    const struct ww_veno_state fresh = {{0, 0, 0}, UINT32_MAX, UINT32_MAX, 0, 0, false};
    *veno = fresh;
}

static inline bool ww_veno_fills_queue(const struct ww_config *config,
                                       const struct ww_veno_state *veno) {
    return veno->queued >= (uint32_t)config->veno_beta * WW_VENO_HALVES;
}

/* Product: 2 * 2^28 * 2^32 < 2^62. */
static inline void ww_veno_measure(struct ww_veno_state *veno, uint32_t cwnd) {
    if (veno->rtts < WW_VENO_RTTS || veno->min_rtt_us == UINT32_MAX) return;
    const uint64_t halves = (uint64_t)WW_VENO_HALVES * cwnd;
    veno->queued = (uint32_t)ww_minus(halves, ww_div(halves * veno->base_rtt_us, veno->min_rtt_us));
    veno->min_rtt_us = UINT32_MAX;
}

static inline void ww_veno_on_ack(const struct ww_config *config, struct ww_veno_state *veno,
                                  struct ww_window *window, const struct ww_sample *sample) {
    if (sample->rtt_us != 0) {
        veno->base_rtt_us = ww_min_u32(veno->base_rtt_us, sample->rtt_us);
        veno->min_rtt_us = ww_min_u32(veno->min_rtt_us, sample->rtt_us);
        if (veno->rtts < WW_VENO_RTTS) veno->rtts++;
    }
    if (!ww_may_grow(sample)) return;
    const bool repairs = sample->phase != WW_OPEN;
    if (!repairs) ww_veno_measure(veno, window->cwnd);
    const bool slow_start = window->cwnd < window->ssthresh;
    veno->waits = !repairs && !slow_start && ww_veno_fills_queue(config, veno) && !veno->waits;
    if (!veno->waits) ww_grow(config, &veno->common, window, sample);
}

/* Product: 2^28 * 4 < 2^31. */
static inline uint32_t ww_veno_ssthresh(const struct ww_config *config,
                                        const struct ww_veno_state *veno, uint32_t in_flight) {
    if (ww_veno_fills_queue(config, veno)) return ww_reno_ssthresh(config, in_flight);
    return ww_max_u32(ww_min_u32(in_flight, WW_CWND_MAX) * 4 / 5, config->min_cwnd);
}

/* Veno's operations: westwood.h calls them, see reno.h. */
#define WW_VENO_TRAITS 0u
#define WW_VENO_INIT ww_veno_init
#define WW_VENO_ON_ACK ww_veno_on_ack
#define WW_VENO_SSTHRESH(config, veno, now_us, in_flight, mss) \
    ww_veno_ssthresh(config, veno, in_flight)
#define WW_VENO_ON_LOSS(config, veno, window, now_us, in_flight, mss) \
    ww_reno_on_loss(&(veno)->common, window, ww_veno_ssthresh(config, veno, in_flight))
#define WW_VENO_ON_MARK(...) WW_MARK_AS_LOSS(VENO, __VA_ARGS__)
#define WW_VENO_ON_RECOVERY_EXIT WW_RENO_ON_RECOVERY_EXIT
#define WW_VENO_ON_RTO(config, veno, window, now_us, in_flight, mss, repeated) \
    ww_reno_on_rto(&(veno)->common, window, ww_veno_ssthresh(config, veno, in_flight), repeated)
#define WW_VENO_ON_UNDO WW_RENO_ON_UNDO
#define WW_VENO_ON_PACKET_SENT WW_RENO_ON_PACKET_SENT
#define WW_VENO_ON_PACKET_LOST WW_RENO_ON_PACKET_LOST
#define WW_VENO_QUANTUM WW_RENO_QUANTUM
#define WW_VENO_ON_RESTART WW_RENO_ON_RESTART
#define WW_VENO_OBSERVE WW_RENO_OBSERVE
#define WW_VENO_MODES WW_RENO_MODES
#define WW_VENO_MODE WW_RENO_MODE
#define WW_VENO_QUANTITIES WW_RENO_QUANTITIES

#endif
