/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Calls of a control's operations as lines of text, so that every host can repeat the calls of a recording:
 * `westwood control replay`, tests/golden/calls.
 *
 *   CALL ARGUMENT...|CWND SSTHRESH PACING     the windows after the call
 *
 *   begin, host          the host sets the windows to the arguments, at the start of a connection and later
 *   ack, sent, lost      the arguments are the fields of the structure, in the order of contract.h
 *   loss, mark           now_us in_flight mss
 *   exit                 now_us mss
 *   rto                  now_us in_flight mss repeated
 *   undo                 none
 *   restart              now_us
 */
#ifndef WW_CALLS_H
#define WW_CALLS_H

#include "westwood.h"

#define WW_CALL_KINDS(X)     \
    X(BEGIN, "begin")        \
    X(HOST, "host")          \
    X(ACK, "ack")            \
    X(SENT, "sent")          \
    X(LOST, "lost")          \
    X(LOSS, "loss")          \
    X(MARK, "mark")          \
    X(RECOVERY_EXIT, "exit") \
    X(RTO, "rto")            \
    X(UNDO, "undo")          \
    X(RESTART, "restart")

#define WW_ENUMERATOR(ID, word) WW_CALL_##ID,
enum ww_call_kind { WW_CALL_KINDS(WW_ENUMERATOR) WW_CALL_COUNT };
#undef WW_ENUMERATOR

/* A call with the arguments of its kind. It has the same layout in every host. */
struct ww_call {
    uint32_t kind; /* enum ww_call_kind; WW_CALL_COUNT: no call */
    uint32_t in_flight;
    uint32_t mss;
    bool repeated;
    uint64_t now_us;
    struct ww_window window;
    struct ww_sample ack;
    struct ww_sent sent;
    struct ww_lost lost;
};

/* Makes a call. `window` and `state` stay for the next one. */
static inline void ww_make_call(const struct ww_config *config, struct ww_state *state,
                                struct ww_window *window, const struct ww_call *call) {
    switch ((enum ww_call_kind)call->kind) {
    case WW_CALL_BEGIN:
        ww_init(config, state);
        *window = call->window;
        break;
    case WW_CALL_HOST:
        *window = call->window;
        break;
    case WW_CALL_ACK:
        ww_on_ack(config, state, window, &call->ack);
        break;
    case WW_CALL_SENT:
        ww_on_packet_sent(config, state, window, &call->sent);
        break;
    case WW_CALL_LOST:
        ww_on_packet_lost(config, state, window, &call->lost);
        break;
    case WW_CALL_LOSS:
        ww_on_loss(config, state, window, call->now_us, call->in_flight, call->mss);
        break;
    case WW_CALL_MARK:
        ww_on_mark(config, state, window, call->now_us, call->in_flight, call->mss);
        break;
    case WW_CALL_RECOVERY_EXIT:
        ww_on_recovery_exit(config, state, window, call->now_us, call->mss);
        break;
    case WW_CALL_RTO:
        ww_on_rto(config, state, window, call->now_us, call->in_flight, call->mss, call->repeated);
        break;
    case WW_CALL_UNDO:
        ww_on_undo(config, state, window);
        break;
    case WW_CALL_RESTART:
        ww_on_restart(config, state, call->now_us);
        break;
    case WW_CALL_COUNT:
        break;
    }
}

#ifndef __bpf__ /* a program of Linux gets its calls as structures */

/* Returns the next number of a line, 0 after the last. */
static inline uint64_t ww_next_number(const char **text) {
    uint64_t number = 0;
    while (**text == ' ') (*text)++;
    for (; **text >= '0' && **text <= '9'; (*text)++)
        number = number * 10 + (uint64_t)(**text - '0');
    return number;
}

/* Returns whether the text begins with the word; then moves it behind. */
static inline bool ww_skips_word(const char **text, const char *word) {
    const char *rest = *text;
    for (; *word != '\0' && *rest == *word; rest++) word++;
    if (*word != '\0' || (*rest >= 'a' && *rest <= 'z')) return false;
    *text = rest;
    return true;
}

/* Reads a line of a recording up to its `|`, if it has one. */
static inline struct ww_call ww_read_call(const char *text) {
    struct ww_call call;
    __builtin_memset(&call, 0, sizeof call);
    call.kind = WW_CALL_COUNT;
#define WW_READ_KIND(ID, word) \
    if (call.kind == WW_CALL_COUNT && ww_skips_word(&text, word)) call.kind = WW_CALL_##ID;
    WW_CALL_KINDS(WW_READ_KIND)
#undef WW_READ_KIND
#define WW_READ_FIELD(name, ...) to->name = (__typeof__(to->name))ww_next_number(&text);
    if (call.kind == WW_CALL_BEGIN || call.kind == WW_CALL_HOST) {
        struct ww_window *const to = &call.window;
        WW_WINDOW_RANGES(WW_READ_FIELD)
    } else if (call.kind == WW_CALL_ACK) {
        struct ww_sample *const to = &call.ack;
        WW_SAMPLE_RANGES(WW_READ_FIELD)
    } else if (call.kind == WW_CALL_SENT) {
        struct ww_sent *const to = &call.sent;
        WW_SENT_RANGES(WW_READ_FIELD)
    } else if (call.kind == WW_CALL_LOST) {
        struct ww_lost *const to = &call.lost;
        WW_LOST_RANGES(WW_READ_FIELD)
    } else if (call.kind != WW_CALL_UNDO && call.kind != WW_CALL_COUNT) {
        call.now_us = ww_next_number(&text);
        if (call.kind != WW_CALL_RECOVERY_EXIT && call.kind != WW_CALL_RESTART)
            call.in_flight = (uint32_t)ww_next_number(&text);
        call.mss = (uint32_t)ww_next_number(&text);
        call.repeated = ww_next_number(&text) != 0;
    }
#undef WW_READ_FIELD
    return call;
}

#endif
#endif
