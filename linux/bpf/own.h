/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A user's control in a BPF program, with its table and its configuration:
 *
 *   WW_OWN_FILE   the user's file, in quotes
 *
 * The functions of its table are inlined: BPF has neither calls through pointers nor functions with six arguments.
 */
#ifndef WW_OWN_H
#define WW_OWN_H

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

#endif
