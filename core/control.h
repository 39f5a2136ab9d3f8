/* SPDX-License-Identifier: BSD-3-Clause OR GPL-2.0-only */
/*
 * What a congestion control of one's own includes: docs/your-own-control.md.
 *
 *   #define WW_STATE mine
 *   #define WW_PARAMETERS(X) X(gain, 1, 1, 100, "Segments that cwnd grows by in a round trip")
 *   #define WW_QUANTITIES(X) X(queue, "segments", "Segments queued in the path")
 *   #include "control.h"
 *
 *   struct mine {
 *       struct ww_common common;
 *       ...
 *   };
 *   ... functions ...
 *   WW_CONTROL("Mine", 0, .on_ack = on_ack, .on_loss = on_loss)
 *
 * WW_STATE is the tag of the state of a connection, which is 0 before init and has at most WW_OWN_STATE_MAX bytes.
 * It begins with struct ww_common, which growth and an undo need (reno.h).
 *
 *   X(name, default, least, most, "what it does")   a parameter: ww_parameters(config)->name
 *   X(name, "unit", "what it is")                   a quantity for traces, which .observe fills in
 *
 * WW_CONTROL(label, traits, operations) ends the file. loaded.h lists the operations and what happens without
 * them, contract.h what a host reports and the traits.
 */
#ifndef WW_CONTROL_H
#define WW_CONTROL_H

#include "catalogue.h"
#include "loaded.h"
#include "recovery.h"

#ifndef WW_STATE
#error "define WW_STATE, the tag of the control's state, before this header"
#endif
#ifndef WW_PARAMETERS
#define WW_PARAMETERS(X)
#endif
#ifndef WW_QUANTITIES
#define WW_QUANTITIES(X)
#endif

struct WW_STATE;

/* The parameters by name: members of a configuration's `own`. */
struct ww_parameters {
#define WW_MEMBER(name, fallback, least, most, what) uint32_t name;
    WW_PARAMETERS(WW_MEMBER)
#undef WW_MEMBER
    uint32_t ww_end; /* C has no empty struct */
};

/* The quantities by name. */
struct ww_quantities {
#define WW_MEMBER(name, unit, what) uint64_t name;
    WW_QUANTITIES(WW_MEMBER)
#undef WW_MEMBER
    uint64_t ww_end;
};

static inline const struct ww_parameters *ww_parameters(const struct ww_config *config) {
    return (const struct ww_parameters *)(const void *)config->own;
}

#define WW_IS_WHOLE(number) ((number) >= 0 && (number) == (uint32_t)(number))
#define WW_MEMBER(name, fallback, least, most, what)                                     \
    _Static_assert(WW_IS_WHOLE(fallback) && WW_IS_WHOLE(least) && WW_IS_WHOLE(most),     \
                   "the default and the bounds of " #name " must be whole, below 2^32"); \
    _Static_assert((least) <= (fallback) && (fallback) <= (most),                        \
                   "the default of " #name " must lie within its bounds");
WW_PARAMETERS(WW_MEMBER)
#undef WW_MEMBER

#define WW_COUNT_OF(Struct, type) (sizeof(struct Struct) / sizeof(type) - 1)
_Static_assert(WW_COUNT_OF(ww_parameters, uint32_t) <= WW_PARAMETERS_MAX,
               "a control has at most 16 parameters");
_Static_assert(WW_COUNT_OF(ww_quantities, uint64_t) <= WW_QUANTITIES_MAX,
               "a control names at most 4 quantities");

static const struct ww_parameter ww_own_parameters[] = {
#define WW_ROW(name, fallback, least, most, what) {#name, what, fallback, least, most},
    WW_PARAMETERS(WW_ROW)
#undef WW_ROW
        {0, 0, 0, 0, 0},
};
static const struct ww_quantity ww_own_quantities[] = {
#define WW_ROW(name, unit, what) {#name, unit, what},
    WW_QUANTITIES(WW_ROW)
#undef WW_ROW
        {0, 0, 0},
};

/* A struct ww_control_ops with the control's own types. */
struct ww_own_ops {
    WW_CONTROL_FACTS
    WW_CONTROL_CALLS(struct WW_STATE, struct ww_quantities)
    WW_CONTROL_HOST
};

/* The table that a host looks for. In BPF it is a constant, so that its functions are called directly. */
#ifdef __bpf__
#define WW_TABLE_LINKAGE static
#define WW_TABLE_DEFINED static
#else
#define WW_TABLE_LINKAGE __attribute__((visibility("default"))) extern
#define WW_TABLE_DEFINED
#endif
#define WW_CONTROL(its_label, its_traits, ...)                                                 \
    _Static_assert(sizeof(struct WW_STATE) <= WW_OWN_STATE_MAX,                                \
                   "the state has at most 232 bytes, 104 in Linux");                           \
    _Static_assert(_Alignof(struct WW_STATE) <= 8, "the state is aligned to at most 8 bytes"); \
    _Static_assert(__builtin_offsetof(struct WW_STATE, common) == 0,                           \
                   "the state must begin with struct ww_common common");                       \
    enum { ww_own_traits = (its_traits) };                                                     \
    WW_TABLE_LINKAGE const struct ww_own_ops ww_own_control;                                   \
    WW_TABLE_DEFINED const struct ww_own_ops ww_own_control = {                                \
        .version = WW_CONTROL_VERSION,                                                         \
        .state_bytes = sizeof(struct WW_STATE),                                                \
        .traits = (its_traits),                                                                \
        .parameter_count = WW_COUNT_OF(ww_parameters, uint32_t),                               \
        .quantity_count = WW_COUNT_OF(ww_quantities, uint64_t),                                \
        .label = its_label,                                                                    \
        .parameters = ww_own_parameters,                                                       \
        .quantities = ww_own_quantities,                                                       \
        __VA_ARGS__};

#endif
