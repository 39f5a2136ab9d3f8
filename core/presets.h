/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Each variant as its source describes it. A line in WW_PRESETS and a case below make a new one known
 * to every host.
 *
 *   reno           RFC 5681
 *   westwood       Mascolo 2001: a sample an ACK, time-varying Tustin. tau = 500 ms; with
 *                  m = 10 a constant interval of tau / m gives a = 19/21, the slides' 0.9.
 *   westwood-ns3   Gangadhar 2013, 3.2.2: a sample an ACK, no filter ("in the default
 *                  mode, the filter is disabled"), DUPACK pseudo-code to the letter
 *   westwood+      Dell'Aera 2003: a sample a round trip of at least 50 ms, 7/8
 *   westwood+-ns3  the 2013 ns-3 paper: a sample a last RTT, no filter, DUPACK pseudo-code to the letter
 *   westwoodnr     Frikha 2005, section 2: Westwood; NewReno is its host's recovery
 *   westwoodnr+    Frikha 2005, section 3: with a plateau after a loss, cte = 2
 *   westwood+-linux24  Dell'Aera 2003: Westwood+; rate halving is its host's recovery
 *   westwood+-linux    today's tcp_westwood.c: two 7/8 filters, BWE*RTTmin set when recovery completes,
 *                      RTTmin anew after a timeout
 *   cubic          RFC 9438 with fast convergence; HyStart++ is off
 *   vegas          alpha 2, beta 4, gamma 1, as in Linux
 *   bbr            version 1
 */
#ifndef WW_PRESETS_H
#define WW_PRESETS_H

#include "contract.h"

#define WW_PRESETS(X)                                       \
    X(WW_PRESET_RENO, "reno")                               \
    X(WW_PRESET_WESTWOOD, "westwood")                       \
    X(WW_PRESET_WESTWOOD_NS3, "westwood-ns3")               \
    X(WW_PRESET_WESTWOOD_PLUS, "westwood+")                 \
    X(WW_PRESET_WESTWOOD_PLUS_NS3, "westwood+-ns3")         \
    X(WW_PRESET_WESTWOODNR, "westwoodnr")                   \
    X(WW_PRESET_WESTWOODNR_PLUS, "westwoodnr+")             \
    X(WW_PRESET_WESTWOOD_PLUS_LINUX24, "westwood+-linux24") \
    X(WW_PRESET_WESTWOOD_PLUS_LINUX, "westwood+-linux")     \
    X(WW_PRESET_CUBIC, "cubic")                             \
    X(WW_PRESET_VEGAS, "vegas")                             \
    X(WW_PRESET_BBR, "bbr")

#define WW_PRESET_ENUMERATOR(id, name) id,
enum ww_preset_id { WW_PRESETS(WW_PRESET_ENUMERATOR) WW_PRESET_COUNT };
#undef WW_PRESET_ENUMERATOR

/* Every setting has a sound value in every preset, so that a user may switch one at a time. */
static inline struct ww_config ww_default_config(void) {
    struct ww_config config;
    config.algorithm = WW_ALG_WESTWOOD;
    config.sampler = WW_PER_ACK;
    config.filter = WW_FILTER_NONE;
    config.virtual_m = 10;
    config.tau_us = 500000;
    config.min_interval_us = 50000;
    config.alpha_permille = 900;
    config.min_cwnd = 2;
    config.byte_counting = false;
    config.batched_acks = false;
    config.validate_cwnd = true;
    config.set_cwnd_on_loss = false;
    config.seed_filter = false;
    config.literal_count = false;
    config.reset_rtt_min = false;
    config.set_at_exit = false;
    config.halve_on_loss = false;
    config.cte_permille = 0;
    config.hystart = false;
    config.fast_convergence = true;
    config.vegas_alpha = 2;
    config.vegas_beta = 4;
    config.vegas_gamma = 1;
    return config;
}

static inline struct ww_config ww_preset(enum ww_preset_id id) {
    struct ww_config config = ww_default_config();
    switch (id) {
    case WW_PRESET_WESTWOOD:
    case WW_PRESET_WESTWOODNR:
        config.filter = WW_FILTER_TUSTIN;
        break;
    case WW_PRESET_WESTWOODNR_PLUS:
        config.filter = WW_FILTER_TUSTIN;
        config.cte_permille = 2000;
        break;
    case WW_PRESET_WESTWOOD_NS3:
        config.literal_count = true;
        break;
    case WW_PRESET_WESTWOOD_PLUS_NS3:
        config.sampler = WW_PER_RTT_TIMER;
        config.literal_count = true;
        break;
    case WW_PRESET_WESTWOOD_PLUS:
    case WW_PRESET_WESTWOOD_PLUS_LINUX24:
        config.sampler = WW_PER_RTT;
        config.filter = WW_FILTER_EWMA;
        config.set_cwnd_on_loss = true;
        config.seed_filter = true;
        config.set_at_exit = id == WW_PRESET_WESTWOOD_PLUS_LINUX24;
        break;
    case WW_PRESET_WESTWOOD_PLUS_LINUX:
        config.sampler = WW_PER_RTT;
        config.filter = WW_FILTER_EWMA_TWICE;
        config.set_cwnd_on_loss = true;
        config.seed_filter = true;
        config.set_at_exit = true;
        config.halve_on_loss = true;
        config.reset_rtt_min = true;
        break;
    case WW_PRESET_CUBIC:
        config.algorithm = WW_ALG_CUBIC;
        break;
    case WW_PRESET_VEGAS:
        config.algorithm = WW_ALG_VEGAS;
        break;
    case WW_PRESET_BBR:
        config.algorithm = WW_ALG_BBR;
        break;
    case WW_PRESET_RENO:
    case WW_PRESET_COUNT:
    default:
        config.algorithm = WW_ALG_RENO;
        break;
    }
    return config;
}

#endif
