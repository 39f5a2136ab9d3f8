/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DCTCP: the window falls by the share of segments that were marked (RFC 8257)
 *
 *   once a window of data   M = segments marked / segments acknowledged       3.3, steps 5 to 7
 *                           alpha = (1 - g) alpha + g M, g = 1/16             3.3, step 6
 *   an echoed mark          cwnd = cwnd (1 - alpha / 2), once a window        3.3, step 9
 *   an ACK, a loss          as Reno                                           3.4, 3.5
 *
 * alpha is 1 at first, so the first mark halves the window (3.3). It needs tcp.ecn and queues that mark.
 *
 * Source: RFC 8257 (S. Bensley et al., 2017).
 * Deviations: the receiver's state machine of 3.2 is the host's: marks are counted as accurate ECN counts them
 *   (newly_marked). On a host without the count, an echo stands for all segments acknowledged so far in its
 *   window of data. Marks and ACKs are counted in segments, not bytes (4.1).
 */
#define WW_STATE dctcp
#define WW_PARAMETERS(X) X(shift, 4, 1, 10, "g = 2^-shift")
#define WW_QUANTITIES(X) X(alpha, "thousandths", "Estimated share of segments that are marked")
#include "control.h"
#include "rounds.h"

#define ONE (UINT32_C(1) << 20)

struct dctcp {
    struct ww_common common;
    struct ww_rounds rounds;
    uint32_t acked;  /* segments acknowledged in this window of data */
    uint32_t marked; /* of which marked */
    uint32_t alpha;  /* in units of 1 / ONE */
    bool is_counted; /* the host counts marks */
};

static void init(const struct ww_config *config, struct dctcp *state) { state->alpha = ONE; }

static void on_ack(const struct ww_config *config, struct dctcp *state, struct ww_window *window,
                   const struct ww_sample *ack) {
    state->acked += ww_min_u32(ack->acked_segments, UINT16_MAX);
    state->marked += ww_min_u32(ack->newly_marked, UINT16_MAX);
    state->is_counted = state->is_counted || ack->newly_marked != 0;
    if (ww_round_ends(&state->rounds, ack)) {
        const uint32_t shift = ww_parameters(config)->shift & 31;
        const uint64_t marked = ww_min_u32(state->marked, state->acked);
        const uint32_t share = (uint32_t)ww_div(marked * ONE, state->acked);
        state->alpha = state->alpha - (state->alpha >> shift) + (share >> shift);
        state->acked = state->marked = 0;
    }
    if (ww_may_grow(ack)) ww_grow(config, &state->common, window, ack);
}

static void on_loss(const struct ww_config *config, struct dctcp *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    ww_reno_on_loss(&state->common, window, ww_reno_ssthresh(config, in_flight));
}

static void on_mark(const struct ww_config *config, struct dctcp *state, struct ww_window *window,
                    uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    if (!state->is_counted) state->marked += state->acked;
    const uint64_t left = (uint64_t)window->cwnd * (2 * ONE - state->alpha) / (2 * ONE);
    ww_reno_on_loss(&state->common, window, ww_max_u32((uint32_t)left, config->min_marked_cwnd));
    window->ssthresh = ww_max_u32(window->ssthresh, config->min_cwnd);
}

static void observe(const struct ww_config *config, const struct dctcp *state, uint64_t now_us,
                    struct ww_quantities *seen) {
    seen->alpha = (uint64_t)state->alpha * 1000 / ONE;
}

WW_CONTROL("DCTCP", 0, .init = init, .on_ack = on_ack, .on_loss = on_loss, .on_mark = on_mark,
           .observe = observe)
