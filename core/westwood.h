/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The core's entry points. A host includes this file only.
 *
 *   ww_init              a connection starts
 *   ww_needs_rate        whether the control wants delivery rate samples; changes nothing
 *   ww_owns_recovery     whether it sets cwnd in fast recovery itself; changes nothing
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

#include "bbr.h"
#include "cubic.h"
#include "presets.h"
#include "reno.h"
#include "vegas.h"
#include "westwood_family.h"

static inline void ww_init(const struct ww_config *config, struct ww_state *state) {
    state->cwnd_count = 0;
    state->prior_cwnd = 0;
    state->prior_ssthresh = 0;
    switch (config->algorithm) {
    case WW_ALG_CUBIC:
        ww_cubic_init(&state->cubic);
        break;
    case WW_ALG_VEGAS:
        ww_vegas_init(&state->vegas);
        break;
    case WW_ALG_BBR:
        ww_bbr_init(&state->bbr);
        break;
    default:
        ww_westwood_init(&state->westwood);
        break;
    }
}

/* True if the control reads the delivery rate part of ww_sample. */
static inline bool ww_needs_rate(const struct ww_config *config) {
    return config->algorithm == WW_ALG_BBR;
}

/* True if the control sets cwnd in fast recovery itself: the host's recovery only finds the losses. */
static inline bool ww_owns_recovery(const struct ww_config *config) {
    return config->algorithm == WW_ALG_BBR;
}

static inline void ww_on_ack(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, const struct ww_sample *sample) {
    /* Not a switch: the two that most runs use cost a compare each, and no jump table. */
    if (config->algorithm == WW_ALG_WESTWOOD)
        ww_westwood_on_ack(config, state, window, sample);
    else if (config->algorithm == WW_ALG_RENO) {
        if (ww_may_grow(sample)) ww_grow(config, state, window, sample);
    } else if (config->algorithm == WW_ALG_CUBIC)
        ww_cubic_on_ack(config, state, window, sample);
    else if (config->algorithm == WW_ALG_VEGAS)
        ww_vegas_on_ack(config, state, window, sample);
    else
        ww_bbr_on_ack(state, window, sample);
}

/* in_flight: FlightSize as the host defines it (RFC 5681: sent and not cumulatively acknowledged). */
static inline uint32_t ww_ssthresh(const struct ww_config *config, const struct ww_state *state,
                                   uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    if (config->algorithm == WW_ALG_WESTWOOD && !config->halve_on_loss)
        return ww_westwood_pipe(config, &state->westwood, now_us, mss);
    if (config->algorithm == WW_ALG_CUBIC) return ww_cubic_ssthresh(config, in_flight);
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
    if (config->algorithm == WW_ALG_BBR) {
        ww_bbr_on_loss(state, window);
        return;
    }
    ww_remember(state, window);
    window->ssthresh = ww_ssthresh(config, state, now_us, in_flight, mss);
    if (config->algorithm == WW_ALG_WESTWOOD) {
        ww_westwood_on_loss(config, state, window);
        return;
    }
    if (config->algorithm == WW_ALG_CUBIC) ww_cubic_on_loss(config, &state->cubic, window->cwnd);
    window->cwnd = window->ssthresh;
}

static inline void ww_on_recovery_exit(const struct ww_config *config, struct ww_state *state,
                                       struct ww_window *window, uint64_t now_us, uint32_t mss) {
    state->cwnd_count = 0;
    if (config->algorithm == WW_ALG_BBR) {
        ww_bbr_restore(state, window);
    } else if (config->algorithm == WW_ALG_WESTWOOD && config->set_at_exit) {
        window->ssthresh = ww_westwood_pipe(config, &state->westwood, now_us, mss);
        window->cwnd = window->ssthresh;
    }
}

/* repeated: the same segment timed out before; ssthresh is held (RFC 5681, 3.1). */
static inline void ww_on_rto(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                             uint32_t mss, bool repeated) {
    if (config->algorithm == WW_ALG_BBR) {
        ww_bbr_on_rto(state, window);
        return;
    }
    ww_remember(state, window);
    if (config->algorithm == WW_ALG_WESTWOOD)
        ww_estimator_advance(config, &state->westwood, now_us);
    if (!repeated) {
        window->ssthresh = config->algorithm == WW_ALG_WESTWOOD
                               ? ww_westwood_pipe(config, &state->westwood, now_us, mss)
                               : ww_ssthresh(config, state, now_us, in_flight, mss);
    }
    if (config->algorithm == WW_ALG_WESTWOOD) ww_westwood_on_rto(config, &state->westwood);
    if (config->algorithm == WW_ALG_CUBIC) ww_cubic_on_rto(&state->cubic, window->cwnd);
    window->cwnd = 1;
}

static inline void ww_on_undo(const struct ww_config *config, struct ww_state *state,
                              struct ww_window *window) {
    if (config->algorithm == WW_ALG_WESTWOOD) state->westwood.plateau = 0;
    window->cwnd = ww_max_u32(window->cwnd, state->prior_cwnd);
    window->ssthresh = ww_max_u32(window->ssthresh, state->prior_ssthresh);
}

/* Controls that estimate no bandwidth have no samples. */
static inline struct ww_observation ww_observe(const struct ww_config *config,
                                               const struct ww_state *state, uint64_t now_us) {
    struct ww_observation seen = {0, 0, UINT32_MAX, 0};
    if (config->algorithm == WW_ALG_WESTWOOD) {
        seen.bandwidth = ww_filter_read(config, &state->westwood, now_us);
        seen.raw = state->westwood.raw;
        seen.rtt_min_us = state->westwood.rtt_min_us;
        seen.samples = state->westwood.samples;
    } else if (config->algorithm == WW_ALG_BBR) {
        seen.bandwidth = seen.raw = state->bbr.max_bw[0];
        seen.rtt_min_us = state->bbr.rtprop_us;
        seen.samples = state->bbr.rounds;
    }
    return seen;
}

#endif
