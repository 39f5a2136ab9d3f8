/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * Controls that are loaded while a host runs, as a table of functions. A user's control is such a table: it
 * comes from one C file (control.h), which the host compiles and loads.
 *
 *   before on_loss and the first on_rto   the host's side keeps the windows, if the control has no on_undo
 *   on_mark missing                       as on_loss, with the floor of marks (reno.h)
 *   on_rto missing                        ssthresh as after a loss, cwnd = 1 (RFC 5681, 3.1)
 *   on_recovery_exit missing              as Reno
 *   on_undo missing                       the windows kept before the reduction (RFC 4015, 3.2)
 *
 * After each call the windows must be within WW_WINDOW_RANGES. The host hears of those that are not, and
 * they are brought within.
 *
 * BPF has no calls through pointers. There the host compiles the control into its programs and defines WW_TABLE as a
 * constant table, whose functions the compiler calls directly (linux/bpf/own.bpf.c). The other programs and the proofs
 * are about the controls of the catalogue, so they leave this out (WW_LOADS_CONTROLS, settings.h).
 */
#ifndef WW_LOADED_H
#define WW_LOADED_H

#include "reno.h"

#ifdef WW_LOADS_CONTROLS

#define WW_CONTROL_VERSION 1u /* of the table below, of the contract and of the settings */

/* A parameter of a loaded control, a whole number. Its value is in `own` of the configuration. */
struct ww_parameter {
    const char *name, *what;
    uint32_t fallback, least, most;
};

/* What a loaded control shows in traces. */
struct ww_quantity {
    const char *name, *unit, *what;
};

/*
 * What a loaded control does on each of the host's calls (westwood.h). Only on_ack and on_loss are needed.
 * `State` begins with struct ww_common and is 0 before init. observe fills in the quantities.
 */
#define WW_CONTROL_CALLS(State, Quantities)                                                        \
    void (*init)(const struct ww_config *config, State *state);                                    \
    void (*on_ack)(const struct ww_config *config, State *state, struct ww_window *window,         \
                   const struct ww_sample *ack);                                                   \
    void (*on_loss)(const struct ww_config *config, State *state, struct ww_window *window,        \
                    uint64_t now_us, uint32_t in_flight, uint32_t mss);                            \
    void (*on_mark)(const struct ww_config *config, State *state, struct ww_window *window,        \
                    uint64_t now_us, uint32_t in_flight, uint32_t mss);                            \
    void (*on_recovery_exit)(const struct ww_config *config, State *state,                         \
                             struct ww_window *window, uint64_t now_us, uint32_t mss);             \
    void (*on_rto)(const struct ww_config *config, State *state, struct ww_window *window,         \
                   uint64_t now_us, uint32_t in_flight, uint32_t mss, bool repeated);              \
    void (*on_undo)(const struct ww_config *config, State *state, struct ww_window *window);       \
    void (*on_restart)(const struct ww_config *config, State *state, uint64_t now_us);             \
    void (*on_packet_sent)(const struct ww_config *config, State *state, struct ww_window *window, \
                           const struct ww_sent *sent);                                            \
    void (*on_packet_lost)(const struct ww_config *config, State *state, struct ww_window *window, \
                           const struct ww_lost *lost);                                            \
    uint32_t (*ssthresh)(const struct ww_config *config, const State *state, uint64_t now_us,      \
                         uint32_t in_flight, uint32_t mss);                                        \
    uint32_t (*quantum)(const struct ww_config *config, const struct ww_window *window,            \
                        uint32_t mss);                                                             \
    struct ww_observation (*estimate)(const struct ww_config *config, const State *state,          \
                                      uint64_t now_us);                                            \
    void (*observe)(const struct ww_config *config, const State *state, uint64_t now_us,           \
                    Quantities *seen);

/*
 * What a control says of itself. `traits` are those of contract.h. `like` is the enum ww_protocol whose settings its
 * configuration has at first; 0 means the defaults.
 */
#define WW_CONTROL_FACTS                   \
    uint32_t version;                      \
    uint32_t state_bytes;                  \
    uint32_t traits;                       \
    uint32_t like;                         \
    uint32_t parameter_count;              \
    uint32_t quantity_count;               \
    const char *label; /* in figures */    \
    const struct ww_parameter *parameters; \
    const struct ww_quantity *quantities;

/*
 * What the host adds. `refuse` hears of windows out of range. new_state returns memory for the state of a connection,
 * or null if there is none left; end_state takes it back. Only the control's own bytes of it are used.
 */
#define WW_CONTROL_HOST                                                \
    void *context; /* for functions that are not compiled */           \
    void (*refuse)(const struct ww_control_ops *ops, const char *call, \
                   const struct ww_window *window);                    \
    void *(*new_state)(const struct ww_control_ops *ops);              \
    void (*end_state)(const struct ww_control_ops *ops, void *state);

