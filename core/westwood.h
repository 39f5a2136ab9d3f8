/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * The core's entry points: what a host calls, and when.
 *
 *   ww_init              a connection starts
 *   ww_needs_rate        whether the control wants delivery rate samples; changes nothing
 *   ww_owns_recovery     whether it sets cwnd in fast recovery itself; changes nothing
 *   ww_ignores_marks     whether it ignores congestion marks; changes nothing
 *   ww_estimates         whether ww_observe has an estimate to show; changes nothing
 *   ww_shows             whether ww_show has a mode or a quantity to show; changes nothing
 *   ww_follows_packets   whether it wants to hear of each packet; changes nothing
 *   ww_quantum           the most segments that a host with offload sends at once; changes nothing
 *   ww_on_packet_sent    a segment is about to be sent, if the control has ww_follows_packets
 *   ww_on_packet_lost    a segment was found lost, if the control has ww_follows_packets. Call it
 *                        before ww_on_ack for the ACK that reveals the loss
 *   ww_on_ack            an ACK arrived, duplicate or not, in any phase
 *   ww_ssthresh          what a loss now would set ssthresh to; changes nothing
 *   ww_on_loss           a loss was detected by duplicate ACKs or SACK (call ww_on_ack for that ACK first)
 *   ww_on_mark           an ACK echoes a congestion mark, RFC 3168, and the host responds (once per window);
 *                        not to be called for a control with ww_ignores_marks
 *   ww_on_recovery_exit  the data outstanding at the loss is acknowledged
 *   ww_on_rto            the retransmission timer expired
 *   ww_on_undo           the last loss proved spurious
 *   ww_on_restart        the sender sends again, after its application left it with nothing in flight
 *   ww_observe           the estimate, for traces
 *   ww_show              the mode and the quantities that the control lists, for traces
 *
 * Each calls the operation that the current congestion control lists at the end of its header. A host
 * whose recovery is rate halving or PRR also includes recovery.h.
 */
#ifndef WW_WESTWOOD_H
#define WW_WESTWOOD_H

#define WW_WANTS_CONTROLS
#include "catalogue.h"
#include "slow_start.h"

/* The private state of a connection. It must be initialised by ww_init; zero is not valid. */
struct ww_state {
    union {
        struct ww_common common; /* each member below begins with it */
#define WW_MEMBER(ID, name) struct ww_##name##_state name;
        WW_ALGORITHMS(WW_MEMBER)
#undef WW_MEMBER
    };
    struct ww_start start; /* unless ww_start_is_apart, nobody touches it */
};

