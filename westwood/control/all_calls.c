/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls a control in any order, any number of times and with any values that core/contract.h allows. Frama-C's EVA
 * covers all of its runs at once. The file of the control stands beside this one as control.c.
 */
#define WW_TABLE(config) (config)->control
#define _Alignof(type) 8 /* which Frama-C lacks; compilers check it */
#include "control.c"
#include "drawn.h"

/* Each read gives another number, about which Frama-C assumes nothing. */
extern volatile uint64_t ww_anything;

static uint64_t any(uint64_t least, uint64_t most) {
    const uint64_t value = ww_anything;
    return value < least ? least : value > most ? most : value;
}

static struct ww_window any_window(void) {
    struct ww_window value = {0};
#define WW_DRAW(name, least, most) value.name = (__typeof__(value.name))any(least, most);
    WW_WINDOW_RANGES(WW_DRAW)
#undef WW_DRAW
    return value;
}

static const struct ww_own_ops *const ops = &ww_own_control;

/* What only traces and some hosts ask for. */
static void look(const struct ww_config *config, const struct WW_STATE *state,
                 const struct ww_window *window, const struct ww_sample *ack) {
    struct ww_quantities seen = {0};
    if (ops->observe) ops->observe(config, state, ack->now_us, &seen);
    if (ops->estimate) (void)ops->estimate(config, state, ack->now_us);
    if (ops->quantum) (void)ops->quantum(config, window, ack->mss);
    if (ops->ssthresh) (void)ops->ssthresh(config, state, ack->now_us, ack->in_flight, ack->mss);
}

static void call(const struct ww_config *config, struct WW_STATE *state, struct ww_window *window) {
    const struct ww_sample ack = any_sample();
    const struct ww_sent sent = any_sent();
    const struct ww_lost lost = any_lost();
    const uint64_t now_us = ack.now_us;
    const uint32_t in_flight = ack.in_flight, mss = ack.mss;
    switch (any(0, 9)) {
    case 0:
        ops->on_loss(config, state, window, now_us, in_flight, mss);
        break;
    case 1:
        if (ops->on_mark) ops->on_mark(config, state, window, now_us, in_flight, mss);
        break;
    case 2:
        if (ops->on_recovery_exit) ops->on_recovery_exit(config, state, window, now_us, mss);
        break;
    case 3:
        if (ops->on_rto) ops->on_rto(config, state, window, now_us, in_flight, mss, ack.is_dupack);
        break;
    case 4:
        if (ops->on_undo) ops->on_undo(config, state, window);
        break;
    case 5:
        if (ops->on_packet_sent) ops->on_packet_sent(config, state, window, &sent);
        break;
    case 6:
        if (ops->on_packet_lost) ops->on_packet_lost(config, state, window, &lost);
        break;
    case 7:
        if (ops->on_restart) ops->on_restart(config, state, now_us);
        break;
    case 8:
        look(config, state, window, &ack);
        break;
    default:
        ops->on_ack(config, state, window, &ack);
    }
}

int main(void) {
    struct ww_config config = ww_configure((enum ww_protocol)ops->like);
    config.algorithm = WW_ALG_LOADED;
    for (uint32_t i = 0; i < ops->parameter_count; i++)
        config.own[i] = (uint32_t)any(ww_own_parameters[i].least, ww_own_parameters[i].most);
    struct WW_STATE state = {0};
    if (ops->init) ops->init(&config, &state);
    /*@ widen_hints "all", 1, 10, 0x7fffffff, WW_BW_MAX, WW_CWND_MAX, 0xffffffff; */
    while (ww_anything) {
        struct ww_window window = any_window();
        call(&config, &state, &window);
    }
    return 0;
}