/* A control as a host has it. The same address means the same control. */
struct ww_control_ops {
    WW_CONTROL_FACTS
    WW_CONTROL_CALLS(void, uint64_t)
    WW_CONTROL_HOST
};

#ifndef WW_TABLE
#define WW_TABLE(config) (config)->control
#endif

struct ww_loaded_state {
    struct ww_common common;
    uint32_t own_first; /* no padding, which an assignment need not set to 0 */
    uint64_t
        own[(WW_OWN_STATE_MAX - sizeof(struct ww_common) - sizeof(uint32_t)) / sizeof(uint64_t)];
};

/* Tells the host of windows out of range, and brings them within. */
WW_APART void ww_loaded_refuse(const struct ww_config *config, const char *call,
                               struct ww_window *window) {
    if (WW_TABLE(config)->refuse) WW_TABLE(config)->refuse(config->control, call, window);
    window->cwnd = ww_max_u32(ww_min_u32(window->cwnd, WW_CWND_MAX), 1);
    window->ssthresh = ww_min_u32(window->ssthresh, WW_SSTHRESH_INFINITE);
    window->pacing = ww_min_u64(window->pacing, WW_BW_MAX);
}

static inline void ww_loaded_check(const struct ww_config *config, const char *call,
                                   struct ww_window *window) {
    if (window->cwnd >= 1 && window->cwnd <= WW_CWND_MAX &&
        window->ssthresh <= WW_SSTHRESH_INFINITE && window->pacing <= WW_BW_MAX)
        return;
    ww_loaded_refuse(config, call, window);
}

static inline uint32_t ww_loaded_bytes(const struct ww_config *config) {
    return WW_TABLE(config)->new_state ? WW_TABLE(config)->state_bytes
                                       : (uint32_t)sizeof(struct ww_loaded_state);
}

static inline void ww_loaded_init(const struct ww_config *config, struct ww_loaded_state *state) {
    __builtin_memset(state, 0, ww_loaded_bytes(config));
    if (WW_TABLE(config)->init) WW_TABLE(config)->init(config, state);
}

static inline void ww_loaded_on_ack(const struct ww_config *config, struct ww_loaded_state *state,
                                    struct ww_window *window, const struct ww_sample *sample) {
    WW_TABLE(config)->on_ack(config, state, window, sample);
    ww_loaded_check(config, "on_ack", window);
}

static inline void ww_loaded_keep(const struct ww_config *config, struct ww_loaded_state *state,
                                  const struct ww_window *window) {
    if (!WW_TABLE(config)->on_undo) ww_remember(&state->common, window);
}

static inline void ww_loaded_on_loss(const struct ww_config *config, struct ww_loaded_state *state,
                                     struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                                     uint32_t mss) {
    ww_loaded_keep(config, state, window);
    WW_TABLE(config)->on_loss(config, state, window, now_us, in_flight, mss);
    ww_loaded_check(config, "on_loss", window);
}

/* Without an operation of its own: what on_loss would set, tried on copies. */
static inline uint32_t ww_loaded_ssthresh(const struct ww_config *config,
                                          const struct ww_loaded_state *state, uint64_t now_us,
                                          uint32_t in_flight, uint32_t mss) {
    if (WW_TABLE(config)->ssthresh)
        return WW_TABLE(config)->ssthresh(config, state, now_us, in_flight, mss);
    struct ww_loaded_state tried;
    __builtin_memcpy(&tried, state, ww_loaded_bytes(config));
    struct ww_window window = {ww_max_u32(ww_min_u32(in_flight, WW_CWND_MAX), 1),
                               WW_SSTHRESH_INFINITE, 0};
    WW_TABLE(config)->on_loss(config, &tried, &window, now_us, in_flight, mss);
    return ww_min_u32(window.ssthresh, WW_SSTHRESH_INFINITE);
}

static inline void ww_loaded_on_mark(const struct ww_config *config, struct ww_loaded_state *state,
                                     struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                                     uint32_t mss) {
    ww_loaded_keep(config, state, window);
    if (WW_TABLE(config)->on_mark) {
        WW_TABLE(config)->on_mark(config, state, window, now_us, in_flight, mss);
    } else {
        const struct ww_config marked = ww_config_for_mark(config);
        WW_TABLE(config)->on_loss(&marked, state, window, now_us, in_flight, mss);
        window->ssthresh = ww_max_u32(window->ssthresh, config->min_cwnd);
    }
    ww_loaded_check(config, "on_mark", window);
}

