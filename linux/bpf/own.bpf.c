/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user's control (docs/your-own-control.md) as a congestion control for Linux. It is compiled when it is loaded:
 *
 *   WW_OWN_FILE   the user's file, in quotes
 *   WW_OWN_NAME   the control's name in the kernel, in quotes
 *   WW_OWN_HOST   a header, in quotes, with a macro for each function of our headers, which renames it. So the control
 *                 may use any name
 *
 * The functions of its table are inlined: BPF has neither calls through pointers nor functions with six arguments.
 * The object shares the counters and the recorder's ring buffer with ww.bpf.o, so it is recorded in the same way.
 */
#define WW_TABLE(config) ww_own_table()
#include "inlined.h"

struct ww_control_ops;
static inline const struct ww_control_ops *ww_own_table(void);

#pragma clang attribute push(__attribute__((always_inline)), apply_to = function)
#include WW_OWN_FILE
#pragma clang attribute pop

static inline const struct ww_control_ops *ww_own_table(void) {
    return (const struct ww_control_ops *)(const void *)&ww_own_control;
}

_Static_assert((ww_own_traits & (WW_NEEDS_RATE | WW_FOLLOWS_PACKETS)) == 0 ||
                   (ww_own_traits & WW_OWNS_RECOVERY) != 0,
               "in the kernel, WW_NEEDS_RATE and WW_FOLLOWS_PACKETS need WW_OWNS_RECOVERY");

/* ww-kernel sets these before it loads the object, so that they are constants for the verifier. */
const volatile struct {
    uint32_t slot, parameters[WW_PARAMETERS_MAX];
} own_values __attribute__((section(".rodata.own")));

/* Returns the control's configuration, as plan/flows.cpp makes it for the simulator. */
static inline struct ww_config ww_own_config(void) {
    struct ww_config config = ww_configure((enum ww_protocol)ww_own_control.like);
    config.algorithm = WW_ALG_LOADED;
    for (uint32_t i = 0; i < WW_COUNT_OF(ww_parameters, uint32_t); i++)
        config.own[i] = own_values.parameters[i];
    return config;
}

#undef WW_CONTROL
#include WW_OWN_HOST
/* Our functions have other names now. */
#include "programs.h"

char LICENSE[] SEC("license") = "GPL";

WW_PROGRAMS(own, WW_OWN_NAME, WW_CONTROL_OWN + own_values.slot % WW_OWN_MAX, WW_PROTOCOL_COUNT,
            (ww_own_traits & WW_OWNS_RECOVERY) != 0)