#if defined(__cplusplus)
#define WW_ASSERT static_assert
#else
#define WW_ASSERT _Static_assert
#endif
#define WW_MEMBER(ID, name)                                     \
    WW_ASSERT(sizeof(struct ww_##name##_state) <= WW_STATE_MAX, \
              "the state of " #name " must fit in Linux's private area");
WW_COMPACT_ALGORITHMS(WW_MEMBER)
#undef WW_MEMBER
#define WW_MEMBER(ID, name)                                              \
    WW_ASSERT(__builtin_offsetof(struct ww_##name##_state, common) == 0, \
              "the state of " #name " must begin with struct ww_common common");
WW_ALGORITHMS(WW_MEMBER)
#undef WW_MEMBER
#undef WW_ASSERT

/*
 * A switch over all controls. Each function below defines WW_CASE(ID, name), which calls one
 * operation.
 */
#define WW_DISPATCH(config)                           \
    switch ((enum ww_algorithm)(config)->algorithm) { \
        WW_ALGORITHMS(WW_CASE)                        \
    case WW_ALGORITHM_COUNT:                          \
    default:                                          \
        break;                                        \
    }

static inline void ww_init(const struct ww_config *config, struct ww_state *state) {
#define WW_CASE(ID, name)             \
    case WW_ALG_##ID:                 \
        WW_##ID##_INIT(&state->name); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
    if (ww_start_is_apart(config)) ww_start_init(&state->start);
}

static inline unsigned ww_traits(const struct ww_config *config) {
#define WW_CASE(ID, name) \
    case WW_ALG_##ID:     \
        return WW_##ID##_TRAITS;
    WW_DISPATCH(config)
#undef WW_CASE
    return 0;
}

static inline bool ww_needs_rate(const struct ww_config *config) {
    return (ww_traits(config) & WW_NEEDS_RATE) != 0 || ww_start_needs_rate(config);
}

static inline bool ww_owns_recovery(const struct ww_config *config) {
    return (ww_traits(config) & WW_OWNS_RECOVERY) != 0;
}

static inline bool ww_ignores_marks(const struct ww_config *config) {
    return (ww_traits(config) & WW_IGNORES_MARKS) != 0;
}

static inline bool ww_estimates(const struct ww_config *config) {
    return (ww_traits(config) & WW_ESTIMATES) != 0;
}

static inline bool ww_shows(const struct ww_config *config) {
    return (ww_traits(config) & WW_SHOWS) != 0;
}

static inline bool ww_follows_packets(const struct ww_config *config) {
    return (ww_traits(config) & WW_FOLLOWS_PACKETS) != 0;
}

static inline uint32_t ww_quantum(const struct ww_config *config, const struct ww_window *window,
                                  uint32_t mss) {
#define WW_CASE(ID, name) \
    case WW_ALG_##ID:     \
        return WW_##ID##_QUANTUM(config, window, mss);
    WW_DISPATCH(config)
#undef WW_CASE
    return 1;
}

static inline void ww_on_packet_sent(const struct ww_config *config, struct ww_state *state,
                                     struct ww_window *window, const struct ww_sent *sent) {
#define WW_CASE(ID, name)                                             \
    case WW_ALG_##ID:                                                 \
        WW_##ID##_ON_PACKET_SENT(config, &state->name, window, sent); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline void ww_on_packet_lost(const struct ww_config *config, struct ww_state *state,
                                     struct ww_window *window, const struct ww_lost *lost) {
#define WW_CASE(ID, name)                                             \
    case WW_ALG_##ID:                                                 \
        WW_##ID##_ON_PACKET_LOST(config, &state->name, window, lost); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline void ww_control_on_ack(const struct ww_config *config, struct ww_state *state,
                                     struct ww_window *window, const struct ww_sample *sample) {
#define WW_CASE(ID, name)                                       \
    case WW_ALG_##ID:                                           \
        WW_##ID##_ON_ACK(config, &state->name, window, sample); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline void ww_on_ack(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, const struct ww_sample *sample) {
    const bool apart = ww_start_is_apart(config);
    if (apart) ww_start_on_ack(config, &state->start, window, sample);
    const struct ww_window before = *window;
    ww_control_on_ack(config, state, window, sample);
    if (apart) ww_start_after_ack(config, &state->start, &before, window, sample);
}

/* `in_flight` is FlightSize as the host defines it (RFC 5681: sent and not cumulatively acknowledged). */
static inline uint32_t ww_ssthresh(const struct ww_config *config, const struct ww_state *state,
                                   uint64_t now_us, uint32_t in_flight, uint32_t mss) {
#define WW_CASE(ID, name) \
    case WW_ALG_##ID:     \
        return WW_##ID##_SSTHRESH(config, &state->name, now_us, in_flight, mss);
    WW_DISPATCH(config)
#undef WW_CASE
    return config->min_cwnd;
}

static inline void ww_on_loss(const struct ww_config *config, struct ww_state *state,
                              struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                              uint32_t mss) {
    const bool apart = ww_start_is_apart(config);
    if (apart) ww_start_before_reduction(config, &state->start, window, in_flight, false);
#define WW_CASE(ID, name)                                                        \
    case WW_ALG_##ID:                                                            \
        WW_##ID##_ON_LOSS(config, &state->name, window, now_us, in_flight, mss); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
    if (apart) ww_start_after_reduction(config, &state->start, window, in_flight);
}

static inline void ww_on_mark(const struct ww_config *config, struct ww_state *state,
                              struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                              uint32_t mss) {
    const bool apart = ww_start_is_apart(config);
    if (apart) ww_start_before_reduction(config, &state->start, window, in_flight, true);
#define WW_CASE(ID, name)                                                        \
    case WW_ALG_##ID:                                                            \
        WW_##ID##_ON_MARK(config, &state->name, window, now_us, in_flight, mss); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
    if (apart) ww_start_after_reduction(config, &state->start, window, in_flight);
}

static inline void ww_on_recovery_exit(const struct ww_config *config, struct ww_state *state,
                                       struct ww_window *window, uint64_t now_us, uint32_t mss) {
    if (config->slow_start == WW_RAPID_START && ww_start_is_apart(config)) {
        const uint32_t full = ww_rapid_on_recovery_exit(config, &state->start.rapid, window);
        if (config->algorithm == WW_ALG_CUBIC && full != 0)
            ww_cubic_take_bdp(config, &state->cubic, full);
    }
#define WW_CASE(ID, name)                                                      \
    case WW_ALG_##ID:                                                          \
        WW_##ID##_ON_RECOVERY_EXIT(config, &state->name, window, now_us, mss); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
    if (ww_start_is_apart(config) && ww_resumes(config))
        ww_resume_end_retreat(config, &state->start.resume, window);
}

/* `repeated`: the same segment timed out before; then ssthresh is kept (RFC 5681, 3.1). */
static inline void ww_on_rto(const struct ww_config *config, struct ww_state *state,
                             struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                             uint32_t mss, bool repeated) {
    if (ww_start_is_apart(config)) ww_start_on_rto(config, &state->start, repeated);
#define WW_CASE(ID, name)                                                                 \
    case WW_ALG_##ID:                                                                     \
        WW_##ID##_ON_RTO(config, &state->name, window, now_us, in_flight, mss, repeated); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline void ww_on_undo(const struct ww_config *config, struct ww_state *state,
                              struct ww_window *window) {
    if (ww_start_is_apart(config)) ww_start_on_undo(config, &state->start);
#define WW_CASE(ID, name)                                \
    case WW_ALG_##ID:                                    \
        WW_##ID##_ON_UNDO(config, &state->name, window); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline void ww_on_restart(const struct ww_config *config, struct ww_state *state,
                                 uint64_t now_us) {
#define WW_CASE(ID, name)                                   \
    case WW_ALG_##ID:                                       \
        WW_##ID##_ON_RESTART(config, &state->name, now_us); \
        break;
    WW_DISPATCH(config)
#undef WW_CASE
}

static inline struct ww_observation ww_observe(const struct ww_config *config,
                                               const struct ww_state *state, uint64_t now_us) {
#define WW_CASE(ID, name) \
    case WW_ALG_##ID:     \
        return WW_##ID##_OBSERVE(config, &state->name, now_us);
    WW_DISPATCH(config)
#undef WW_CASE
    return ww_observe_nothing();
}

static inline struct ww_shown ww_show(const struct ww_config *config, const struct ww_state *state,
                                      uint64_t now_us) {
    struct ww_shown shown = {0, {0, 0, 0, 0}};
    uint64_t *next = shown.quantities;
#define WW_PUT(name, unit, value) *next++ = (value);
#define WW_CASE(ID, name)                                             \
    case WW_ALG_##ID: {                                               \
        const struct ww_##name##_state *const control = &state->name; \
        (void)control;                                                \
        shown.mode = WW_##ID##_MODE(control);                         \
        WW_##ID##_QUANTITIES(WW_PUT);                                 \
        break;                                                        \
    }
    WW_DISPATCH(config)
#undef WW_CASE
#undef WW_PUT
    (void)next;
#ifdef WW_LOADS_CONTROLS
    if (config->algorithm == WW_ALG_LOADED)
        ww_loaded_show(config, &state->loaded, now_us, shown.quantities);
#else
    (void)now_us;
#endif
    return shown;
}

#endif