static inline void ww_loaded_on_recovery_exit(const struct ww_config *config,
                                              struct ww_loaded_state *state,
                                              struct ww_window *window, uint64_t now_us,
                                              uint32_t mss) {
    if (WW_TABLE(config)->on_recovery_exit)
        WW_TABLE(config)->on_recovery_exit(config, state, window, now_us, mss);
    else
        ww_reno_on_recovery_exit(&state->common);
    ww_loaded_check(config, "on_recovery_exit", window);
}

static inline void ww_loaded_on_rto(const struct ww_config *config, struct ww_loaded_state *state,
                                    struct ww_window *window, uint64_t now_us, uint32_t in_flight,
                                    uint32_t mss, bool repeated) {
    if (!repeated) ww_loaded_keep(config, state, window);
    if (WW_TABLE(config)->on_rto)
        WW_TABLE(config)->on_rto(config, state, window, now_us, in_flight, mss, repeated);
    else
        ww_reno_on_rto(&state->common, window,
                       ww_loaded_ssthresh(config, state, now_us, in_flight, mss), repeated);
    ww_loaded_check(config, "on_rto", window);
}

static inline void ww_loaded_on_undo(const struct ww_config *config, struct ww_loaded_state *state,
                                     struct ww_window *window) {
    if (WW_TABLE(config)->on_undo)
        WW_TABLE(config)->on_undo(config, state, window);
    else
        ww_reno_on_undo(&state->common, window);
    ww_loaded_check(config, "on_undo", window);
}

static inline void ww_loaded_on_restart(const struct ww_config *config,
                                        struct ww_loaded_state *state, uint64_t now_us) {
    if (WW_TABLE(config)->on_restart) WW_TABLE(config)->on_restart(config, state, now_us);
}

static inline void ww_loaded_on_packet_sent(const struct ww_config *config,
                                            struct ww_loaded_state *state, struct ww_window *window,
                                            const struct ww_sent *sent) {
    if (!WW_TABLE(config)->on_packet_sent) return;
    WW_TABLE(config)->on_packet_sent(config, state, window, sent);
    ww_loaded_check(config, "on_packet_sent", window);
}

static inline void ww_loaded_on_packet_lost(const struct ww_config *config,
                                            struct ww_loaded_state *state, struct ww_window *window,
                                            const struct ww_lost *lost) {
    if (!WW_TABLE(config)->on_packet_lost) return;
    WW_TABLE(config)->on_packet_lost(config, state, window, lost);
    ww_loaded_check(config, "on_packet_lost", window);
}

static inline uint32_t ww_loaded_quantum(const struct ww_config *config,
                                         const struct ww_window *window, uint32_t mss) {
    return WW_TABLE(config)->quantum ? WW_TABLE(config)->quantum(config, window, mss) : 1;
}

static inline struct ww_observation ww_loaded_observe(const struct ww_config *config,
                                                      const struct ww_loaded_state *state,
                                                      uint64_t now_us) {
    return WW_TABLE(config)->estimate ? WW_TABLE(config)->estimate(config, state, now_us)
                                      : ww_observe_nothing();
}

static inline void ww_loaded_show(const struct ww_config *config,
                                  const struct ww_loaded_state *state, uint64_t now_us,
                                  uint64_t *quantities) {
    if (WW_TABLE(config)->observe) WW_TABLE(config)->observe(config, state, now_us, quantities);
}

/* A loaded control's operations: westwood.h calls them, see reno.h. */
#define WW_LOADED_TRAITS \
    (WW_TABLE(config)->traits | (WW_TABLE(config)->quantity_count > 0) * (uint32_t)WW_SHOWS)
#define WW_LOADED_INIT(loaded) ww_loaded_init(config, loaded)
#define WW_LOADED_ON_ACK ww_loaded_on_ack
#define WW_LOADED_SSTHRESH ww_loaded_ssthresh
#define WW_LOADED_ON_LOSS ww_loaded_on_loss
#define WW_LOADED_ON_MARK ww_loaded_on_mark
#define WW_LOADED_ON_RECOVERY_EXIT ww_loaded_on_recovery_exit
#define WW_LOADED_ON_RTO ww_loaded_on_rto
#define WW_LOADED_ON_UNDO ww_loaded_on_undo
#define WW_LOADED_ON_PACKET_SENT ww_loaded_on_packet_sent
#define WW_LOADED_ON_PACKET_LOST ww_loaded_on_packet_lost
#define WW_LOADED_QUANTUM ww_loaded_quantum
#define WW_LOADED_ON_RESTART ww_loaded_on_restart
#define WW_LOADED_OBSERVE ww_loaded_observe
#define WW_LOADED_MODES WW_RENO_MODES
#define WW_LOADED_MODE WW_RENO_MODE
#define WW_LOADED_QUANTITIES WW_RENO_QUANTITIES /* ww_loaded_show has its own */

#endif
#endif
