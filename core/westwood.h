/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The core's entry points. A host includes this file only.
 *
 *   ww_init              a connection starts
 *   ww_on_ack            an ACK arrived, duplicate or not, in any phase
 *   ww_ssthresh          what a loss now would set ssthresh to; changes nothing
 *   ww_on_loss           a loss was detected by duplicate ACKs or SACK (call ww_on_ack for that ACK first)
 *   ww_on_recovery_exit  the data outstanding at the loss is acknowledged
 *   ww_on_rto            the retransmission timer expired
 *   ww_on_undo           the last loss proved spurious
 *   ww_observe           the estimate, for traces
 *
 * Sources, as the comments name them:
 *   Mascolo 2001     Mascolo, Casetti, Gerla, Sanadidi, Wang: TCP Westwood, MOBICOM 2001
 *   Dell'Aera 2003   Dell'Aera, Grieco, Mascolo: Linux 2.4 Implementation of Westwood+ TCP with
 *                    rate-halving, Politecnico di Bari, Tech. Rep. 08/03/S
 *   Gangadhar 2013   Gangadhar, Nguyen, Umapathi, Sterbenz: TCP Westwood(+) Protocol Implementation in
 *                    ns-3, WNS3 2013
 *
 * A new congestion control is a header of its own, an enumerator in contract.h, a case in each switch
 * below and a preset.
 */
#ifndef WW_WESTWOOD_H
#define WW_WESTWOOD_H

#include "presets.h"
#include "reno.h"
#include "westwood_family.h"

static inline void ww_init(const struct ww_config *config, struct ww_state *state) {
    (void)config;
    const struct ww_state fresh = {0, 0, 0, 0, 0, 0, 0, UINT32_MAX, 0, 0, 0, 0, false};
    *state = fresh;
}

static inline void ww_on_ack(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, const struct ww_sample *sample) {
    if (config->algorithm == WW_ALG_WESTWOOD) ww_estimator_on_ack(config, state, sample);
    if (!sample->is_dupack && sample->acked_segments != 0 && sample->phase != WW_RECOVERY)
        ww_grow(config, state, window, sample);
}

/* in_flight: FlightSize as the host defines it (RFC 5681: sent and not cumulatively acknowledged). */
static inline uint32_t ww_ssthresh(const struct ww_config *config, const struct ww_state *state,
                                   uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    if (config->algorithm == WW_ALG_WESTWOOD)
        return ww_westwood_ssthresh(config, state, now_us, mss);
    return ww_reno_ssthresh(config, in_flight);
}

static inline void ww_remember(struct ww_state *state, const struct ww_window *window) {
    state->prior_cwnd = window->cwnd;
    state->prior_ssthresh = window->ssthresh;
    state->cwnd_count = 0;
}

static inline void ww_on_loss(const struct ww_config *config, struct ww_state *state,
                              struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                              uint32_t mss) {
    ww_remember(state, window);
    window->ssthresh = ww_ssthresh(config, state, now_us, in_flight, mss);
    if (config->algorithm == WW_ALG_RENO || config->set_cwnd_on_loss)
        window->cwnd = window->ssthresh;
    else
        window->cwnd = ww_min_u32(window->cwnd, window->ssthresh);
}

static inline void ww_on_recovery_exit(const struct ww_config *config, struct ww_state *state,
                                       struct ww_window *window) {
    (void)config;
    (void)window;
    state->cwnd_count = 0;
}

/* repeated: the same segment timed out before; ssthresh is held (RFC 5681, 3.1). */
static inline void ww_on_rto(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                             uint32_t mss, bool repeated) {
    ww_remember(state, window);
    if (config->algorithm == WW_ALG_WESTWOOD) ww_estimator_advance(config, state, now_us);
    if (!repeated) window->ssthresh = ww_ssthresh(config, state, now_us, in_flight, mss);
    window->cwnd = 1;
}

static inline void ww_on_undo(struct ww_state *state, struct ww_window *window) {
    window->cwnd = ww_max_u32(window->cwnd, state->prior_cwnd);
    window->ssthresh = ww_max_u32(window->ssthresh, state->prior_ssthresh);
}

static inline struct ww_observation ww_observe(const struct ww_config *config,
                                               const struct ww_state *state, uint64_t now_us) {
    const struct ww_observation seen = {ww_filter_read(config, state, now_us), state->raw,
                                        state->rtt_min_us, state->samples};
    return seen;
}

#endif
