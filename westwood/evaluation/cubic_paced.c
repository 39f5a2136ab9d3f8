/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Paced CUBIC: CUBIC that spreads its segments over the round trip, as Linux does with the qdisc fq
 *
 *   W        max(cwnd, segments in flight)
 *   pacing   2 W / SRTT while cwnd < ssthresh / 2, else 1.2 W / SRTT
 *   cwnd     CUBIC's, with the profile's rules
 *
 * Source: tcp_update_pacing_rate() in Linux 6, with its defaults of tcp_pacing_ss_ratio and tcp_pacing_ca_ratio.
 * Deviations: each segment leaves by itself. Linux sends what a millisecond of the rate holds as one burst. It is no
 *   control of the gallery, because paced controls in the kernel need recovery arithmetic of their own.
 */
#define WW_STATE cubic_paced
#define WW_PARAMETERS(X)                                                                        \
    X(slow_start, 3, 0, 3,                                                                          \
      "What ends slow start before a loss does: 0 standard, 1 hystart, 2 hystart-ns3, 3 hystart++") \
    X(cubic_rules, 0, 0, 2, "Rules for growth, ssthresh and undo: 0 rfc9438, 1 linux, 2 ns3")
#include "control.h"
#include "cubic.h"

struct cubic_paced {
    union {
        struct ww_common common;
        struct ww_cubic_state cubic;
    };
};

/* The configuration with the settings that are parameters here, which a profile sets. */
static const struct ww_config *configured(const struct ww_config *config, struct ww_config *made) {
    *made = *config;
    made->slow_start = (uint8_t)ww_parameters(config)->slow_start;
    made->cubic_rules = (uint8_t)ww_parameters(config)->cubic_rules;
    return made;
}
#define CONFIGURED configured(config, &(struct ww_config){0})

static void init(const struct ww_config *config, struct cubic_paced *own) {
    WW_CUBIC_INIT(&own->cubic);
}

static void on_ack(const struct ww_config *config, struct cubic_paced *own,
                   struct ww_window *window, const struct ww_sample *ack) {
    WW_CUBIC_ON_ACK(CONFIGURED, &own->cubic, window, ack);
    const uint64_t w = ww_min_u32(ww_max_u32(window->cwnd, ack->in_flight), WW_CWND_MAX);
    const uint64_t percent = window->cwnd < window->ssthresh / 2 ? 200 : 120;
    window->pacing = ww_rate(w * ack->mss * percent / 100, ack->srtt_us);
}

static void on_loss(const struct ww_config *config, struct cubic_paced *own,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    WW_CUBIC_ON_LOSS(CONFIGURED, &own->cubic, window, now_us, in_flight, mss);
}

static void on_mark(const struct ww_config *config, struct cubic_paced *own,
                    struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss) {
    WW_CUBIC_ON_MARK(CONFIGURED, &own->cubic, window, now_us, in_flight, mss);
}

static void on_recovery_exit(const struct ww_config *config, struct cubic_paced *own,
                             struct ww_window *window, uint64_t now_us, uint32_t mss) {
    WW_CUBIC_ON_RECOVERY_EXIT(CONFIGURED, &own->cubic, window, now_us, mss);
}

static void on_rto(const struct ww_config *config, struct cubic_paced *own,
                   struct ww_window *window, uint64_t now_us, uint32_t in_flight, uint32_t mss,
                   bool repeated) {
    WW_CUBIC_ON_RTO(CONFIGURED, &own->cubic, window, now_us, in_flight, mss, repeated);
}

static void on_undo(const struct ww_config *config, struct cubic_paced *own,
                    struct ww_window *window) {
    WW_CUBIC_ON_UNDO(CONFIGURED, &own->cubic, window);
}

static void on_restart(const struct ww_config *config, struct cubic_paced *own, uint64_t now_us) {
    WW_CUBIC_ON_RESTART(CONFIGURED, &own->cubic, now_us);
}

WW_CONTROL("CUBIC (paced)", WW_NEEDS_RATE, .like = WW_PROTOCOL_CUBIC, .init = init,
           .on_ack = on_ack, .on_loss = on_loss, .on_mark = on_mark,
           .on_recovery_exit = on_recovery_exit, .on_rto = on_rto, .on_undo = on_undo,
           .on_restart = on_restart)
