/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * CUBIC in TCP with what the QUIC stacks do: paced at 1.25 windows per round trip (RFC 9002, 7.7), without HyStart.
 *
 * docs/quic.md compares it with the stacks: it has their results where these two clauses are the reason.
 */
#define WW_STATE cubic_paced
#define WW_PARAMETERS(X)                                                          \
    X(gain, 125, 0, 1000, "Pacing rate over cwnd / SRTT, per cent; 0: not paced") \
    X(hystart, 0, 0, 1, "1: slow start has HyStart++")
#include "control.h"
#include "cubic.h"

struct cubic_paced {
    union {
        struct ww_common common;
        struct ww_cubic_state cubic;
    };
};

static void init(const struct ww_config *config, struct cubic_paced *state) {
    WW_CUBIC_INIT(&state->cubic);
}

static void on_ack(const struct ww_config *config, struct cubic_paced *state,
                   struct ww_window *window, const struct ww_sample *ack) {
    struct ww_config settings = *config;
    if (ww_parameters(config)->hystart != 0) settings.slow_start = WW_HYSTART_PLUS_PLUS;
    WW_CUBIC_ON_ACK(&settings, &state->cubic, window, ack);
    const uint32_t gain = ww_parameters(config)->gain;
    if (gain == 0 || ack->srtt_us == 0) return;
    const uint64_t bytes_per_s =
        ww_div((uint64_t)window->cwnd * ack->mss * 10000 * gain, ack->srtt_us);
    window->pacing = ww_min_u64(bytes_per_s << WW_BW_FRACTION, WW_BW_MAX);
}

static void on_loss(const struct ww_config *config, struct cubic_paced *state,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    WW_CUBIC_ON_LOSS(config, &state->cubic, window, now_us, in_flight, mss);
}

static void on_recovery_exit(const struct ww_config *config, struct cubic_paced *state,
                             struct ww_window *window, uint64_t now_us, uint32_t mss) {
    WW_CUBIC_ON_RECOVERY_EXIT(config, &state->cubic, window, now_us, mss);
}

static void on_rto(const struct ww_config *config, struct cubic_paced *state,
                   struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss,
                   bool repeated) {
    WW_CUBIC_ON_RTO(config, &state->cubic, window, now_us, in_flight, mss, repeated);
}

static void on_undo(const struct ww_config *config, struct cubic_paced *state,
                    struct ww_window *window) {
    WW_CUBIC_ON_UNDO(config, &state->cubic, window);
}

static void on_restart(const struct ww_config *config, struct cubic_paced *state, uint64_t now_us) {
    WW_CUBIC_ON_RESTART(config, &state->cubic, now_us);
}

WW_CONTROL("CUBIC, paced", WW_CUBIC_TRAITS | WW_NEEDS_RATE, .like = WW_PROTOCOL_CUBIC, .init = init,
           .on_ack = on_ack, .on_loss = on_loss, .on_recovery_exit = on_recovery_exit,
           .on_rto = on_rto, .on_undo = on_undo, .on_restart = on_restart)
