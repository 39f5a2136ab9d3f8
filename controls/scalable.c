/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scalable: the time to recover from a loss does not depend on the rate (Kelly 2003)
 *
 *   an ACK     cwnd += 0.01 per segment acknowledged      above the legacy window of 16 segments
 *   a loss     cwnd -= 0.125 cwnd
 *   below      as Reno: += 1 / cwnd, -= 0.5 cwnd
 *
 * From 0.875 W back to W takes ln(1 / 0.875) / ln(1.01) = 13.4 round trips, whatever W is.
 *
 * Source: T. Kelly: Scalable TCP: improving performance in highspeed wide area networks, ACM SIGCOMM Computer
 *   Communication Review 33(2), 2003. Read in Linux's tcp_scalable.c and ns-3's.
 * Deviations: an ACK counts for the segments it acknowledges. Linux and ns-3 have no legacy window: below 100 and
 *   50 segments they add 1 / cwnd, and a loss always takes an eighth. ns-3 adds 0.02: acks = 50.
 */
#define WW_STATE scalable
#define WW_PARAMETERS(X)                                                                  \
    X(acks, 100, 1, 10000, "Segments acknowledged for which cwnd grows by one")           \
    X(kept, 875, 500, 999, "Share of the data in flight that a loss leaves, thousandths") \
    X(legacy, 16, 0, 65535, "Largest window, segments, that grows and falls as Reno's")
#include "control.h"

struct scalable {
    struct ww_common common;
};

static void on_ack(const struct ww_config *config, struct scalable *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    if (!ww_may_grow(ack)) return;
    if (window->cwnd < window->ssthresh || window->cwnd <= ww_parameters(config)->legacy) {
        ww_grow(config, &state->common, window, ack);
        return;
    }
    if (config->validate_cwnd && !ack->is_cwnd_limited) return;
    ww_grow_linearly(&state->common, window, ww_parameters(config)->acks, ack->acked_segments);
}

static void on_loss(const struct ww_config *config, struct scalable *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    const struct ww_parameters *parameters = ww_parameters(config);
    const uint64_t flight = ww_min_u32(in_flight, WW_CWND_MAX);
    const uint32_t kept = (uint32_t)(flight * parameters->kept / 1000);
    const bool is_legacy = window->cwnd <= parameters->legacy;
    ww_reno_on_loss(
        &state->common, window,
        is_legacy ? ww_reno_ssthresh(config, in_flight) : ww_max_u32(kept, config->min_cwnd));
}

WW_CONTROL("Scalable", 0, .on_ack = on_ack, .on_loss = on_loss)
