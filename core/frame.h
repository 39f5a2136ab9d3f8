/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Calls of a loaded control that lives in another memory, such as a WebAssembly module of its own. The host fills in a
 * frame and copies it to the control's side, which makes the call and leaves the results in its frame.
 */
#ifndef WW_FRAME_H
#define WW_FRAME_H

#include "loaded.h"

#ifdef WW_LOADS_CONTROLS

/* The operations of WW_CONTROL_CALLS, by their number. */
#define WW_OPERATIONS(X) \
    X(init)              \
    X(on_ack)            \
    X(on_loss)           \
    X(on_mark)           \
    X(on_recovery_exit)  \
    X(on_rto)            \
    X(on_undo)           \
    X(on_restart)        \
    X(on_packet_sent)    \
    X(on_packet_lost)    \
    X(ssthresh)          \
    X(quantum)           \
    X(estimate)          \
    X(observe)

enum ww_operation {
#define WW_ROW(name) WW_OPERATION_##name,
    WW_OPERATIONS(WW_ROW)
#undef WW_ROW
};

/* The arguments and the results of any call. */
struct ww_frame {
    struct ww_config config;
    struct ww_loaded_state state;
    struct ww_window window;
    struct ww_sample ack;
    struct ww_sent sent;
    struct ww_lost lost;
    uint64_t now_us;
    uint32_t in_flight, mss;
    bool repeated;
    uint32_t segments; /* that ssthresh and quantum return */
    struct ww_observation estimate;
    uint64_t quantities[WW_QUANTITIES_MAX];
};

/* Makes a call of an operation that the control has. */
static inline void ww_run_operation(const struct ww_control_ops *ops, struct ww_frame *f,
                                    enum ww_operation call) {
    const struct ww_config *config = &f->config;
    switch (call) {
    case WW_OPERATION_init:
        ops->init(config, &f->state);
        break;
    case WW_OPERATION_on_ack:
        ops->on_ack(config, &f->state, &f->window, &f->ack);
        break;
    case WW_OPERATION_on_loss:
        ops->on_loss(config, &f->state, &f->window, f->now_us, f->in_flight, f->mss);
        break;
    case WW_OPERATION_on_mark:
        ops->on_mark(config, &f->state, &f->window, f->now_us, f->in_flight, f->mss);
        break;
    case WW_OPERATION_on_recovery_exit:
        ops->on_recovery_exit(config, &f->state, &f->window, f->now_us, f->mss);
        break;
    case WW_OPERATION_on_rto:
        ops->on_rto(config, &f->state, &f->window, f->now_us, f->in_flight, f->mss, f->repeated);
        break;
    case WW_OPERATION_on_undo:
        ops->on_undo(config, &f->state, &f->window);
        break;
    case WW_OPERATION_on_restart:
        ops->on_restart(config, &f->state, f->now_us);
        break;
    case WW_OPERATION_on_packet_sent:
        ops->on_packet_sent(config, &f->state, &f->window, &f->sent);
        break;
    case WW_OPERATION_on_packet_lost:
        ops->on_packet_lost(config, &f->state, &f->window, &f->lost);
        break;
    case WW_OPERATION_ssthresh:
        f->segments = ops->ssthresh(config, &f->state, f->now_us, f->in_flight, f->mss);
        break;
    case WW_OPERATION_quantum:
        f->segments = ops->quantum(config, &f->window, f->mss);
        break;
    case WW_OPERATION_estimate:
        f->estimate = ops->estimate(config, &f->state, f->now_us);
        break;
    case WW_OPERATION_observe:
        ops->observe(config, &f->state, f->now_us, f->quantities);
        break;
    }
}

#endif
#endif
